// A trigger as blocks: a box for each node, with what it needs and the boxes inside it.

const TRIGGERS = {
  default: ["at the end of the window, then with every late element"],
  after_watermark: ["when the watermark passes the end of the window", "early", "late"],
  after_processing_time: ["so long after the first element, by the clock", "delay_ms"],
  after_count: ["after so many elements", "count"],
  repeatedly: ["again and again", "trigger"],
  after_each: ["one after the other", "triggers"],
  after_first: ["when any of them is ready", "triggers"],
  after_all: ["when all of them are ready", "triggers"],
  or_finally: ["until the other one is ready", "main", "until"],
  never: ["never by itself"],
  always: ["with every element"],
  x_every_processing_time: ["at regular instants of the clock", "interval_ms"],
  x_every_event_time: ["whenever the watermark has passed so much", "interval_ms"],
  x_every_count: ["with every so many elements", "count"],
  x_after_silence: ["when no element has come for so long", "silence_ms"],
  x_after_delta: ["when a value is further from the one that it fired on last", "threshold"],
  x_after_total: ["when the values of the pane add up to so much", "total"],
};
const FRESH = {
  delay_ms: MINUTE, interval_ms: MINUTE, silence_ms: MINUTE, count: 1, threshold: 5, total: 10,
  trigger: { type: "after_count", count: 1 }, main: { type: "repeatedly", trigger: { type: "after_count", count: 1 } }, until: { type: "after_count", count: 5 },
  triggers: [{ type: "after_count", count: 2 }, { type: "after_processing_time", delay_ms: MINUTE }],
};
const BLOCK_LABELS = {
  early: "early", late: "late", trigger: "trigger", main: "trigger", until: "until", delay_ms: "delay", interval_ms: "interval", silence_ms: "silence", count: "elements", threshold: "than", total: "total",
};

let lastField = 0;

/** A labelled control. */
function field(parent, label, make) {
  const id = `field-${++lastField}`;
  const line = html(parent, "div", { class: "field" });
  html(line, "label", { for: id }, label);
  const control = make(line);
  control.id = id;
  return control;
}

function choice(parent, label, options, value, changed) {
  return field(parent, label, (line) => {
    const select = html(line, "select", {});
    for (const [each, text] of options) html(select, "option", { value: each }, text ?? each);
    select.value = value;
    select.addEventListener("change", () => changed(select.value));
    return select;
  });
}

/** A text that has to be read; what cannot be read is marked, and changes nothing. */
function typed(parent, label, text, read, changed) {
  return field(parent, label, (line) => {
    const input = html(line, "input", { type: "text", value: text, autocomplete: "off", spellcheck: "false" });
    input.addEventListener("change", () => {
      const value = read(input.value);
      input.setAttribute("aria-invalid", value === null);
      if (value !== null) changed(value);
    });
    return input;
  });
}

function readCount(text) {
  return /^\d+$/.test(text.trim()) && Number(text) > 0 ? Number(text) : null;
}

function readNumber(text) {
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : null;
}

/** Show a trigger. `put` gets the trigger that it becomes; null where it is taken away. */
function triggerBlock(parent, trigger, label, isOptional, put) {
  const box = html(parent, "fieldset", { class: "block" });
  html(box, "legend", {}, label);
  const names = Object.keys(TRIGGERS).map((type) => [type, type.replace(/^x_/, "").replaceAll("_", " ")]);
  if (trigger && !TRIGGERS[trigger.type]) names.push([trigger.type, trigger.type]);
  choice(box, "kind", isOptional ? [["", "none"], ...names] : names, trigger?.type ?? "", (type) => {
    const parts = (TRIGGERS[type] ?? []).slice(1).filter((part) => FRESH[part] !== undefined);
    put(type ? { type, ...Object.fromEntries(parts.map((part) => [part, structuredClone(trigger?.[part] ?? FRESH[part])])) } : null);
  });
  if (!trigger || !TRIGGERS[trigger.type]) return;
  const [help, ...parts] = TRIGGERS[trigger.type];
  html(box, "p", { class: "help" }, help);
  const set = (part, value) => put({ ...trigger, [part]: value });
  for (const part of parts) {
    if (part.endsWith("_ms")) {
      if (trigger[part] !== undefined) typed(box, BLOCK_LABELS[part], durationText(trigger[part]), readDuration, (ms) => set(part, ms));
    } else if (part === "count") {
      typed(box, BLOCK_LABELS.count, String(trigger.count), readCount, (count) => set("count", count));
    } else if (part === "total" || part === "threshold") {
      typed(box, BLOCK_LABELS[part], String(trigger[part]), readNumber, (number) => set(part, number));
    } else if (part === "triggers") {
      trigger.triggers.forEach((each, n) => {
        triggerBlock(box, each, `trigger ${n + 1}`, trigger.triggers.length > 1, (one) => {
          set("triggers", one ? trigger.triggers.with(n, one) : trigger.triggers.toSpliced(n, 1));
        });
      });
      const more = html(box, "button", { type: "button" }, "Add a trigger");
      more.addEventListener("click", () => set("triggers", [...trigger.triggers, structuredClone(FRESH.trigger)]));
    } else {
      triggerBlock(box, trigger[part], BLOCK_LABELS[part], part === "early" || part === "late", (one) => set(part, one));
    }
  }
}
