// The places of everything in the figure of one key: event time across, steps upwards.

const GUTTER = 74, RIGHT = 14, FOOT = 5, AXIS = 46, TOP = 26, LANE = 21, PAD = 4, LEAD = 9, LEAST_VALUE = 32;
const TONES = { early: "early", "on time": "ontime", late: "late" };

function toneOf(timing) {
  return TONES[timing] || "unknown";
}

/** What was not grouped never fired: it has neither a timing nor an index. */
function paneName(pane) {
  return pane.timing === "unknown" ? "not grouped" : `${pane.timing} #${pane.index}`;
}

const pen = document.createElement("canvas").getContext("2d");

function widthOf(text) {
  pen.font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
  return pen.measureText(text).width * 1.03;
}

/** As much of a text as there is room for. */
function cut(text, room) {
  if (widthOf(text) <= room) return text;
  let length = text.length;
  while (length > 1 && widthOf(text.slice(0, length) + "…") > room) length = Math.floor(length * 0.95);
  return text.slice(0, length) + "…";
}

/** Give each item the lowest lane from `base` on in which it overlaps nothing. */
function pack(items, base) {
  const lanes = [];
  for (const item of items) {
    let lane = lanes.findIndex((taken) => taken.every(([from, to]) => item.to + 6 < from || item.from > to + 6));
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane].push([item.from, item.to]);
    item.lane = base + lane;
  }
  return base + lanes.length;
}

function sameWindow(one, other) {
  return one === other || (!!one && !!other && one[0] === other[0] && one[1] === other[1]);
}

/** What a pane is called where there is so much room in its window; "" where there is too little. */
function nameInside(pane, room) {
  const whole = `${pane.retraction ? "withdrawn: " : ""}${paneName(pane)}: ${pane.value}`;
  const name = whole.slice(0, whole.length - pane.value.length);
  if (widthOf(whole) <= room || widthOf(name) + LEAST_VALUE <= room) return cut(whole, room);
  const short = [pane.value, paneName(pane), `#${pane.index}`].find((text) => widthOf(text) <= room);
  const rest = short ?? cut(pane.value, room);
  return widthOf(rest) <= room ? rest : "";
}

/** Where a text goes that belongs to the span `left` to `right`: beside it, or over it. */
function placeText(item, text, left, right, axis) {
  const width = widthOf(text);
  item.text = text;
  item.from = left;
  item.to = right;
  if (right + 8 + width <= axis.right + RIGHT) {
    item.textX = right + 7;
    item.to = right + 7 + width;
  } else if (left - 8 - width >= axis.left) {
    item.textX = left - 7 - width;
    item.from = item.textX;
  } else {
    item.textX = Math.max(axis.left, Math.min(left + 6, axis.right - width));
    item.to = Math.max(right, item.textX + width);
    item.from = Math.min(left, item.textX);
  }
}

/** A text and what follows it, as much as there is room for on the wider side of a mark, so that
 * it is not over it. What follows is kept as long as anything is left of the text. */
function beside(text, rest, left, right, axis) {
  const room = Math.max(axis.right + RIGHT - right - 8, left - 8 - axis.left) - 1;
  const own = room - widthOf(rest);
  return cut((own >= LEAST_VALUE ? cut(text, own) : text) + rest, room);
}

/** An element that joins a session merges its own small window into it; that is growing. */
function mergeInWords(stream, merge) {
  const lived = merge.sources.filter((source) =>
    stream.lives.some(
      (life) => life.start < merge.step && (life.end ?? Infinity) >= merge.step && sameWindow(life.window, source),
    ),
  );
  if (lived.length !== 1) return merge.sources.length + " windows merge";
  return sameWindow(lived[0], merge.into) ? "joins" : "grows";
}

/** How many windows lie over each other where most of them do. */
function depthOf(lives) {
  const overlap = (one, other) =>
    (one.end ?? Infinity) > other.start && (other.end ?? Infinity) > one.start &&
    (!other.window || !one.window || (other.window[0] <= one.window[0] && one.window[0] < other.window[1]));
  const some = lives.slice(0, 500);
  return Math.max(1, ...some.map((one) => some.filter((other) => overlap(one, other)).length));
}

/** Whether processing time can be an axis: it moves while something happens. */
function hasClock(scenario) {
  const started = scenario.steps.findIndex((step) => step.kind !== "clock");
  return started >= 0 && scenario.steps.slice(started).some((step) => step.clock !== scenario.steps[started].clock);
}

function layOut(scenario, stream, width, small, room, frame) {
  const axis = frame?.axis ?? Scale.ofEvents(stream, scenario.steps, GUTTER, width - RIGHT);
  const rows = scenario.steps.map((step) => ({ step, items: [], lanes: 0 }));
  const of = new Map(rows.map((row) => [row.step.step, row]));
  const add = (kind, things, make) => {
    for (const thing of things) {
      const item = { kind, thing };
      make(item, thing);
      of.get(thing.step).items.push(item);
    }
  };
  add("element", stream.elements, (item, element) => {
    const x = axis.x(element.at), why = element.lost ? ", " + element.why : "";
    item.x = x;
    placeText(item, beside(element.label, why, x - 7, x + 7, axis), x - 7, x + 7, axis);
  });
  add("loss", stream.losses, (item, loss) => {
    const [left, right] = axis.ends(loss.window);
    item.x = (left + right) / 2;
    placeText(item, beside(loss.text, "", item.x - 7, item.x + 7, axis), item.x - 7, item.x + 7, axis);
  });
  add("merge", stream.merges, (item, merge) => {
    const [left, right] = axis.ends(merge.into);
    placeText(item, mergeInWords(stream, merge), left, right, axis);
  });
  add("pane", stream.panes, (item, pane) => {
    const [left, right] = axis.ends(pane.window);
    item.left = left;
    item.right = right;
    Object.assign(item, { from: left, to: right });
    const text = nameInside(pane, right - left - 12);
    if (text) Object.assign(item, { text, textX: left + 6 });
  });
  const lane = small ? Math.max(0.75, Math.min(7, (room - TOP - FOOT) / rows.length / 2)) : LANE;
  let height = 0;
  rows.forEach((row) => {
    const kinds = (...names) => row.items.filter((item) => names.includes(item.kind));
    // The watermark's move comes first, below what comes of it.
    const lead = !small && row.step.kind === "watermark" ? LEAD : 0;
    if (small) {
      row.items.forEach((item) => (item.lane = item.kind === "pane" || item.kind === "merge" ? 1 : 0));
      row.lanes = 2;
      row.height = lane * 2;
    } else {
      const arrived = pack(kinds("element", "loss"), 0);
      const merged = pack(kinds("merge"), arrived);
      row.lanes = pack(kinds("pane"), merged);
      const quiet = row.step.kind === "arrive" && !row.items.length;
      row.height = quiet ? 7 : Math.max(1, row.lanes) * lane + 2 * PAD + lead;
    }
    row.bottom = height;
    height += row.height;
    row.lead = lead;
  });
  const whole = TOP + height + FOOT;
  const up = (above) => TOP + height - above;
  for (const row of rows) {
    row.y0 = up(row.bottom);
    row.y1 = up(row.bottom + row.height);
    const pad = small ? 0 : PAD;
    for (const item of row.items) item.y = row.y0 - pad - row.lead - (item.lane + 0.5) * lane;
    // Time passes upwards inside a row too: first what happens, above it what comes of it.
    row.event = row.y0 - pad - (row.lead ? row.lead / 2 : lane / 2);
  }
  return { axis, rows, of, width, height: whole, floor: up(0), small, lane, depth: depthOf(stream.lives) };
}
