// The state of the page is a scenario, a key and a step, all of them in the address.

const book = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const OVERVIEW_FROM = 60; // so many steps do not fit on a screen with their labels
const PAPER = 900; // px; a higher figure does not fit on a page
const here = { scenario: 0, key: 0, position: 0, small: null, paper: false };

const figure = new Figure(at("figure"), at("axis"), go);
const scenarioNow = () => book.scenarios[here.scenario];
const streamNow = () => scenarioNow().streams[here.key];

function fragment(position) {
  const parts = ["step=" + scenarioNow().steps[position].step];
  if (scenarioNow().streams.length > 1) parts.push("key=" + (here.key + 1));
  if (book.scenarios.length > 1) parts.push("scenario=" + (here.scenario + 1));
  return "#" + parts.join("&");
}

function readFragment() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const within = (name, count) => {
    const number = Number.parseInt(asked.get(name), 10) - 1;
    return number >= 0 && number < count ? number : 0;
  };
  here.scenario = within("scenario", book.scenarios.length);
  here.key = within("key", scenarioNow().streams.length);
  const step = Number.parseInt(asked.get("step"), 10);
  // A step that is past the end is the last one.
  const found = scenarioNow().steps.findIndex((one) => one.step >= step);
  here.position = found >= 0 ? found : step > 0 ? scenarioNow().steps.length - 1 : 0;
}

function go(position) {
  const last = scenarioNow().steps.length - 1;
  here.position = Math.min(Math.max(position, 0), last);
  try {
    history.replaceState(null, "", fragment(here.position));
  } catch {
    // In a frame without an address of its own there is nothing to link to.
  }
  show();
}

function isSmall() {
  return here.paper || (here.small ?? scenarioNow().steps.length >= OVERVIEW_FROM);
}

function show() {
  const scenario = scenarioNow(), stream = streamNow(), position = here.position;
  const last = scenario.steps.length - 1, step = scenario.steps[position];
  const slider = at("slider");
  slider.max = last;
  slider.value = position;
  slider.setAttribute("aria-valuetext", `step ${step.step}: ${step.title}`);
  at("count").textContent = `${position + 1} of ${last + 1}`;
  at("first").disabled = at("back").disabled = position === 0;
  at("last").disabled = at("forward").disabled = position === last;
  at("density").setAttribute("aria-pressed", isSmall());
  figure.show(scenario, stream, position, isSmall(), describe(scenario, stream, position));
  keepInView();
  showSaid(at("said"), scenario, stream, position);
  showClocks(at("clocks"), scenario, position);
  showWindows(at("windows"), scenario, stream, position);
  if (at("panes-so-far").open) showPanes(at("panes"), stream, step.step);
  if (at("story").open) markStory();
}

/** Scroll the figure, and nothing else, so that the present is in it. */
function keepInView() {
  const box = at("scroll"), row = figure.plan.rows[here.position];
  const seenAt = (row.y1 - box.scrollTop) / box.clientHeight;
  // What has happened lies below the present, so that is kept in the upper half.
  if (seenAt < 0.1 || seenAt > 0.55) box.scrollTop = row.y1 - 0.3 * box.clientHeight;
}

function markStory() {
  for (const item of at("sentences").children) {
    if (Number(item.dataset.at) === here.position) item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
  }
}

function tellStory() {
  showStory(at("sentences"), scenarioNow(), streamNow(), fragment);
  markStory();
}

function options(select, names, chosen) {
  select.replaceChildren();
  names.forEach((name, number) => html(select, "option", { value: number }, name));
  select.value = chosen;
}

/** Another scenario or key: everything that does not depend on the step. */
function turnTo() {
  const scenario = scenarioNow();
  at("title").textContent = document.title = scenario.title;
  const list = at("windowing");
  list.replaceChildren();
  for (const [label, text] of scenario.windowing) {
    const group = html(list, "div", {});
    html(group, "dt", {}, label);
    html(group, "dd", {}, text);
  }
  at("scenario-choice").hidden = book.scenarios.length < 2;
  at("key-choice").hidden = scenario.streams.length < 2;
  options(at("scenario"), book.scenarios.map((one) => one.title), here.scenario);
  options(at("key"), scenario.streams.map((one) => one.key), here.key);
  if (at("story").open) tellStory();
  show();
}

function listen() {
  at("first").addEventListener("click", () => go(0));
  at("back").addEventListener("click", () => go(here.position - 1));
  at("forward").addEventListener("click", () => go(here.position + 1));
  at("last").addEventListener("click", () => go(Infinity));
  new Playing(at("play"), {
    isAtEnd: () => here.position === scenarioNow().steps.length - 1,
    forward: () => go(here.position + 1),
    rewind: () => go(0),
  });
  at("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  at("density").addEventListener("click", () => {
    here.small = !isSmall();
    show();
  });
  at("scenario").addEventListener("change", (event) => {
    Object.assign(here, { scenario: Number(event.target.value), key: 0, position: 0, small: null });
    turnTo();
    go(0);
  });
  at("key").addEventListener("change", (event) => {
    here.key = Number(event.target.value);
    turnTo();
    go(here.position);
  });
  at("story").addEventListener("toggle", tellStory);
  at("panes-so-far").addEventListener("toggle", show);
  addEventListener("hashchange", () => {
    readFragment();
    turnTo();
  });
  const keys = {
    ArrowLeft: () => go(here.position - 1),
    ArrowRight: () => go(here.position + 1),
    PageUp: () => go(here.position - 10),
    PageDown: () => go(here.position + 10),
    Home: () => go(0),
    End: () => go(Infinity),
  };
  addEventListener("keydown", (event) => {
    const elsewhere = event.target instanceof Element && event.target.matches("select, textarea");
    if (elsewhere || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  let width = 0;
  new ResizeObserver(() => {
    if (at("scroll").clientWidth === width) return;
    width = at("scroll").clientWidth;
    show();
  }).observe(at("scroll"));
  // On paper nothing can be opened or scrolled: all is printed, the figure on one page.
  addEventListener("beforeprint", () => {
    at("story").open = at("panes-so-far").open = true;
    here.paper = figure.plan.height > PAPER;
    tellStory();
    show();
    for (const details of document.querySelectorAll("#windows details")) details.open = true;
  });
  addEventListener("afterprint", () => {
    here.paper = false;
    show();
  });
}

// A scenario without a step has nothing to step through.
book.scenarios = book.scenarios.filter((scenario) => scenario.steps.length);
if (book.scenarios.length) {
  book.scenarios.forEach(unfold);
  at("app").hidden = false;
  readFragment();
  showLegend(at("legend"));
  listen();
  turnTo();
} else {
  at("empty").hidden = false;
}
