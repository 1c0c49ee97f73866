// What can be dragged: a button over each element and over each move of the watermark. Mouse, finger
// and arrow keys move it in event time and in processing time.

const NICE = [1, 10, 100, SECOND, 5 * SECOND, 10 * SECOND, MINUTE, 5 * MINUTE, 10 * MINUTE, HOUR, DAY];

/** As fine as one px of a scale can say, rounded. */
function fineness(scale) {
  const perPixel = (scale.end - scale.start) / Math.abs(scale.right - scale.left);
  return NICE.find((each) => each >= perPixel) ?? DAY;
}

class Handles {
  constructor(layer, hooks) {
    Object.assign(this, { layer, hooks, buttons: new Map(), held: null });
  }

  /** Put a button over all that is drawn of a key. */
  place(plan, stream, elements, moves) {
    this.plan = plan;
    const there = new Map();
    const items = new Map(plan.rows.flatMap((row) => row.items).map((item) => [item.thing, item]));
    stream.elements.forEach((element, n) => {
      const mine = elements[n], item = items.get(element);
      if (!mine || !item) return;
      const text = `element ${element.value} of ${timeText(mine.at)}` + (plan.clocked ? `, arrives at ${timeText(plan.of.get(element.step).step.clock)}` : "");
      there.set(mine.id, { x: item.x, y: item.y, text, kind: "element" });
    });
    for (const { id, to, step } of moves) {
      const row = plan.of.get(step), x = to === null ? plan.axis.right : plan.axis.x(to);
      const text = `watermark ${timeText(to)}` + (plan.clocked ? ` from ${timeText(row.step.clock)} on` : "");
      there.set(id, { x, y: row.event, text, kind: "watermark" });
    }
    for (const [id, button] of this.buttons) {
      if (there.has(id) || id === this.held?.id) continue;
      button.remove();
      this.buttons.delete(id);
    }
    for (const [id, place] of there) this.put(id, place);
  }

  put(id, { x, y, text, kind }) {
    let button = this.buttons.get(id);
    if (!button) {
      button = html(this.layer, "button", { type: "button", class: `handle ${kind}`, "data-handle": id });
      this.listen(button, id);
      this.buttons.set(id, button);
    }
    button.style.left = `${x}px`;
    button.style.top = `${y}px`;
    button.setAttribute("aria-label", text);
    button.title = text + ". Drag it, or use the arrow keys; Delete removes it.";
    button.classList.toggle("selected", id === this.hooks.selected());
  }

  listen(button, id) {
    button.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      button.setPointerCapture(event.pointerId);
      button.focus();
      const box = this.layer.getBoundingClientRect();
      this.held = { id, box, dx: event.clientX - box.left - parseFloat(button.style.left), dy: event.clientY - box.top - parseFloat(button.style.top), moved: false };
      this.hooks.select(id);
      event.preventDefault();
    });
    button.addEventListener("pointermove", (event) => {
      if (this.held?.id !== id) return;
      if (!this.held.moved) this.hooks.begin();
      this.held.moved = true;
      const { box, dx, dy } = this.held;
      this.dragTo(id, event.clientX - box.left - dx, event.clientY - box.top - dy);
    });
    const release = () => {
      if (this.held?.id !== id) return;
      const { moved } = this.held;
      this.held = null;
      if (moved) this.hooks.end();
    };
    button.addEventListener("pointerup", release);
    button.addEventListener("pointercancel", release);
    button.addEventListener("lostpointercapture", release);
    button.addEventListener("focus", () => this.hooks.select(id));
    button.addEventListener("keydown", (event) => this.key(event, id));
  }

  dragTo(id, x, y) {
    const { axis, clock } = this.plan;
    const round = (scale, place) => {
      const fine = fineness(scale);
      return Math.round(scale.at(place) / fine) * fine;
    };
    const at = round(axis, Math.min(Math.max(x, axis.left), axis.right));
    this.hooks.move(id, at, clock ? round(clock, Math.min(Math.max(y, clock.right), clock.left)) : null);
  }

  key(event, id) {
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key], up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Delete" || event.key === "Backspace") this.hooks.remove(id);
    else if (across || up) {
      // With Shift as fine as it can be drawn, else in steps that get somewhere.
      const step = (scale) => (event.shiftKey ? 1 : 5) * fineness(scale);
      const { axis, clock } = this.plan;
      this.hooks.nudge(id, across ? across * step(axis) : 0, up ? up * (clock ? step(clock) : 0) : 0, up ?? 0);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  focus(id) {
    this.buttons.get(id)?.focus({ preventScroll: true });
  }
}
