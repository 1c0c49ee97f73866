// Asks for the numbers once a second and shows them. It changes nothing, here or there.
"use strict";

const ASK_EVERY_MS = 1000;
const SHOWN = 60; // batches in a chart and in the table
const TIMINGS = [["EARLY", "early", "early"], ["ON_TIME", "on time", "ontime"], ["LATE", "late", "late"]];
const REASONS = {
  expired: "came after its window was over, allowed lateness and all",
  closed: "came for a window whose trigger had finished",
  failed: "a function of yours raised for it",
  null_key: "has no key", bad_key: "its key cannot be read",
  null_timestamp: "has no time", bad_timestamp: "its time cannot be read",
  far_future: "its time is too far ahead of the clock",
  bad_value: "a value cannot be read",
};
// Panes look as in every figure. What else there is has colours of Okabe and Ito, and each a pattern
// of its own: nothing is said by colour alone.
const SERIES = ["#D55E00", "#CC79A7", "#F0E442", "#0072B2", "#999999"];
const REPLAYED_MS = 30 * 86400000;

const $ = (id) => document.getElementById(id);
const numbers = new Intl.NumberFormat("en");
let tag = null, report = null, skew = 0, paused = false, lost = false, chosen = null, grouping = "";

// -- words ------------------------------------------------------------------------------------

const count = (n) => (n === null || n === undefined ? "?" : numbers.format(n));
const rate = (n) => (n === null ? "?" : numbers.format(n < 10 ? Math.round(n * 10) / 10 : Math.round(n)));
const many = (n, one, more) => `${count(n)} ${n === 1 ? one : more}`;
const instant = (ms) =>
  ms === null || ms === undefined ? "none yet" : iso(ms).replace("T", " ").replace(/(\.000)?Z$/, "");

function iso(ms) {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "the end of time" : date.toISOString();
}

function duration(ms) {
  if (ms < 0) return "-" + duration(-ms);
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
  return `${count(Math.floor(seconds / 86400))} days`;
}

function bytes(n) {
  if (n === null || n === undefined) return "?";
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let at = 0;
  while (n >= 1000 && at < units.length - 1) { n /= 1000; at += 1; }
  return `${at && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[at]}`;
}

// -- elements ---------------------------------------------------------------------------------

function make(name, attributes = {}, ...inside) {
  const isSvg = ["svg", "g", "rect", "line", "path", "circle", "text", "title", "pattern"].includes(name);
  const made = isSvg
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside.filter((it) => it !== null));
  return made;
}

// What stays the same is left alone: a reader's place in it stays too.
function fill(parent, ...children) {
  const now = make("div", {}, ...children);
  const same = parent.childNodes.length === now.childNodes.length
    && [...parent.childNodes].every((it, at) => it.isEqualNode(now.childNodes[at]));
  if (!same) parent.replaceChildren(...now.childNodes);
}

function say(id, text) {
  const place = $(id);
  place.hidden = !text;
  if (place.textContent !== text) place.textContent = text;
}

