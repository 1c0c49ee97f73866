// The words beside the figure. Every text is set as text, never as markup.

const MOST_WINDOWS = 12;
const MOST_OPEN = 2; // with more windows than that, those that did not change are folded

function html(parent, name, attributes, text) {
  const node = document.createElement(name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function sentences(parent, said) {
  const list = html(parent, "ul", { class: "sentences" });
  for (const [kind, text] of said) html(list, "li", { class: kind }, text);
  return list;
}

function showSaid(root, scenario, stream, at) {
  root.replaceChildren();
  const step = scenario.steps[at];
  html(root, "p", { class: "eyebrow" }, `Step ${step.step}, ${at + 1} of ${scenario.steps.length}`);
  html(root, "h2", {}, step.title);
  sentences(root, stream.moments[at].said);
}

function showClocks(root, scenario, at) {
  root.replaceChildren();
  const step = scenario.steps[at], before = at ? scenario.steps[at - 1] : step;
  for (const [name, label] of [
    ["watermarkText", "watermark"], ["clockText", "processing time"], ["outputText", "output watermark"],
  ]) {
    const group = html(root, "div", step[name] !== before[name] ? { class: "moved" } : {});
    html(group, "dt", {}, label);
    html(group, "dd", {}, step[name]);
  }
}

/** The window and all that merged into it up to a step, so that their panes are shown too. */
function ancestry(stream, window, step) {
  const family = [window];
  for (const merge of [...stream.merges].reverse()) {
    if (merge.step <= step && family.some((one) => sameWindow(one, merge.into))) family.push(...merge.sources);
  }
  return family;
}

function showTrigger(parent, node, isRoot) {
  const item = html(parent, "li", {});
  const line = html(item, "div", { class: "node" });
  const role = node.path.slice(node.path.lastIndexOf(".") + 1);
  if (!isRoot && !/^\d/.test(role)) html(line, "span", { class: "role" }, role + ":");
  html(line, "code", {}, node.name);
  const state = node.over ? "the early phase is over" : node.finished ? "finished" : node.ready ? "ready" : "waiting";
  html(line, "span", { class: "state " + (node.over ? "finished" : state) }, state);
  // What a trigger and the one below it both wait for is said once, below.
  const isSaidBelow = node.subs.some((sub) => !sub.finished && sub.waits === node.waits);
  if (node.ready && isRoot) html(line, "span", { class: "waits" }, "fires with the next element");
  if (!node.ready && !node.finished && !isSaidBelow) html(line, "span", { class: "waits" }, "waits for " + node.waits);
  if (node.subs.length) {
    const list = html(item, "ul", {});
    for (const sub of node.subs) showTrigger(list, sub, false);
  }
}

function showWindow(parent, view, panes, isChanged, isOpen) {
  const classes = ["window", "card", view.closed ? "closed" : "", isChanged ? "changed" : ""];
  const card = html(parent, "details", { class: classes.filter(Boolean).join(" ") });
  card.open = isOpen;
  const title = html(html(card, "summary", {}), "h3", {}, view.name);
  if (isChanged) {
    title.append(" ");
    html(title, "span", { class: "new" }, "changed in this step");
  }
  const brief = `${view.closed ? "closed" : view.resting ? "retained" : "open"}, ${counted(panes.length, "pane")}`;
  html(title.parentNode, "span", { class: "brief" }, brief);
  const news = panes.length ? "new element" : "element";
  const came = view.waiting ? counted(view.waiting, news) : "no " + news;
  // A session that grew from others has their panes to show, and maybe none of its own.
  const since = view.shown ? `${view.waiting ? counted(view.waiting, "element") : "no element"} since its last pane`
    : `no pane ${panes.length ? "of its own " : ""}yet, ${came}`;
  html(card, "p", {}, view.closed
    ? `Closed: its trigger has finished, it takes no more elements. Forgotten once the watermark passes ${view.expires}.`
    : view.resting
    ? `Retained: it has expired, and waits for an element that reaches it. Forgotten once the watermark passes ${view.forgotten}.`
    : `Open: ${since}. Takes elements until the watermark passes ${view.expires}.`);
  if (panes.length) {
    const list = html(card, "ul", { class: "chips", "aria-label": "Panes so far" });
    for (const [pane, isWithdrawn] of panes) {
      const chip = html(list, "li", { class: toneOf(pane.timing) });
      const struck = isWithdrawn || pane.retraction;
      const text = `${paneName(pane)}: ${pane.value}`;
      if (pane.retraction || isWithdrawn) html(chip, "span", {}, pane.retraction ? "withdrawal of " : "withdrawn: ");
      html(chip, struck ? "s" : "span", { class: "mono" }, text);
    }
  }
  showTrigger(html(card, "ul", { class: "tree", "aria-label": "Trigger" }), view.trigger, true);
}

function showWindows(root, scenario, stream, at) {
  root.replaceChildren();
  const step = scenario.steps[at].step;
  const before = new Set(at ? stream.moments[at - 1].windows : []);
  const concerned = [
    ...stream.panes.filter((pane) => pane.step === step).map((pane) => pane.window),
    ...stream.merges.filter((merge) => merge.step === step).map((merge) => merge.into),
  ];
  const views = stream.moments[at].windows.map((number) => {
    const view = scenario.views[number];
    // A window that took an element and emitted it at once looks as before.
    const isConcerned = concerned.some((window) => sameWindow(window, view.window));
    return { view, isChanged: isConcerned || !before.has(number) };
  });
  if (!views.length) {
    const was = stream.lives.some((life) => life.start <= step);
    const none = was ? "No window is left: nothing is remembered." : "No window yet.";
    html(root, "p", { class: "none" }, scenario.grouped ? none : "Nothing is grouped: no window is remembered.");
    return;
  }
  // With many windows, those that something happened to come first.
  if (views.length > MOST_WINDOWS) views.sort((a, b) => b.isChanged - a.isChanged);
  const show = (parent, { view, isChanged }) => {
    const family = ancestry(stream, view.window, step);
    const panes = stream.panes
      .filter((pane) => pane.step <= step && !pane.retraction && family.some((one) => sameWindow(one, pane.window)))
      .map((pane) => [pane, pane.withdrawn !== null && pane.withdrawn <= step]);
    showWindow(parent, view, panes, isChanged, isChanged || views.length <= MOST_OPEN);
  };
  for (const each of views.slice(0, MOST_WINDOWS)) show(root, each);
  const rest = views.slice(MOST_WINDOWS);
  if (rest.length) {
    const more = html(root, "details", { class: "more" });
    html(more, "summary", {}, `${counted(rest.length, "more window")}`);
    more.addEventListener("toggle", () => rest.splice(0).forEach((each) => show(more, each)));
  }
}

function showPanes(table, stream, step) {
  table.replaceChildren();
  html(table, "caption", { class: "aloud" }, "Panes and drops in order");
  const head = html(html(table, "thead", {}), "tr", {});
  for (const name of ["step", "window", "pane", "stamped", "value", "why"]) html(head, "th", { scope: "col" }, name);
  const body = html(table, "tbody", {});
  const rows = [
    ...stream.panes.map((pane) => ({
      step: pane.step, window: pane.name, at: pane.at, value: pane.value, why: pane.by,
      what: `${pane.retraction ? "withdrawal of " : ""}${paneName(pane)}${pane.last ? ", last" : ""}`,
      struck: pane.retraction || (pane.withdrawn !== null && pane.withdrawn <= step),
    })),
    ...stream.elements.filter((element) => element.lost).map((element) => ({
      step: element.step, window: element.refused, at: element.when, value: element.value, why: element.why,
      what: element.lost === "all" ? "dropped" : "dropped in part",
    })),
    ...stream.losses.map((loss) => ({ step: loss.step, window: "", at: "", value: loss.text, why: "", what: "dropped" })),
  ].filter((row) => row.step <= step).sort((a, b) => a.step - b.step);
  for (const row of rows) {
    const line = html(body, "tr", {});
    html(line, "td", {}, row.step);
    html(line, "td", { class: "mono" }, row.window);
    html(line, "td", {}, row.what);
    html(line, "td", { class: "mono" }, row.at);
    html(line, "td", { class: "mono value" + (row.struck ? " struck" : "") }, row.value);
    html(line, "td", { class: "mono why" }, row.why);
  }
  if (!rows.length) html(html(body, "tr", {}), "td", { colspan: 6 }, "Nothing came out yet, and nothing was dropped.");
}

function showStory(list, scenario, stream, linkTo) {
  list.replaceChildren();
  scenario.steps.forEach((step, at) => {
    const item = html(list, "li", { "data-at": at });
    html(item, "a", { href: linkTo(at) }, `Step ${step.step}: ${step.title}`);
    sentences(item, stream.moments[at].said);
  });
}

/** The figure in words, for those who do not see it: a name, and what it shows. */
function describe(scenario, stream, at) {
  const step = scenario.steps[at], upTo = (things) => things.filter((thing) => thing.step <= step.step);
  const elements = upTo(stream.elements), lost = elements.filter((element) => element.lost === "all").length;
  const windows = stream.moments[at].windows.map((number) => scenario.views[number].name);
  const panes = upTo(stream.panes).map(
    (pane) => `${pane.retraction ? "withdrawal of " : ""}${paneName(pane)} of ${pane.name}: ${pane.value}`,
  );
  const some = (names, none) => {
    if (!names.length) return none;
    return names.slice(-12).join("; ") + (names.length > 12 ? `; and ${names.length - 12} before` : "");
  };
  return [
    `Timeline of ${stream.key} up to step ${step.step}`,
    `Event time across, ${scenario.clockMoves ? "processing time" : "order of arrival"} upwards. ${counted(elements.length, "element")}, ${lost} dropped. ` +
      `The watermark stands at ${step.watermarkText}. Windows: ${some(windows, "none")}. Panes: ${some(panes, "none yet")}.`,
  ];
}
