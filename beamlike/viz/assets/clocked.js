// The places of everything where processing time moves: event time across, processing time upwards,
// both to scale. What happens at one instant lies at one height.

const COIN = 10; // px, radius of an element whose value stands in it
const PER_INSTANT = 34, LEAST_HEIGHT = 340, MOST_HEIGHT = 1500;

/** Texts that keep clear of marks and of each other. */
class Room {
  constructor(left, right, top, floor) {
    Object.assign(this, { left, right, top, floor, taken: [] });
  }

  take(x, y, width, height) {
    this.taken.push([x, y, x + width, y + height]);
  }

  isFree(x, y, width, height) {
    if (y < this.top || y + height > this.floor) return false;
    return this.taken.every(([x0, y0, x1, y1]) => x + width <= x0 || x1 <= x || y + height <= y0 || y1 <= y);
  }

  /** The first of some places `[x, base line]` where a text is free, between two ends. */
  place(item, text, places, from, to) {
    const width = widthOf(text);
    for (const [x, y] of places) {
      if (x < from || x + width > to || !this.isFree(x, y - 11, width, 14)) continue;
      this.take(x, y - 11, width, 14);
      Object.assign(item, { text, textX: x, textY: y });
      return true;
    }
    return false;
  }
}

/** The ends of the one window that an instant lies in; those of the axis if there are several. */
function ownEnds(stream, instant, axis) {
  const windows = new Map();
  for (const { window } of stream.lives) {
    if (window && window[0] <= instant && instant < window[1]) windows.set(window.join(), window);
  }
  return windows.size === 1 ? axis.ends([...windows.values()][0]) : [axis.left, axis.right];
}

function layOutByClock(scenario, stream, width, small, room, frame) {
  const instants = new Set(scenario.steps.map((step) => step.clock)).size;
  const wanted = small ? room : Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, instants * PER_INSTANT));
  const height = frame?.height ?? Math.round(wanted);
  const floor = height - FOOT;
  const axis = frame?.axis ?? Scale.ofEvents(stream, scenario.steps, GUTTER, width - RIGHT);
  const clock = frame?.clock ?? Scale.ofClock(scenario.steps, floor, TOP);
  const rows = scenario.steps.map((step) => {
    const y = clock.x(step.clock);
    return { step, items: [], y0: y, y1: y, event: y, height: 0 };
  });
  const of = new Map(rows.map((row) => [row.step.step, row]));
  const heightOf = (step) => of.get(step).event;
  const free = new Room(axis.left, axis.right, TOP + 6, floor);
  const add = (kind, thing, more) => {
    const item = { kind, thing, y: heightOf(thing.step), ...more };
    of.get(thing.step).items.push(item);
    return item;
  };
  const elements = stream.elements.map((element) => {
    const coin = !small && element.lost !== "all" && widthOf(element.label) <= 2 * COIN - 6;
    const item = add("element", element, { x: axis.x(element.at), coin });
    const r = coin ? COIN : 6.5;
    free.take(item.x - r, item.y - r, 2 * r, 2 * r);
    return item;
  });
  // A name on the watermark would look struck out.
  let reached = axis.left;
  for (const { step, event } of rows.filter((row) => row.step.kind === "watermark")) {
    const x = axis.x(step.watermark);
    free.take(reached, event - 1, x - reached, 2);
    reached = x;
  }
  for (const pane of stream.panes) {
    const [left, right] = axis.ends(pane.window);
    const item = add("pane", pane, { left, right });
    item.base = pane.retraction ? item.y : heightOf(pane.since);
    namePane(free, item, pane);
  }
  for (const item of elements.filter((each) => !each.coin)) {
    const { thing } = item;
    const own = ownEnds(stream, thing.at, axis), all = [axis.left, axis.right];
    const name = thing.label + (thing.lost ? ", " + thing.why : "");
    // What a dropped element missed is long: it may leave its window, where there is no room in it.
    const [left, right] = thing.lost ? all : own;
    const short = cut(name, Math.max(item.x - left, right - item.x) - 10);
    for (const [text, ends] of [[name, own], [name, [left, right]], [short, [left, right]]]) {
      const wide = widthOf(text);
      const places = [0, -14, 14].flatMap((up) => [[item.x + 8, item.y + 4 + up], [item.x - 8 - wide, item.y + 4 + up]]);
      if (free.place(item, text, [...places, [item.x - wide / 2, item.y - 9]], ...ends)) break;
    }
  }
  for (const loss of stream.losses) {
    const [left, right] = axis.ends(loss.window);
    const item = add("loss", loss, { x: (left + right) / 2 });
    free.place(item, cut(loss.text, axis.right - item.x - 8), [[item.x + 8, item.y + 4]], axis.left, axis.right);
  }
  for (const merge of stream.merges) {
    const [left, right] = axis.ends(merge.into), text = mergeInWords(stream, merge);
    const item = add("merge", merge, {});
    free.place(item, text, [[left + 4, item.y - 4], [left + 4, item.y + 13]], left, right);
  }
  const skew = small ? null : skewOf(free, axis, clock, rows);
  if (!small) elements.forEach((item) => runningValue(free, item, axis));
  return {
    axis, clock, rows, of, skew, clocked: true, width, height, floor, small, lane: 4,
    depth: depthOf(stream.lives),
  };
}

