// What is on the page: a stream with its watermark, and one or two strategies. Python calls it a
// sketch. Elements and moves of the watermark have numbers here, so that they can be held on to.

const LATE_TREE = {
  type: "after_watermark",
  early: { type: "after_processing_time", delay_ms: MINUTE },
  late: { type: "after_count", count: 1 },
};

function strategyOf(accumulation, window = { fn: "fixed", size_ms: 2 * MINUTE }, trigger = LATE_TREE) {
  const windowing = {
    window, trigger, accumulation, allowed_lateness_ms: 10 * MINUTE, timestamp_combiner: "end_of_window",
    closing_behavior: "fire_if_non_empty", on_time_behavior: "fire_always",
  };
  return { windowing: structuredClone(windowing), aggregation: "sum" };
}

/** Elements `[value, event time, arrival]` and moves `[clock, watermark]`, in order of the clock. */
function streamOf(elements, moves, key = "team") {
  const steps = [
    ...elements.map(([value, at, clock]) => ({ clock: readTime(clock), elements: [{ key, value, at: readTime(at) }] })),
    ...moves.map(([clock, to]) => ({ clock: readTime(clock), watermark: to && readTime(to) })),
  ];
  return steps.sort((a, b) => a.clock - b.clock);
}

const SCORES = [
  [5, "12:00:26", "12:05:19"], [9, "12:01:26", "12:08:19"], [7, "12:02:26", "12:05:39"], [8, "12:03:06", "12:07:06"],
  [3, "12:03:39", "12:06:13"], [4, "12:03:46", "12:06:26"], [3, "12:04:19", "12:06:39"], [3, "12:06:39", "12:07:19"],
  [8, "12:07:26", "12:08:39"], [1, "12:07:46", "12:09:00"],
];
const SCORE_MOVES = [["12:06:00", "12:02:00"], ["12:07:30", "12:04:00"], ["12:08:00", "12:06:00"], ["12:09:30", "12:08:00"], ["12:10:00", null]];

const EXAMPLES = {
  "Ten scores, one of them late": () => ({
    title: "Ten scores, one of them late", steps: streamOf(SCORES, SCORE_MOVES), rule: { rule: "drawn" },
    strategies: [strategyOf("accumulating")],
  }),
  "Ten scores, discarding beside accumulating": () => ({
    title: "Ten scores, discarding beside accumulating", steps: streamOf(SCORES, SCORE_MOVES), rule: { rule: "drawn" },
    strategies: [strategyOf("discarding"), strategyOf("accumulating")],
  }),
  "Ten scores, perfect watermark": () => ({
    title: "Ten scores, perfect watermark", steps: streamOf(SCORES, []), rule: { rule: "perfect" },
    strategies: [strategyOf("accumulating")],
  }),
  "Ten scores in sessions that merge": () => ({
    title: "Ten scores in sessions that merge", steps: streamOf(SCORES, SCORE_MOVES), rule: { rule: "drawn" },
    strategies: [strategyOf("retracting", { fn: "sessions", gap_ms: MINUTE })],
  }),
  "Two teams": () => ({
    title: "Two teams",
    steps: [...streamOf(SCORES.slice(0, 5), SCORE_MOVES, "red"), ...streamOf(SCORES.slice(5), [], "blue")].sort((a, b) => a.clock - b.clock),
    rule: { rule: "drawn" }, strategies: [strategyOf("accumulating")],
  }),
};

class Sketch {
  constructor(plain) {
    this.last = 0;
    this.load(plain);
    this.past = [];
    this.future = [];
  }

  load(plain) {
    const { title, steps, rule, strategies, end } = structuredClone(plain);
    Object.assign(this, { title, steps, rule, strategies, end });
    for (const step of steps) {
      step.id = ++this.last;
      for (const element of step.elements ?? []) element.id = ++this.last;
    }
  }

  /** Without the numbers, as Python takes it. */
  plain() {
    const bare = ({ id: _, ...rest }) => rest;
    const steps = this.steps.map((step) => (step.elements ? { ...bare(step), elements: step.elements.map(bare) } : bare(step)));
    const { title, rule, strategies, end } = this;
    return structuredClone({ title, steps, rule, strategies, ...(end ? { end } : {}) });
  }

  // -- undo -----------------------------------------------------------------------------------

  /** Remember how all is before a change. */
  keep() {
    const now = JSON.stringify(this.plain());
    if (this.past[this.past.length - 1] !== now) this.past.push(now);
    this.future = [];
  }

