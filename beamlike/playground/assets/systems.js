// Strategies in the words of other systems. Python makes them what they are in Beam.

/** For each system its name, and its parts `[name, label, fresh value or choices, needed with]`. */
const SYSTEMS = {
  kafka: ["Kafka Streams", [
    ["gap_ms", "inactivity gap", MINUTE], ["grace_ms", "grace", 10 * MINUTE], ["emit", "emit strategy", ["on_window_update", "on_window_close"]],
  ]],
  flink: ["Flink", [
    ["windows", "window", ["TumblingEventTimeWindows", "SlidingEventTimeWindows", "EventTimeSessionWindows", "GlobalWindows"]],
    ["size_ms", "size", 2 * MINUTE, { windows: ["TumblingEventTimeWindows", "SlidingEventTimeWindows"] }],
    ["slide_ms", "slide", MINUTE, { windows: ["SlidingEventTimeWindows"] }],
    ["gap_ms", "gap", MINUTE, { windows: ["EventTimeSessionWindows"] }],
    ["trigger", "trigger", ["EventTimeTrigger", "ContinuousEventTimeTrigger", "ContinuousProcessingTimeTrigger", "CountTrigger", "NeverTrigger"]],
    ["interval_ms", "interval", MINUTE, { trigger: ["ContinuousEventTimeTrigger", "ContinuousProcessingTimeTrigger"] }],
    ["count", "elements", 2, { trigger: ["CountTrigger"] }],
    ["purging", "purging", ["no", "yes"]],
    ["lateness_ms", "allowed lateness", 10 * MINUTE],
  ]],
  apex: ["Apex", [
    ["windows", "window", ["time_windows", "sliding_time_windows", "session_windows", "global_window"]],
    ["size_ms", "duration", 2 * MINUTE, { windows: ["time_windows", "sliding_time_windows"] }],
    ["slide_ms", "slide by", MINUTE, { windows: ["sliding_time_windows"] }],
    ["gap_ms", "minimum gap", MINUTE, { windows: ["session_windows"] }],
    ["at_watermark", "at watermark", ["yes", "no"]],
    ["early_count", "early, each so many", 0], ["early_ms", "early, each so long", MINUTE],
    ["late_count", "late, each so many", 1], ["late_ms", "late, each so long", 0],
    ["mode", "fired panes", ["discarding", "accumulating", "accumulating and retracting"]],
    ["lateness_ms", "allowed lateness", 10 * MINUTE],
  ]],
  akka: ["Akka Streams", [["gap_ms", "inactivity", MINUTE]]],
};

function freshWords(system) {
  const parts = SYSTEMS[system][1].map(([name, , fresh]) => [name, Array.isArray(fresh) ? fresh[0] : fresh]);
  return { system, ...Object.fromEntries(parts) };
}

/** Which system's words a strategy is in. `made` is what Python made of those it is in now. */
function systemChoice(root, strategy, made, changed) {
  const systems = [["", "Beam"], ...Object.entries(SYSTEMS).map(([system, [name]]) => [system, name])];
  choice(root, "in the words of", systems, strategy.words?.system ?? "", (system) => {
    const { words: _, ...rest } = strategy;
    if (system) changed({ ...rest, words: freshWords(system) });
    else changed({ ...rest, windowing: made?.windowing ?? strategy.windowing });
  });
}

/** The parts of a strategy in the words of a system, and the code that says the same there. */
function systemForm(root, strategy, made, changed) {
  const { words } = strategy;
  const set = (name, value) => changed({ ...strategy, words: { ...words, [name]: value } });
  for (const [name, label, fresh, needed] of SYSTEMS[words.system][1]) {
    if (needed && !Object.entries(needed).every(([other, values]) => values.includes(words[other]))) continue;
    if (Array.isArray(fresh)) choice(root, label, fresh.map((each) => [each]), words[name], (value) => set(name, value));
    else if (name.endsWith("_ms")) typed(root, label, durationText(words[name]), readDuration, (ms) => set(name, ms));
    else typed(root, label, String(words[name]), (text) => (/^\d+$/.test(text.trim()) ? Number(text) : null), (count) => set(name, count));
  }
  if (made?.code) html(root, "pre", { class: "code", tabindex: "0", "aria-label": "Code, scrollable" }, made.code);
}