/** The text of a pane, under its upper edge if there is room, inside its own window. */
function namePane(free, item, pane) {
  const { left, right, y } = item;
  const heights = [13, -4, 27, -18, 41, 55].map((down) => y + down);
  const texts = [`${pane.retraction ? "withdrawn: " : ""}${paneName(pane)}: ${pane.value}`, pane.value];
  for (const text of texts) {
    const shown = cut(text, right - left - 8);
    if (shown !== text && text === texts[0]) continue;
    if (shown.length < 2 && shown !== text) continue;
    const last = right - 4 - widthOf(shown);
    const places = heights.flatMap((height) => [left + 4, (left + 4 + last) / 2, last].map((x) => [x, height]));
    if (free.place(item, shown, places, left, right)) return;
  }
}

/** What the window of an element would bring out, beside the element and inside that window. */
function runningValue(free, item, axis) {
  const { thing, x, y } = item;
  if (!thing.running) return;
  const text = "= " + thing.running[0], wide = widthOf(text), r = item.coin ? COIN : 6.5;
  const [left, right] = axis.ends(thing.running[1]);
  const after = item.textX > x ? item.textX + widthOf(item.text) : x + r;
  // Rather not at the height of the element, where panes begin and windows merge.
  const places = [-7, 10, 0].flatMap((up) => [[after + 3, y + 4 + up], [x - r - 3 - wide, y + 4 + up]]);
  item.running = {};
  free.place(item.running, text, [...places, [x - wide / 2, y - r - 3], [x - wide / 2, y + r + 12]], left + 2, right - 2);
}

/** The watermark's skew where it is seen best: at the move that is furthest from the ideal line. */
function skewOf(free, axis, clock, rows) {
  let found = null;
  for (const { step, event } of rows) {
    const { watermark } = step;
    if (step.kind !== "watermark" || watermark < Math.max(axis.start, clock.start) || watermark > axis.end) continue;
    const place = { step: step.step, x: axis.x(watermark), top: event, bottom: clock.x(watermark), by: step.clock - watermark };
    if (place.bottom - place.top > Math.max(24, found ? found.bottom - found.top : 0)) found = place;
  }
  if (!found) return null;
  const text = "skew " + lengthInWords(found.by), wide = widthOf(text), { x, top, bottom } = found;
  const heights = [0.5, 0.3, 0.7, 0.15, 0.85].map((part) => top + (bottom - top) * part + 4);
  const places = heights.flatMap((y) => [[x + 5, y], [x - 5 - wide, y]]);
  return free.place(found, text, places, axis.left, axis.right) ? found : null;
}