function patterns() {
  const marks = [
    [], [["line", { x1: 0, y1: 6, x2: 6, y2: 0, class: "mark" }]],
    [["circle", { cx: 2, cy: 2, r: 1.3, class: "spot" }]],
    [["line", { x1: 0, y1: 3, x2: 6, y2: 3, class: "mark" }]],
    [["line", { x1: 3, y1: 0, x2: 3, y2: 6, class: "mark" }]],
  ];
  const made = SERIES.map((colour, at) =>
    make("pattern", { id: `series-${at}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
      make("rect", { width: 6, height: 6, fill: colour }), ...marks[at].map(([name, it]) => make(name, it))));
  const all = make("svg", { id: "patterns", "aria-hidden": "true" }, ...made);
  for (const [, , tone] of TIMINGS) panePattern(all, tone, tone);
  document.body.append(all);
}

// -- charts -----------------------------------------------------------------------------------

const WIDE = 460, HIGH = 150, LEFT = 92, TOP = 12, BOTTOM = 128, RIGHT = 452;

function frame(batches, low, high, words) {
  const across = (RIGHT - LEFT) / Math.max(batches.length, 12);
  const x = (at) => LEFT + (at + 0.5) * across;
  const y = (value) => BOTTOM - ((value - low) / (high - low || 1)) * (BOTTOM - TOP);
  const axis = [[high, TOP], [low, BOTTOM]].flatMap(([value, at]) => [
    make("line", { x1: LEFT, x2: RIGHT, y1: at, y2: at, class: "grid" }),
    make("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, words(value)),
  ]);
  const ends = [make("text", { x: x(0), y: HIGH - 6, "text-anchor": "middle" }, `batch ${batches[0].batch}`)];
  if (batches.length > 3) {
    ends.push(make("text", { x: x(batches.length - 1), y: HIGH - 6, "text-anchor": batches.length > 11 ? "end" : "middle" }, `${batches.at(-1).batch}`));
  }
  return { across, x, y, drawn: [...axis, ...ends] };
}

function figure(title, summary, drawn, legend = []) {
  const keys = legend.map(([pattern, name]) => make("li", {},
    make("svg", { viewBox: "0 0 16 12", "aria-hidden": "true" },
      make("rect", { x: 0.5, y: 0.5, width: 15, height: 11, fill: `url(#${pattern})`, class: `swatch ${pattern}` })), name));
  return make("figure", {}, make("figcaption", {}, title),
    make("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": summary }, make("title", {}, summary), ...drawn),
    keys.length ? make("ul", { class: "legend" }, ...keys) : null);
}

// `series`: [pattern, name, value of a batch]; one bar for each batch, its parts on one another.
function bars(title, batches, series, words) {
  const tops = batches.map((it) => series.reduce((sum, [, , of]) => sum + of(it), 0));
  const high = Math.max(1, ...tops);
  const { across, x, y, drawn } = frame(batches, 0, high, words);
  batches.forEach((batch, at) => {
    let below = 0;
    for (const [pattern, name, of] of series) {
      const value = of(batch);
      if (!value) continue;
      const top = y(below + value);
      drawn.push(make("rect", {
        x: x(at) - across * 0.42, width: across * 0.84, y: top, height: y(below) - top,
        fill: `url(#${pattern})`, class: `bar ${pattern}`,
      }, make("title", {}, `batch ${batch.batch}: ${name} ${words(value)}`)));
      below += value;
    }
  });
  const last = batches.at(-1);
  const parts = series.map(([, name, of]) => `${name} ${words(of(last))}`).join(", ") || "nothing";
  const summary = `${title}. Bars for batches ${batches[0].batch} to ${last.batch}. Last batch: ${parts}. Most in a batch: ${words(Math.max(0, ...tops))}.`;
  return figure(title, summary, drawn, series.map(([pattern, name]) => [pattern, name]));
}

function curve(title, batches, of, words, fromZero = true, kind = "") {
  const known = batches.map((it, at) => [at, of(it)]).filter(([, value]) => value !== null && value !== undefined);
  const values = known.map(([, value]) => value);
  let high = values.length ? Math.max(...values) : 1, low = fromZero ? 0 : values.length ? Math.min(...values) : 0;
  if (high === low) high = low + 1;
  const { x, y, drawn } = frame(batches, low, high, words);
  const points = known.map(([at, value]) => [x(at), y(value)]);
  if (points.length) {
    drawn.push(make("path", { class: `curve ${kind}`, d: "M" + points.map(([a, b]) => `${a.toFixed(1)} ${b.toFixed(1)}`).join("L") }));
    const [a, b] = points.at(-1);
    drawn.push(make("circle", { class: "dot", cx: a, cy: b, r: 3.5 }));
  }
  const range = values.length
    ? `Last ${words(values.at(-1))}, least ${words(Math.min(...values))}, most ${words(Math.max(...values))}.` : "Not known yet.";
  return figure(title, `${title}. A line over batches ${batches[0].batch} to ${batches.at(-1).batch}. ${range}`, drawn);
}

// The largest few by name, and the others together.
function largest(batches, of) {
  const sums = new Map();
  for (const batch of batches) for (const [name, value] of Object.entries(of(batch))) sums.set(name, (sums.get(name) || 0) + value);
  const names = [...sums].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const few = names.length > SERIES.length ? names.slice(0, SERIES.length - 1) : names;
  const rest = names.slice(few.length);
  const series = few.map((name, at) => [`series-${at}`, name, (it) => of(it)[name] || 0]);
  if (rest.length) {
    series.push([`series-${SERIES.length - 1}`, "others", (it) => rest.reduce((sum, name) => sum + (of(it)[name] || 0), 0)]);
  }
  return series;
}

// -- one query --------------------------------------------------------------------------------

const chosenOf = (batch) => Object.entries(batch.groupings).filter(([name]) => !grouping || name === grouping).map(([, it]) => it);
const summed = (batch, of) => chosenOf(batch).reduce((sum, it) => sum + (of(it) || 0), 0);

function added(maps) {
  const sums = {};
  for (const map of maps) for (const [name, n] of Object.entries(map)) sums[name] = (sums[name] || 0) + n;
  return sums;
}

const windowsOpen = (batch) => {
  const known = chosenOf(batch).filter((it) => it.windows_open !== null);
  return known.length ? known.reduce((sum, it) => sum + it.windows_open, 0) : null;
};
const dropped = (batch) => added(chosenOf(batch).map((it) => it.dropped));
const reasons = (found) => Object.entries(found).sort((a, b) => b[1] - a[1]).map(([reason, n]) => `${count(n)} ${reason}`).join(", ");
const timeParts = (batch) => {
  const rest = batch.took - Object.values(batch.parts).reduce((a, b) => a + b, 0);
  return rest > 0 ? { ...batch.parts, "the rest": rest } : batch.parts;
};

// Instants short enough for an axis: the year of days in a row goes without saying.
function day(batches) {
  const known = batches.map((it) => it.watermark).filter((it) => it !== null);
  const isLong = known.at(-1) - known[0] > 60 * 86400000;
  return (ms) => (isLong ? instant(Math.round(ms)).slice(0, 10) : instant(Math.round(ms)).slice(5, 16));
}

function charts(query) {
  const batches = query.recent.slice(-SHOWN), last = batches.at(-1);
  const behind = (it) => (it.watermark === null ? null : it.began_ms + it.took - it.watermark);
  const replayed = last.watermark !== null && behind(last) > REPLAYED_MS;
  const drawn = [
    replayed
      ? curve("Watermark (UTC)", batches, (it) => it.watermark, day(batches), false, "water")
      : curve("Watermark behind the clock", batches, behind, duration, false, "water"),
  ];
  if (query.groupings.length) {
    drawn.push(
      curve("Open windows", batches, windowsOpen, (n) => count(Math.round(n))),
      bars("Panes in each batch", batches, TIMINGS.map(([timing, name, tone]) => [tone, name, (it) => summed(it, (of) => of.panes[timing])]), count),
      bars("Dropped rows in each batch", batches, largest(batches, dropped), count));
  }
  drawn.push(
    bars("Time of a batch", batches, largest(batches, timeParts), duration),
    curve("Rows in a second", batches, (it) => it.rate, rate),
    curve(last.state_disk === null ? "State in memory" : "State in files", batches, (it) => it.state_disk ?? it.state_memory, bytes));
  return drawn;
}

function fact(name, main, more = "", kind = "") {
  return make("div", kind ? { class: kind } : {}, make("dt", {}, name), make("dd", { class: "main" }, main), make("dd", { class: "more" }, more));
}

function facts(query, now) {
  const last = query.recent.at(-1), until = query.ended ?? now;
  const behind = last.watermark === null ? "" : `${duration(until - last.watermark)} behind the clock`;
  const seen = query.recent.map((it) => it.newest).filter((it) => it !== null);
  const newest = seen.length ? seen.reduce((a, b) => Math.max(a, b)) : null;
  const data = newest === null || last.watermark === null ? "" : `, ${duration(newest - last.watermark)} behind the newest row`;
  const parts = Object.entries(timeParts(last)).slice(0, 2).map(([name, ms]) => `${name} ${duration(ms)}`).join(", ");
  const found = [fact("Watermark (UTC)", instant(last.watermark), behind + data, "wide")];
  if (query.groupings.length) {
    const open = Object.values(last.groupings).map((it) => it.windows_open).filter((it) => it !== null);
    const all = (what) => query.groupings.flatMap((it) => Object.values(it[what])).reduce((a, b) => a + b, 0);
    const split = added(query.groupings.map((it) => it.panes));
    found.push(
      fact("Open windows", open.length ? count(open.reduce((a, b) => a + b, 0)) : "?", "that the state keeps"),
      fact("Panes", count(all("panes")), TIMINGS.map(([timing, name]) => `${count(split[timing] || 0)} ${name}`).join(", ")),
      fact("Dropped rows", count(all("dropped")), reasons(added(query.groupings.map((it) => it.dropped)))));
  }
  found.push(
    fact("Last batch", `${last.batch}`, `${many(last.rows, "row", "rows")}, begun ${duration(until - last.began_ms)} before ${query.ended ? "the end" : "now"}`),
    fact("Time of a batch", duration(last.took), parts),
    fact("Rows in a second", last.rate === null ? "?" : rate(last.rate), `${last.arriving === null ? "?" : rate(last.arriving)} arrived in a second, ${count(query.rows)} in all`),
    fact("State", last.state_disk === null ? bytes(last.state_memory) : bytes(last.state_disk), `${last.state_disk === null ? "in memory" : `in files, ${bytes(last.state_memory)} in memory`}, ${many(last.state_rows, "row", "rows")} of the store`));
  return found;
}

const cell = (text, kind = "number") => make("td", kind ? { class: kind } : {}, text);

function groupingRows(query) {
  const last = query.recent.at(-1);
  return query.groupings.map((it) => {
    const now = last.groupings[it.name];
    const both = (total, of) => make("td", { class: "number" }, count(total), " ", make("small", {}, now ? `+${count(of(now))}` : ""));
    return make("tr", {}, make("th", { scope: "row" }, it.name),
      ...(now && now.is_source ? [cell("a source", ""), cell(""), ...TIMINGS.map(() => cell(""))] : [
        cell(now ? instant(now.watermark) : "?", ""),
        cell(now ? count(now.windows_open) : "?"),
        ...TIMINGS.map(([timing]) => both(it.panes[timing] || 0, (of) => of.panes[timing] || 0))]),
      both(Object.values(it.dropped).reduce((a, b) => a + b, 0), (of) => Object.values(of.dropped).reduce((a, b) => a + b, 0)));
  });
}

function dropRows(query) {
  const last = query.recent.at(-1);
  const rows = query.groupings.flatMap((it) => Object.entries(it.dropped).sort((a, b) => b[1] - a[1]).map(([reason, n]) =>
    make("tr", {}, make("th", { scope: "row" }, reason), cell(it.name, ""), cell(REASONS[reason] || "", ""),
      cell(count(last.groupings[it.name]?.dropped[reason] || 0)), cell(count(n)))));
  return rows.length ? rows : [make("tr", {}, make("td", { colspan: 5 }, "None so far."))];
}

function batchTable(query) {
  const several = query.groupings.length > 1 && !grouping ? ", all groupings" : "";
  const counted = query.groupings.length > 0;
  const columns = [
    ["batch", (it) => `${it.batch}`], ["begun (UTC)", (it) => instant(it.began_ms)], ["time", (it) => duration(it.took)],
    ["rows", (it) => count(it.rows)], ["rows in a second", (it) => rate(it.rate)], ["watermark (UTC)", (it) => instant(it.watermark)],
    ...(counted ? [
      [`open windows${several}`, (it) => count(windowsOpen(it))],
      ...TIMINGS.map(([timing, name]) => [name, (it) => count(summed(it, (of) => of.panes[timing]))]),
      ["dropped", (it) => reasons(dropped(it)) || "0"]] : []),
    ["state rows", (it) => count(it.state_rows)], ["state memory", (it) => bytes(it.state_memory)], ["state files", (it) => bytes(it.state_disk)],
    ["time went to", (it) => Object.entries(timeParts(it)).map(([name, ms]) => `${name} ${duration(ms)}`).join(", ")],
  ];
  fill($("columns"), ...columns.map(([name]) => make("th", { scope: "col", class: "number" }, name)));
  fill($("batches"), ...query.recent.slice(-SHOWN).reverse().map((batch) => make("tr", {}, ...columns.map(([, of]) => cell(of(batch))))));
}

// -- the page ---------------------------------------------------------------------------------

const WORDS = { starting: "starting", running: "running", stopped: "stopped", failed: "failed" };

function notice(queries, query) {
  if (lost) return "No answer: the view was closed, or its process has ended. Below is the last that was known.";
  if (!queries.length) return "No streaming query yet. As soon as one starts in this session, it is here.";
  if (query.recent.length) return "";
  return query.state === "starting" || query.state === "running"
    ? "The query has started. Its numbers come with its first micro-batch." : "The query ended before its first micro-batch.";
}

function show() {
  const queries = report ?? [], now = Date.now() + skew;
  const query = queries.find((it) => it.run === chosen) ?? queries.find((it) => it.ended === null) ?? queries[0];
  say("clock", report ? `${instant(Math.floor(now / 1000) * 1000)} UTC` : "");
  say("notice", report || lost ? notice(queries, query) : "Loading ...");
  $("query").hidden = !query;
  $("queries").hidden = queries.length < 2;
  if (!query) return;
  const names = queries.map((it) => it.name);
  const buttons = queries.map((it) => {
    const again = names.filter((name) => name === it.name).length > 1 ? ` since ${instant(it.since)}` : "";
    return make("button", { type: "button", "aria-pressed": String(it === query), "data-run": it.run }, `${it.name}${again}: ${WORDS[it.state]}`);
  });
  const focused = document.activeElement?.dataset?.run;
  fill($("queries"), ...buttons);
  if (focused) [...$("queries").children].find((it) => it.dataset.run === focused)?.focus();
  document.title = `${query.name}: ${WORDS[query.state]} - beamlike`;
  say("name", query.name);
  say("state", WORDS[query.state]);
  $("state").className = query.state;
  $("problem").hidden = !query.problem;
  say("problem-kind", query.problem ? `The query failed: ${query.problem.error_class}` : "");
  say("problem-text", query.problem ? query.problem.text : "");
  const some = query.recent.length > 0, counted = query.groupings.length > 0;
  for (const id of ["facts", "charts"]) $(id).hidden = !some;
  document.querySelector("details").hidden = !some;
  $("counted").hidden = !counted;
  say("remark", some && !counted ? "No grouping of beamlike's reports from this query, so that panes, dropped rows and open windows are not known. Groupings of windowed, of stream and of pipelines over streams report." : "");
  if (!some) return;
  if (!query.groupings.some((it) => it.name === grouping)) grouping = "";
  $("choice").hidden = query.groupings.length < 2;
  fill($("grouping"), ...["", ...query.groupings.map((it) => it.name)].map((name) =>
    make("option", { value: name }, name || "all groupings")));
  $("grouping").value = grouping;
  fill($("facts"), ...facts(query, now));
  for (const place of document.querySelectorAll(".first")) place.textContent = `batch ${query.first}`;
  fill($("groupings"), ...groupingRows(query));
  fill($("drops"), ...dropRows(query));
  fill($("charts"), ...charts(query));
  batchTable(query);
}

async function ask() {
  if (!paused && !document.hidden) {
    try {
      const answer = await fetch("data.json", { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
      if (answer.status === 200) {
        const news = await answer.json();
        tag = answer.headers.get("ETag");
        skew = news.now - Date.now();
        report = news.queries;
      } else if (answer.status !== 304) {
        throw new Error(answer.statusText);
      }
      lost = false;
    } catch {
      lost = true;
    }
    if (!paused) show();
  }
  setTimeout(ask, ASK_EVERY_MS);
}

$("pause").addEventListener("click", () => {
  paused = !paused;
  $("pause").setAttribute("aria-pressed", String(paused));
});
$("queries").addEventListener("click", (event) => {
  const run = event.target.closest("button")?.dataset.run;
  if (run) { chosen = run; history.replaceState(null, "", `#${run}`); show(); }
});
$("grouping").addEventListener("change", (event) => { grouping = event.target.value; show(); });
chosen = location.hash.slice(1) || null;
patterns();
ask();
