// The figure: what has happened up to a step, at the places that `layOut` found.

const SVG = "http://www.w3.org/2000/svg";

function svg(parent, name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

class Figure {
  /** In an `svg`, with the axis below it in another. `prefix` keeps ids of several figures apart. */
  constructor(root, foot, pick, prefix = "") {
    this.prefix = prefix;
    this.root = root;
    this.foot = foot;
    this.pick = pick;
  }

  /** Draw a stream up to a step. With a `frame`, the plan of another figure, on its scales. */
  show(scenario, stream, at, small, description, frame) {
    const box = this.root.parentNode;
    const width = Math.max(280, Math.floor(box.clientWidth));
    const now = [scenario, stream, width, small, Number.parseFloat(getComputedStyle(box).maxHeight) || 600, frame];
    if (!this.made || now.some((part, n) => part !== this.made[n])) {
      this.made = now;
      this.plan = hasClock(scenario) ? layOutByClock(...now) : layOut(...now);
    }
    this.stream = stream;
    this.at = at;
    this.step = this.plan.rows[at].step.step;
    this.draw(description);
  }

  draw(description) {
    const { root, plan } = this;
    root.replaceChildren();
    root.setAttribute("viewBox", `0 0 ${plan.width} ${plan.height}`);
    root.setAttribute("width", plan.width);
    root.setAttribute("height", plan.height);
    svg(root, "title", { id: this.prefix + "figure-title" }, description[0]);
    svg(root, "desc", { id: this.prefix + "figure-description" }, description[1]);
    this.patterns();
    const row = plan.rows[this.at];
    svg(root, "rect", { class: "current", x: 0, y: row.y1, width: plan.width, height: row.height });
    this.grid();
    this.lives();
    if (plan.clocked) this.ideal();
    else this.bands();
    if (!plan.clocked) this.watermark();
    this.items();
    if (plan.clocked) this.watermark();
    if (plan.skew && plan.skew.step <= this.step) this.skew();
    if (!plan.clocked) this.clickable();
    const nowLine = { class: "now", x1: GUTTER - 6, x2: plan.width - 2, y1: row.y1, y2: row.y1 };
    svg(root, "line", nowLine);
  }

  patterns() {
    const defs = svg(this.root, "defs", {});
    for (const tone of ["early", "ontime", "late", "unknown"]) panePattern(defs, `${this.prefix}${tone}-band`, tone);
  }

  grid() {
    const { root, foot, plan } = this, { axis } = plan;
    foot.replaceChildren();
    foot.setAttribute("viewBox", `0 0 ${plan.width} ${AXIS}`);
    foot.setAttribute("width", plan.width);
    foot.setAttribute("height", AXIS);
    for (const tick of axis.ticks()) {
      svg(root, "line", { class: "grid", x1: tick.x, x2: tick.x, y1: TOP, y2: plan.floor });
      svg(foot, "text", { class: "tick", x: tick.x, y: 13, "text-anchor": "middle" }, tick.text);
      if (tick.second) {
        svg(foot, "text", { class: "tick", x: tick.x, y: 27, "text-anchor": "middle" }, tick.second);
      }
    }
    for (const [from, to, x, width] of axis.folds()) {
      const middle = x + width / 2;
      svg(root, "line", { class: "fold", x1: middle, x2: middle, y1: TOP, y2: plan.floor });
      const text = lengthInWords(to - from) + " left out";
      svg(foot, "text", { class: "tick label", x: middle, y: 41, "text-anchor": "middle" }, text);
    }
    const line = { class: "frame", x1: GUTTER, x2: plan.width - RIGHT };
    svg(foot, "line", { ...line, y1: 0.5, y2: 0.5 });
    const right = { class: "axis", x: plan.width - RIGHT, y: 41, "text-anchor": "end" };
    svg(foot, "text", right, "event time →");
    svg(root, "text", { class: "axis", x: 4, y: 14 }, plan.clocked ? "↑ processing time" : "↑ order of arrival");
    if (plan.clocked) {
      this.clockTicks();
      return;
    }
    const taken = [];
    const apart = plan.small ? 28 : 14;
    const label = (row) => {
      const middle = (row.y0 + row.y1) / 2;
      if (taken.some((other) => Math.abs(other - middle) < apart)) return;
      taken.push(middle);
      const classes = "tick rowtext" + (row.step.step === this.step ? " is-now" : "");
      svg(root, "text", { class: classes, x: GUTTER - 10, y: middle + 4 }, "step " + row.step.step);
    };
    // The present is labelled in any case, then what has room.
    [plan.rows[this.at], ...plan.rows].forEach(label);
    for (const row of plan.rows) {
      if (!plan.small && row.height > 10) {
        svg(root, "line", { class: "grid", x1: GUTTER, x2: plan.width - RIGHT, y1: row.y0, y2: row.y0 });
      }
    }
  }

  /** Processing time beside the figure, as a clock. */
  clockTicks() {
    const { root, plan } = this;
    for (const tick of plan.clock.ticks(26)) {
      if (tick.x < TOP + 6) continue; // there stands what the axis is
      svg(root, "line", { class: "grid", x1: GUTTER, x2: plan.width - RIGHT, y1: tick.x, y2: tick.x });
      svg(root, "text", { class: "tick rowtext", x: GUTTER - 10, y: tick.x + 4 }, tick.second ? tick.second : tick.text);
    }
    for (const [from, to, y, height] of plan.clock.folds()) {
      const middle = y + height / 2;
      svg(root, "line", { class: "fold", x1: GUTTER, x2: plan.width - RIGHT, y1: middle, y2: middle });
      const text = { class: "tick label", x: GUTTER + 4, y: middle - 4 };
      svg(root, "text", text, lengthInWords(to - from) + " left out");
    }
  }

  /** Where the watermark would be if everything arrived at the instant at which it happens. */
  ideal() {
    const { axis, clock } = this.plan;
    const from = Math.max(axis.start, clock.start), to = Math.min(axis.end, clock.end);
    if (from >= to) return;
    const ends = [...axis.pieces, ...clock.pieces].flatMap(([start, end]) => [start, end]);
    const bends = ends.filter((at) => from < at && at < to).sort((a, b) => a - b);
    const points = [from, ...bends, to].map((at) => `${axis.x(at)} ${clock.x(at)}`);
    svg(this.root, "path", { class: "ideal", d: "M" + points.join("L") });
  }

  /** How far, in processing time, the watermark is from the ideal line. */
  skew() {
    const { x, top, bottom, text, textX, textY } = this.plan.skew;
    svg(this.root, "path", { class: "skew", d: `M${x - 3} ${top}H${x + 3}M${x} ${top}V${bottom}M${x - 3} ${bottom}H${x + 3}` });
    svg(this.root, "text", { class: "label skewtext", x: textX, y: textY }, text);
  }

  /** The height at which something ends that lasts until `step`, or the present. */
  reach(step) {
    const row = step === null || step > this.step ? null : this.plan.of.get(step);
    return row ? row.event : this.plan.rows[this.at].y1;
  }

  lives() {
    // Very many windows over each other would be a black wall.
    const faint = Math.min(1, 4 / this.plan.depth);
    for (const life of this.stream.lives) {
      if (life.start > this.step) continue;
      const [left, right] = this.plan.axis.ends(life.window);
      const low = this.birth(life), high = Math.min(this.death(life), low);
      const ended = life.end !== null && life.end <= this.step;
      const column = { class: "life", x: left, y: high, width: right - left, height: low - high };
      svg(this.root, "rect", { ...column, opacity: faint });
      const closed = life.closed !== null && life.closed <= this.step;
      const turn = closed ? this.reach(life.closed) : high;
      for (const x of [left, right]) {
        const edge = { x1: x, x2: x, "stroke-opacity": faint };
        svg(this.root, "line", { class: "edge", ...edge, y1: low, y2: turn });
        if (closed) svg(this.root, "line", { class: "edge closed", ...edge, y1: turn, y2: high });
      }
      if (ended && life.fate === "expired") {
        svg(this.root, "line", { class: "cap", x1: left, x2: right, y1: high, y2: high });
      }
    }
  }

  /** A window that merges ends where the merge is drawn. */
  death(life) {
    if (life.fate !== "merged" || life.end > this.step) return this.reach(life.end);
    const merge = this.plan.of.get(life.end).items.find(
      (item) => item.kind === "merge" && item.thing.sources.some((source) => sameWindow(source, life.window)),
    );
    return merge ? merge.y : this.reach(life.end);
  }

  /** A window begins with the element that opens it, or with the merge that makes it. */
  birth(life) {
    const row = this.plan.of.get(life.start);
    const merge = row.items.find((item) => item.kind === "merge" && sameWindow(item.thing.into, life.window));
    return merge ? merge.y : row.event;
  }

  /** What a pane holds: all since its window began, or what came since the pane before it. */
  bands() {
    for (const row of this.plan.rows) {
      if (row.step.step > this.step) break;
      for (const item of row.items) {
        if (item.kind !== "pane" || item.thing.retraction) continue;
        const low = this.plan.of.get(item.thing.since).event;
        svg(this.root, "rect", {
          class: "band", "fill-opacity": Math.min(1, 4 / this.plan.depth), fill: this.band(item.thing), x: item.left, y: Math.min(item.y, low),
          width: item.right - item.left, height: Math.max(0, low - item.y),
        });
      }
    }
  }

  watermark() {
    const { axis, rows, floor } = this.plan;
    let x = axis.left, path = `M${x} ${floor}`;
    for (const row of rows.slice(0, this.at + 1)) {
      if (row.step.kind === "watermark") {
        path += `V${row.event}`;
        x = axis.x(row.step.watermark);
        path += `H${x}`;
      }
    }
    const top = rows[this.at].y1;
    svg(this.root, "path", { class: "water", d: path + `V${top}` });
    const text = "watermark " + rows[this.at].step.watermarkText;
    const width = widthOf(text) * 1.14;
    const left = Math.min(Math.max(x - width / 2, GUTTER - 4), this.plan.width - width - 4);
    svg(this.root, "text", { class: "water", x: left, y: top - 7 }, text);
  }

  items() {
    const rows = this.plan.rows.slice(0, this.at + 1);
    // To scale, panes are areas, and what lies in them is drawn over them.
    const kinds = this.plan.clocked ? [["pane"], ["merge"], ["loss", "element"]] : [null];
    for (const some of kinds) {
      for (const row of rows) {
        for (const item of row.items) {
          if (some && !some.includes(item.kind)) continue;
          const group = svg(this.root, "g", { "data-kind": item.kind, "data-step": row.step.step });
          this[item.kind](group, item);
        }
      }
    }
  }

  label(group, item, classes) {
    if (this.plan.small || item.text === undefined) return;
    const y = item.textY ?? item.y + 4;
    svg(group, "text", { class: "label " + classes, x: item.textX, y }, item.text);
    if (classes === "struck") {
      const line = { class: "strike", x1: item.textX - 2, x2: item.textX + widthOf(item.text) + 2 };
      svg(group, "line", { ...line, y1: y - 4, y2: y - 4 });
    }
  }

  element(group, item) {
    const { thing, x, y } = item, r = this.plan.small ? Math.min(4, 1.8 + this.plan.lane / 2) : item.coin ? COIN : 5.5;
    svg(group, "title", {}, `${thing.value} of ${thing.when}${thing.lost ? (thing.lost === "all" ? ", dropped: " : ", ") + thing.why : ""}`);
    if (thing.lost !== "all") svg(group, "circle", { class: "dot" + (thing.late ? " late" : "") + (this.plan.small ? " small" : ""), cx: x, cy: y, r });
    if (thing.lost === "all") this.cross(group, x, y, r);
    if (item.running?.text) {
      svg(group, "text", { class: "label running", x: item.running.textX, y: item.running.textY }, item.running.text);
    }
    if (item.coin) {
      const inside = "coin" + (thing.late ? " late" : "");
      svg(group, "text", { class: inside, x, y: y + 4, "text-anchor": "middle" }, thing.label);
      return;
    }
    this.label(group, item, thing.lost === "all" ? "lost" : "");
  }

  loss(group, item) {
    this.cross(group, item.x, item.y, this.plan.small ? 3 : 5.5);
    this.label(group, item, "lost");
  }

  cross(group, x, y, r) {
    const d = `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`;
    svg(group, "path", { class: "crosshalo", d });
    svg(group, "path", { class: "cross", d });
  }

  merge(group, item) {
    const { axis, small } = this.plan, drop = small ? 3 : 7;
    const [left, right] = axis.ends(item.thing.into);
    let d = `M${left} ${item.y}H${right}`;
    for (const source of item.thing.sources) {
      const [from, to] = axis.ends(source);
      d += `M${from} ${item.y + drop}V${item.y}M${to} ${item.y + drop}V${item.y}`;
    }
    svg(group, "path", { class: "merge", d });
    this.label(group, item, "");
  }

  pane(group, item) {
    const { thing, left, right, y } = item, { small, lane } = this.plan;
    const withdrawn = thing.withdrawn !== null && thing.withdrawn <= this.step;
    const classes = ["box", toneOf(thing.timing)];
    if (thing.retraction) classes.push("retraction");
    if (withdrawn) classes.push("withdrawn");
    svg(group, "title", {}, `${thing.name} ${paneName(thing)}: ${thing.value}`);
    if (this.plan.clocked) {
      this.area(group, item, classes, withdrawn);
      return;
    }
    const high = small ? Math.max(2, lane) : 17;
    const place = { x: left + 1, y: y - high / 2, width: Math.max(2, right - left - 2), height: high, rx: small ? 1 : 3 };
    svg(group, "rect", { class: "ground", ...place });
    if (!thing.retraction) svg(group, "rect", { class: "band", fill: this.band(thing), "fill-opacity": withdrawn ? 0.4 : 1, ...place });
    svg(group, "rect", { class: classes.join(" "), ...place });
    this.label(group, item, thing.retraction || withdrawn ? "struck" : "");
  }

  band(pane) {
    return `url(#${this.prefix}${toneOf(pane.timing)}-band)`;
  }

  /** A pane to scale: from where its content begins up to where it fires. */
  area(group, item, classes, withdrawn) {
    const { thing, left, right, y, base } = item;
    const struck = thing.retraction || withdrawn;
    const place = { x: left + 1, y, width: Math.max(2, right - left - 2), height: Math.max(2, base - y) };
    if (thing.retraction) {
      svg(group, "line", { class: "box retraction", x1: left + 1, x2: right - 1, y1: y, y2: y });
    } else {
      const seen = Math.min(1, 4 / this.plan.depth) * (withdrawn ? 0.4 : 1);
      svg(group, "rect", { class: "band", fill: this.band(thing), "fill-opacity": seen, ...place });
      svg(group, "rect", { class: "area " + classes.join(" "), ...place });
    }
    this.label(group, item, struck ? "struck" : "");
  }

  /** A click on a row goes to its step. Nothing else in the figure can be touched. */
  clickable() {
    this.plan.rows.forEach((row, at) => {
      const area = { class: "row", x: 0, y: row.y1, width: GUTTER - 4, height: row.height };
      svg(this.root, "rect", area).addEventListener("click", () => this.pick(at));
    });
  }
}
