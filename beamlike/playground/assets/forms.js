// The forms: how the stream is windowed, what moves the watermark, and the element that is selected.

const WINDOWS = {
  fixed: { size_ms: 2 * MINUTE },
  sliding: { size_ms: 2 * MINUTE, period_ms: MINUTE },
  sessions: { gap_ms: MINUTE },
  global: {},
};
const WINDOW_LABELS = { size_ms: "size", period_ms: "every", gap_ms: "gap", offset_ms: "offset" };
const AGGREGATIONS = ["sum", "count", "list", "min", "max", "mean", "latest", "list_by_timestamp", "none"];
const RULES = {
  drawn: ["as drawn: drag it"], perfect: ["perfect: it knows what is to come"], bound: ["a fixed bound behind the latest", "bound"],
  percentile: ["a percentile of the delays so far", "percent"], idle: ["a fixed bound, and an idle source", "bound", "silence"],
};
const RULE_PARTS = { bound: MINUTE, silence: MINUTE, percent: 90 };

/** The form of a strategy. `made` is what Python made of it; `changed` gets what it becomes. */
function strategyForm(root, strategy, made, changed) {
  root.replaceChildren();
  systemChoice(root, strategy, made, changed);
  const aggregation = () => choice(root, "a pane's value", AGGREGATIONS.map((name) => [name, name.replaceAll("_", " ")]), strategy.aggregation, (chosen) => changed({ ...strategy, aggregation: chosen }));
  if (strategy.words) {
    aggregation();
    systemForm(root, strategy, made, changed);
    return;
  }
  const { windowing } = strategy;
  const set = (name, value) => changed({ ...strategy, windowing: { ...windowing, [name]: value } });
  const { window } = windowing;
  const kinds = Object.keys(WINDOWS).map((fn) => [fn]);
  if (!WINDOWS[window.fn]) kinds.push([window.fn]);
  choice(root, "windows", kinds, window.fn, (fn) => set("window", { fn, ...WINDOWS[fn] }));
  for (const part of Object.keys(WINDOWS[window.fn] ?? {})) {
    typed(root, WINDOW_LABELS[part], durationText(window[part]), readDuration, (ms) => set("window", { ...window, [part]: ms }));
  }
  choice(root, "accumulation", [["discarding"], ["accumulating"], ["retracting"]], windowing.accumulation, (value) => set("accumulation", value));
  typed(root, "allowed lateness", durationText(windowing.allowed_lateness_ms), readDuration, (ms) => set("allowed_lateness_ms", ms));
  aggregation();
  triggerBlock(root, windowing.trigger, "trigger", false, (trigger) => set("trigger", trigger));
  const more = html(root, "details", { class: "more" });
  html(more, "summary", {}, "More choices");
  choice(more, "a pane's timestamp", [["end_of_window", "end of window"], ["earliest"], ["latest"]], windowing.timestamp_combiner, (value) => set("timestamp_combiner", value));
  choice(more, "empty last pane", [["fire_if_non_empty", "not emitted"], ["fire_always", "emitted"]], windowing.closing_behavior, (value) => set("closing_behavior", value));
  choice(more, "empty on-time pane", [["fire_if_non_empty", "not emitted"], ["fire_always", "emitted"]], windowing.on_time_behavior, (value) => set("on_time_behavior", value));
}

/** What moves the watermark. */
function ruleForm(root, rule, changed) {
  root.replaceChildren();
  choice(root, "watermark", Object.entries(RULES).map(([name, [text]]) => [name, text]), rule.rule, (name) => {
    changed({ rule: name, ...Object.fromEntries(RULES[name].slice(1).map((part) => [part, rule[part] ?? RULE_PARTS[part]])) });
  });
  for (const part of RULES[rule.rule].slice(1)) {
    if (part === "percent") {
      const read = (text) => (Number(text) > 0 && Number(text) <= 100 ? Number(text) : null);
      typed(root, "percent", String(rule.percent), read, (percent) => changed({ ...rule, percent }));
    } else {
      typed(root, part === "bound" ? "behind by" : "idle after", durationText(rule[part]), readDuration, (ms) => changed({ ...rule, [part]: ms }));
    }
  }
}

/** The element, or the move of the watermark, that is selected. */
function selectedForm(root, sketch, found, changed, remove) {
  root.replaceChildren();
  if (!found) {
    html(root, "p", { class: "none" }, "Select an element, or a point of the watermark, to change its value and times here.");
    return;
  }
  const { step, element } = found;
  const clock = (move) => {
    if (sketch.isTimed) typed(root, element ? "arrives at" : "from", timeText(step.clock), readTime, (ms) => changed(() => move(ms)));
  };
  if (element) {
    typed(root, "value", valueText(element.value), (text) => readValue(text) ?? null, (value) => changed(() => (element.value = value)));
    typed(root, "key", valueText(element.key), readKey, (key) => changed(() => (element.key = key)));
    typed(root, "event time", timeText(element.at), readTime, (at) => changed(() => (element.at = at)));
    clock((ms) => sketch.moveElement(element.id, element.at, ms));
  } else {
    if (step.watermark !== null) {
      typed(root, "watermark", timeText(step.watermark), readTime, (to) => changed(() => sketch.moveWatermark(step.id, to, step.clock)));
    }
    clock((ms) => sketch.moveWatermark(step.id, step.watermark, ms));
  }
  html(root, "button", { type: "button", class: "remove" }, "Remove").addEventListener("click", remove);
}

function readKey(text) {
  const key = readValue(text);
  return typeof key === "string" || Number.isInteger(key) ? key : null;
}