  undo(from = this.past, to = this.future) {
    const now = JSON.stringify(this.plain());
    while (from.length && from[from.length - 1] === now) from.pop();
    if (!from.length) return false;
    to.push(now);
    this.load(JSON.parse(from.pop()));
    return true;
  }

  redo() {
    return this.undo(this.future, this.past);
  }

  // -- elements and moves -----------------------------------------------------------------------

  get isTimed() {
    return this.steps.some((step) => step.clock !== this.steps[0].clock);
  }

  get keys() {
    const keys = new Map();
    for (const { key } of this.elements()) keys.set(JSON.stringify(key), key);
    return [...keys.values()];
  }

  elements() {
    return this.steps.flatMap((step) => step.elements ?? []);
  }

  /** Elements of a key in the order in which they arrive. */
  ofKey(key) {
    const wanted = JSON.stringify(key);
    return this.elements().filter((element) => JSON.stringify(element.key) === wanted);
  }

  moves() {
    return this.steps.filter((step) => "watermark" in step);
  }

  find(id) {
    for (const step of this.steps) {
      if (step.id === id && "watermark" in step) return { step };
      const element = step.elements?.find((each) => each.id === id);
      if (element) return { step, element };
    }
    return null;
  }

  /** After all that happens at that instant or before. */
  insert(step) {
    const after = this.steps.findIndex((each) => each.clock > step.clock);
    this.steps.splice(after < 0 ? this.steps.length : after, 0, step);
  }

  moveElement(id, at, clock) {
    const { step, element } = this.find(id);
    element.at = at;
    if (clock === step.clock) return;
    step.elements.splice(step.elements.indexOf(element), 1);
    if (!step.elements.length) this.steps.splice(this.steps.indexOf(step), 1);
    this.insert({ id: ++this.last, clock, elements: [element] });
  }

  /** A watermark never goes back: it stays between the moves before and after it. */
  moveWatermark(id, to, clock) {
    const moves = this.moves(), at = moves.findIndex((move) => move.id === id);
    const before = moves[at - 1], after = moves[at + 1], move = moves[at];
    move.clock = Math.min(Math.max(clock, before?.clock ?? 0), after?.clock ?? Infinity);
    if (move.watermark !== null) {
      move.watermark = Math.min(Math.max(to, before?.watermark ?? -Infinity), after?.watermark ?? Infinity);
    }
    this.steps.splice(this.steps.indexOf(move), 1);
    const later = this.steps.findIndex((each) => each.clock > move.clock || each === after);
    this.steps.splice(later < 0 ? this.steps.length : later, 0, move);
  }

  /** One step earlier or later, where there is no clock. */
  moveInOrder(id, by) {
    const { step } = this.find(id), at = this.steps.indexOf(step), other = this.steps[at + by];
    if (!other || ("watermark" in step && "watermark" in other)) return;
    this.steps.splice(at, 1);
    this.steps.splice(at + by, 0, step);
  }

  add(key, value, at, clock) {
    const element = { id: ++this.last, key, value, at };
    this.insert({ id: ++this.last, clock, elements: [element] });
    return element.id;
  }

  addMove(to, clock) {
    const moves = this.moves(), before = moves.filter((move) => move.clock <= clock).pop(), after = moves.find((move) => move.clock > clock);
    const watermark = Math.min(Math.max(to, before?.watermark ?? -Infinity), after?.watermark ?? Infinity);
    if (before?.watermark === null) return null;
    const step = { id: ++this.last, clock, watermark };
    this.insert(step);
    return step.id;
  }

  remove(id) {
    const { step, element } = this.find(id);
    if (element) step.elements.splice(step.elements.indexOf(element), 1);
    if (!step.elements?.length) this.steps.splice(this.steps.indexOf(step), 1);
  }

  /** The moves that a rule made become drawn ones, and can be dragged. */
  draw(moves) {
    this.rule = { rule: "drawn" };
    this.steps = this.steps.filter((step) => step.elements);
    for (const { clock, to } of moves) this.insert({ id: ++this.last, clock, watermark: to });
  }
}

// -- addresses --------------------------------------------------------------------------------------

async function through(stream, data) {
  const body = new Blob([data]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(body).arrayBuffer());
}

/** A sketch as a part of an address. */
async function toAddress(plain) {
  const packed = await through(new CompressionStream("deflate-raw"), JSON.stringify(plain));
  return btoa(String.fromCharCode(...packed)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The sketch in a part of an address; null if there is none. */
async function fromAddress(text) {
  try {
    const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const plain = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), packed)));
    return Array.isArray(plain.steps) && Array.isArray(plain.strategies) ? plain : null;
  } catch {
    return null;
  }
}
