// Instants and durations as people write them.

const UNITS = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** An instant: a time of day where it has no date. */
function timeText(ms) {
  if (ms === null) return "infinity";
  const fine = ((ms % SECOND) + SECOND) % SECOND ? "." + String(((ms % SECOND) + SECOND) % SECOND).padStart(3, "0") : "";
  const day = ((ms % DAY) + DAY) % DAY;
  const text = [HOUR, MINUTE, SECOND].map((unit, n) => twoDigits(Math.floor(day / unit) % (n ? 60 : 24))).join(":") + fine;
  return ms >= 0 && ms < DAY ? text : `${dateOf(ms)} ${text}`;
}

/** The instant that a text says; null if it says none. */
function readTime(text) {
  const said = /^(?:(\d{4}-\d\d-\d\d)[ T])?(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?$/.exec(text.trim());
  if (!said) return null;
  const [, date, hours, minutes, seconds = "0", fine = "0"] = said;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null;
  const start = date ? Date.parse(date + "T00:00:00Z") : 0;
  const ms = start + hours * HOUR + minutes * MINUTE + seconds * SECOND + Number(fine.padEnd(3, "0"));
  return Number.isFinite(ms) ? ms : null;
}

function durationText(ms) {
  const parts = [];
  let rest = ms;
  for (const name of ["d", "h", "m", "s", "ms"]) {
    const count = Math.floor(rest / UNITS[name]);
    if (count) parts.push(count + name);
    rest -= count * UNITS[name];
  }
  return parts.join(" ") || "0s";
}

/** The duration that a text such as "1m 30s" or "2 minutes" says; null if it says none. */
function readDuration(text) {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)\s*(ms|milli\w*|s|sec\w*|m|min\w*|h|hour\w*|d|day\w*)(?![a-z])\s*/gi)];
  if (!parts.length || parts.map((part) => part[0]).join("").trim() !== text.trim()) return null;
  return parts.reduce((sum, [, count, unit]) => sum + Math.round(count * (UNITS[unit] ?? UNITS[/^milli/i.test(unit) ? "ms" : unit[0].toLowerCase()])), 0);
}

/** A value that is written as JSON, or is the text itself. */
function readValue(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function valueText(value) {
  return typeof value === "string" && typeof readValue(value) === "string" ? value : JSON.stringify(value);
}
