// Event time on the horizontal axis. Long stretches in which nothing lies are folded.

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const DISTANCES = [
  1, 2, 5, 10, 20, 50, 100, 200, 500,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[...Array(9).keys()].flatMap((power) => [1, 2, 5].map((n) => n * 10 ** power * DAY)),
];
const FOLD_PART = 0.06; // of what is shown; a gap is folded if it is three times as long

function twoDigits(number) {
  return String(number).padStart(2, "0");
}

function timeOfDay(ms, distance) {
  const day = ((ms % DAY) + DAY) % DAY;
  let text = twoDigits(Math.floor(day / HOUR)) + ":" + twoDigits(Math.floor(day / MINUTE) % 60);
  if (distance < MINUTE || day % MINUTE) text += ":" + twoDigits(Math.floor(day / SECOND) % 60);
  if (distance < SECOND) text += "." + String(day % SECOND).padStart(3, "0");
  return text;
}

/** The day of an instant; nothing where no calendar reaches, as at the minimum timestamp. */
function dateOf(ms) {
  const moment = new Date(Math.floor(ms / DAY) * DAY);
  return Number.isNaN(moment.getTime()) ? "" : moment.toISOString().split("T")[0];
}

/** A duration without what is too small to matter; never more than it is. */
function lengthInWords(ms) {
  const unit = [MINUTE, SECOND].find((length) => ms >= 60 * length) ?? 1;
  let rest = Math.floor(ms / unit) * unit;
  const parts = [];
  for (const [name, length] of [["d", DAY], ["h", HOUR], ["m", MINUTE], ["s", SECOND], ["ms", 1]]) {
    if (rest >= length) parts.push(Math.floor(rest / length) + name);
    rest %= length;
  }
  return parts.join(" ") || "0ms";
}

/** Where instants lie between `left` and `right`; beyond the ends, at the ends. */
class Scale {
  constructor(spans, start, end, left, right) {
    Object.assign(this, { start, end, left, right });
    this.firstDate = start >= -DAY / 25 && end <= DAY * 1.04 ? dateOf(0) : ""; // such times have no date
    this.pieces = this.fold(spans);
  }

  /** Of event time: all that a stream has, and the watermarks that are near it. */
  static ofEvents(stream, steps, left, right) {
    const spans = stream.elements.map((element) => [element.at, element.at]);
    for (const thing of [...stream.lives, ...stream.panes]) {
      if (thing.window) spans.push(thing.window);
    }
    for (const merge of stream.merges) spans.push(...merge.sources, merge.into);
    if (!spans.length) spans.push([0, 1]);
    let start = Infinity, end = -Infinity;
    for (const [from, to] of spans) {
      start = Math.min(start, from);
      end = Math.max(end, to);
    }
    const around = (end - start) / 2 || SECOND;
    for (const { watermark } of steps) {
      if (start - around <= watermark && watermark <= end + around) spans.push([watermark, watermark]);
    }
    for (const [from, to] of spans) {
      start = Math.min(start, from);
      end = Math.max(end, to);
    }
    const margin = (end - start) * 0.04 || 1;
    return new Scale(spans, start - margin, end + margin, left, right);
  }

  /** Of processing time, upwards: from the first thing that happens to the last reading. */
  static ofClock(steps, floor, top) {
    const first = steps.find((step) => step.kind !== "clock") ?? steps[0];
    const start = first.clock, end = Math.max(start, ...steps.map((step) => step.clock));
    const spans = steps.filter((step) => step.clock >= start).map((step) => [step.clock, step.clock]);
    const margin = (end - start) * 0.04 || 1;
    return new Scale(spans, start - margin, end + margin, floor, top);
  }

  /** Pieces `[from, to, x, width, folded]` that make up the axis. */
  fold(spans) {
    const taken = [];
    for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
      const before = taken[taken.length - 1];
      if (before && from <= before[1]) before[1] = Math.max(before[1], to);
      else taken.push([from, to]);
    }
    const gaps = taken.slice(1).map((span, at) => [taken[at][1], span[0]]);
    gaps.sort((a, b) => b[1] - b[0] - (a[1] - a[0]));
    let shown = this.end - this.start;
    const folded = [];
    for (const gap of gaps) {
      const rest = shown - (gap[1] - gap[0]);
      if (gap[1] - gap[0] < rest * 1.2) break;
      folded.push(gap);
      shown = rest;
    }
    const room = shown * FOLD_PART;
    const whole = shown + folded.length * room;
    const perMs = (this.right - this.left) / whole;
    const pieces = [];
    let at = this.start, x = this.left;
    for (const [from, to] of folded.sort((a, b) => a[0] - b[0])) {
      // What lies beside a fold keeps a little air.
      const near = from + room * 0.25, far = to - room * 0.25;
      pieces.push([at, near, x, (near - at) * perMs, false]);
      x += (near - at) * perMs;
      pieces.push([near, far, x, room * 0.5 * perMs, true]);
      x += room * 0.5 * perMs;
      at = far;
    }
    pieces.push([at, this.end, x, this.right - x, false]);
    return pieces;
  }

  x(instant) {
    if (instant <= this.start) return this.left;
    for (const [from, to, x, width] of this.pieces) {
      if (instant <= to) return x + ((instant - from) / (to - from)) * width;
    }
    return this.right;
  }

  /** The instant that lies at a place. */
  at(place) {
    const ahead = Math.sign(this.right - this.left);
    for (const [from, to, x, width] of this.pieces) {
      if ((place - x - width) * ahead <= 0) return Math.max(this.start, from + ((place - x) / width) * (to - from));
    }
    return this.end;
  }

  /** Both ends of a window; the global window is as wide as the axis. */
  ends(window) {
    if (!window) return [this.left, this.right];
    const x = this.x(window[0]);
    return [x, Math.max(this.x(window[1]), x + 2)];
  }

  folds() {
    return this.pieces.filter((piece) => piece[4]);
  }

  /** Labelled places, each with enough room; `least` px are enough where texts stand over each other. */
  ticks(least) {
    const plain = this.pieces.filter((piece) => !piece[4]);
    const perMs = Math.abs(plain[0][3]) / (plain[0][1] - plain[0][0]);
    const needed = (distance) => least ?? (distance >= 1e5 * DAY ? 110 : distance >= DAY ? 84 : distance < SECOND ? 96 : distance < MINUTE ? 72 : 54);
    const distance = DISTANCES.find((d) => d * perMs >= needed(d)) || DISTANCES[DISTANCES.length - 1];
    const ticks = [];
    let date = this.firstDate;
    for (const [from, to] of plain) {
      for (let at = Math.ceil(from / distance) * distance; at <= to; at += distance) {
        // On the two sides of a fold there may not be room for both.
        const x = this.x(at), last = ticks[ticks.length - 1];
        if (last && Math.abs(x - last.x) < needed(distance) * 0.75) continue;
        let text = distance >= DAY ? dateOf(at) : timeOfDay(at, distance);
        const day = dateOf(at);
        if (!day) continue;
        const second = distance < DAY && day !== date && !this.firstDate ? day : "";
        if (second) date = day;
        ticks.push({ x, text, second });
      }
    }
    return ticks;
  }
}
