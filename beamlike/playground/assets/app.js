// The page: a sketch, what Python made of it, and the step that is shown.

const at = (id) => document.getElementById(id);
const here = { position: 0, isAtEnd: true, key: 0, selected: null, frames: null };
let sketch, made = null, opened = [], panels = [], codes = "";

const python = new Python((broken) => {
  if (broken) say("Python cannot be started: " + broken, true);
  else begin();
});

function say(text, isBad = false) {
  at("status").textContent = text;
  at("status").classList.toggle("bad", isBad);
}

// -- drawing --------------------------------------------------------------------------------------

/** What the answer to a request speaks of; the sketch may have changed when it comes. */
function names() {
  const byClock = sketch.steps.map((step, n) => [step, n]).sort((a, b) => a[0].clock - b[0].clock || a[1] - b[1]).map(([step]) => step);
  const inOrder = byClock.flatMap((step) => step.elements ?? []);
  const keys = sketch.rule.rule === "drawn" ? sketch.keys : [...new Map(inOrder.map((it) => [JSON.stringify(it.key), it.key])).values()];
  const ofKey = (key) => inOrder.filter((it) => JSON.stringify(it.key) === JSON.stringify(key)).map((it) => ({ ...it }));
  const moves = sketch.rule.rule === "drawn" ? sketch.moves().map((move) => move.id) : [];
  return { keys, elements: keys.map(ofKey), moves };
}

function redraw() {
  const spoken = names();
  python.draw(sketch.plain(), (answer) => {
    if (answer.problem) {
      say(answer.problem, true);
      return;
    }
    if (at("status").classList.contains("bad")) say("");
    answer.panels.forEach((panel) => panel.scenario && unfold(panel.scenario));
    made = { panels: answer.panels, moves_made: answer.moves, ...spoken };
    here.key = Math.min(here.key, Math.max(0, made.keys.length - 1));
    show();
    const written = made.panels.map((panel) => panel.code).join();
    if (written !== codes) showForms(); // they have the code of other systems
    codes = written;
    document.documentElement.dataset.drawn = Number(document.documentElement.dataset.drawn ?? 0) + 1;
  });
}

/** After each change: draw, and have the address say it. */
function changed() {
  redraw();
  clearTimeout(changed.timer);
  changed.timer = setTimeout(async () => {
    const address = "#s=" + (await toAddress(sketch.plain()));
    history.replaceState(null, "", address);
  }, 250);
}

function change(alter) {
  sketch.keep();
  alter();
  if (!sketch.find(here.selected ?? 0)) here.selected = null;
  changed();
  showForms();
}

function shownScenario() {
  return made.panels.find((panel) => panel.scenario)?.scenario;
}

function show() {
  makePanels();
  const scenario = shownScenario();
  made.panels.forEach((panel, n) => panels[n].show(panel));
  if (!scenario) return;
  const last = scenario.steps.length - 1, stream = scenario.streams[here.key];
  if (here.isAtEnd || here.position > last) here.position = Math.max(0, last);
  if (last < 0) return;
  made.panels.forEach((panel, n) => panel.scenario && panels[n].draw(panel.scenario));
  Object.assign(at("slider"), { max: last, value: here.position });
  at("slider").setAttribute("aria-valuetext", `step ${here.position}: ${scenario.steps[here.position].title}`);
  at("count").textContent = `${here.position + 1} of ${last + 1}`;
  at("first").disabled = at("back").disabled = here.position === 0;
  at("last").disabled = at("forward").disabled = here.position === last;
  at("undo").disabled = !sketch.past.length;
  at("redo").disabled = !sketch.future.length;
  at("add-move").disabled = sketch.rule.rule !== "drawn";
  at("key-choice").hidden = made.keys.length < 2;
  options(at("key"), made.keys.map(valueText), here.key);
  showSaid(at("said"), scenario, stream, here.position);
  showClocks(at("clocks"), scenario, here.position);
  showWindows(at("windows"), scenario, stream, here.position);
  showPanes(at("panes"), stream, scenario.steps[here.position].step);
}

function options(select, texts, chosen) {
  if (select.dataset.texts !== JSON.stringify(texts)) {
    select.dataset.texts = JSON.stringify(texts);
    select.replaceChildren();
    texts.forEach((text, n) => html(select, "option", { value: n }, text));
  }
  select.value = chosen;
}

/** One strategy: its figure, its form and its report. */
class Panel {
  constructor(number) {
    this.number = number;
    const copy = at("panel").content.cloneNode(true);
    this.root = copy.firstElementChild;
    at("panels").append(copy);
    this.part = (name) => this.root.querySelector(name);
    const prefix = `p${number}-`;
    this.part("h2").id = prefix + "title";
    this.root.setAttribute("aria-labelledby", prefix + "title");
    this.part(".drawing").setAttribute("aria-labelledby", prefix + "figure-title");
    this.part(".drawing").setAttribute("aria-describedby", prefix + "figure-description");
    this.figure = new Figure(this.part(".drawing"), this.part(".axis"), go, prefix);
    this.handles = new Handles(this.part(".handles"), hooks(this));
    showLegend(this.part(".legend"), prefix);
  }

  show(panel) {
    this.part("h2").textContent = sketch.strategies.length > 1 ? `Strategy ${this.number + 1}` : sketch.title;
    this.part(".problem").hidden = !panel.problem;
    this.part(".problem").textContent = panel.problem ?? "";
    if (panel.problem) return;
    const list = this.part(".warnings");
    list.replaceChildren();
    for (const warning of panel.warnings) html(list, "li", {}, warning);
    this.part(".report pre").textContent = panel.report;
  }

  draw(scenario) {
    const stream = scenario.streams[here.key];
    const position = Math.min(here.position, scenario.steps.length - 1);
    this.figure.show(scenario, stream, position, false, describe(scenario, stream, position), here.frames?.[this.number]);
    const moves = made.moves.map((id, n) => ({ id, ...made.moves_made[n] }));
    this.handles.place(this.figure.plan, stream, made.elements[here.key] ?? [], moves);
  }

  get frame() {
    const { axis, clock, height } = this.figure.plan;
    return { axis, clock, height };
  }
}

function makePanels() {
  while (panels.length > sketch.strategies.length) panels.pop().root.remove();
  while (panels.length < sketch.strategies.length) {
    panels.push(new Panel(panels.length));
    showForms();
  }
  at("panels").classList.toggle("two", panels.length > 1);
  at("compare").setAttribute("aria-pressed", panels.length > 1);
}

// -- changes ----------------------------------------------------------------------------------------

function hooks(panel) {
  const move = (id, to, clock) => {
    const { step, element } = sketch.find(id);
    if (element) sketch.moveElement(id, to, clock ?? step.clock);
    else sketch.moveWatermark(id, to, clock ?? step.clock);
  };
  return {
    selected: () => here.selected,
    select: (id) => {
      if (here.selected === id) return;
      here.selected = id;
      for (const each of panels) {
        for (const [other, button] of each.handles.buttons) button.classList.toggle("selected", other === id);
      }
      showSelected();
    },
    begin: () => {
      sketch.keep();
      here.frames = panels.map((each) => each.frame);
    },
    move: (id, to, clock) => {
      move(id, to, clock);
      changed();
    },
    end: () => {
      here.frames = null;
      changed();
      showForms();
    },
    nudge: (id, across, up, order) => {
      change(() => {
        const { step, element } = sketch.find(id);
        const from = element ? element.at : step.watermark;
        if (order && !panel.figure.plan.clocked) sketch.moveInOrder(id, order);
        else move(id, from === null ? null : from + across, Math.max(0, step.clock + up));
      });
    },
    remove: (id) => change(() => sketch.remove(id)),
  };
}

/** Make a form anew, with the focus and what is open as before. */
function refill(root, fill) {
  const controls = () => [...root.querySelectorAll("select, input, button, summary")];
  const focused = controls().indexOf(document.activeElement);
  const open = [...root.querySelectorAll("details")].map((details) => details.open);
  fill();
  [...root.querySelectorAll("details")].forEach((details, n) => (details.open = open[n] ?? false));
  if (focused >= 0) controls()[focused]?.focus();
}

function showForms() {
  refill(at("rule"), () => ruleForm(at("rule"), sketch.rule, (rule) => change(() => {
    // The watermark begins as the rule made it, and can then be dragged.
    if (rule.rule === "drawn" && sketch.rule.rule !== "drawn") sketch.draw(made.moves_made.map((move) => ({ clock: shownScenario().steps[move.step].clock, to: move.to })));
    else sketch.rule = rule;
  })));
  panels.slice(0, sketch.strategies.length).forEach((panel, n) => {
    const form = panel.part(".choices-of");
    refill(form, () => strategyForm(form, sketch.strategies[n], made?.panels[n], (strategy) => change(() => (sketch.strategies[n] = strategy))));
  });
  showSelected();
}

function showSelected() {
  const found = here.selected === null ? null : sketch.find(here.selected);
  refill(at("selected"), () => selectedForm(at("selected"), sketch, found, change, () => change(() => sketch.remove(here.selected))));
}

function load(plain) {
  if (sketch) {
    sketch.keep();
    sketch.load(plain);
  } else sketch = new Sketch(plain);
  Object.assign(here, { isAtEnd: true, key: 0, selected: null });
  changed();
  showForms();
}

// -- stepping -----------------------------------------------------------------------------------------

function go(position) {
  const last = shownScenario().steps.length - 1;
  here.position = Math.min(Math.max(position, 0), last);
  here.isAtEnd = here.position === last;
  show();
}

// -- ways in and out -----------------------------------------------------------------------------------

async function open(file) {
  const answer = await python.ask("open", { text: await file.text(), name: file.name });
  if (answer.problem) {
    say(answer.problem, true);
    return;
  }
  opened = answer.sketches;
  at("opened-choice").hidden = opened.length < 2;
  options(at("opened"), opened.map((one) => one.title), 0);
  say(answer.problem_of_others || `Opened ${file.name}.`, Boolean(answer.problem_of_others));
  load(opened[0]);
}

function picture() {
  return pictureOf(panels.filter((panel) => panel.figure.plan).map((panel) => [panel.part(".drawing"), panel.part(".axis")]));
}

/** Every step as it is drawn, in one animation. */
async function animation() {
  const before = here.position, pictures = [], count = shownScenario().steps.length;
  for (let step = 0; step < count; step += 1) {
    go(step);
    pictures.push(await pixelsOf(picture()));
  }
  go(before);
  return asGif(pictures, STEP_MS, 3000);
}

const PICTURES = {
  svg: () => new Blob([picture().text], { type: "image/svg+xml" }),
  png: () => asPng(picture()),
  gif: animation,
};

async function save(how) {
  const name = sketch.title.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_|_$/g, "") || "playground";
  if (PICTURES[how]) {
    download(`${name}.${how}`, await PICTURES[how]());
    return;
  }
  say("Writing …");
  const answer = await python.ask(how, { sketch: sketch.plain(), strategy_index: 0 });
  if (answer.problem) {
    say(answer.problem, true);
    return;
  }
  say("");
  const [file, type] = how === "python" ? [`test_${name}.py`, "text/x-python"] : [`${name}.json`, "application/json"];
  download(file, new Blob([answer.text], { type }));
}

async function share() {
  const address = location.href.split("#")[0] + "#s=" + (await toAddress(sketch.plain()));
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(address);
    say("The address is in the clipboard.");
  } catch {
    say("The address of this page now holds the stream; copy it from there.");
  }
}

function add(kind) {
  const { axis, clock } = panels[0].figure.plan;
  const steps = sketch.steps, middle = Math.round((axis.start + axis.end) / 2 / SECOND) * SECOND;
  const when = clock ? Math.round((clock.start + clock.end) / 2 / SECOND) * SECOND : steps[steps.length - 1]?.clock ?? 0;
  change(() => {
    here.selected = kind === "move" ? sketch.addMove(middle, when) : sketch.add(made.keys[here.key] ?? "key", 1, middle, when);
    if (here.selected === null) say("The watermark has come to the end of time before that; move its last point later.", true);
  });
}

function listen() {
  const click = (id, act) => at(id).addEventListener("click", act);
  const choose = (id, act) => at(id).addEventListener("change", () => at(id).value !== "" && act(at(id).value));
  click("first", () => go(0));
  click("back", () => go(here.position - 1));
  click("forward", () => go(here.position + 1));
  click("last", () => go(Infinity));
  new Playing(at("play"), { isAtEnd: () => here.isAtEnd, forward: () => go(here.position + 1), rewind: () => go(0) });
  at("slider").addEventListener("input", () => go(Number(at("slider").value)));
  const revert = (which) => () => {
    if (!sketch[which]()) return;
    here.selected = null;
    changed();
    showForms();
  };
  click("undo", revert("undo"));
  click("redo", revert("redo"));
  click("add", () => add("element"));
  click("add-move", () => add("move"));
  click("share", share);
  click("compare", () => change(() => {
    const { strategies } = sketch;
    if (strategies.length > 1) strategies.pop();
    else strategies.push(structuredClone(strategies[0]));
  }));
  choose("example", (name) => load(EXAMPLES[name]()));
  choose("opened", (number) => load(opened[number]));
  choose("key", (number) => {
    here.key = Number(number);
    show();
  });
  choose("save", (how) => {
    at("save").value = "";
    save(how);
  });
  at("file").addEventListener("change", () => at("file").files[0] && open(at("file").files[0]));
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("input")) return;
    event.preventDefault();
    revert(event.shiftKey ? "redo" : "undo")();
  });
  addEventListener("hashchange", async () => {
    const plain = await fromAddress(location.hash.slice(3));
    if (plain) load(plain);
  });
  let width = 0;
  new ResizeObserver(() => {
    if (!made || at("panels").clientWidth === width) return;
    width = at("panels").clientWidth;
    show();
  }).observe(at("panels"));
}

async function begin() {
  for (const name of Object.keys(EXAMPLES)) html(at("example"), "option", { value: name }, name);
  at("app").hidden = false;
  say("");
  const shared = location.hash.startsWith("#s=") ? await fromAddress(location.hash.slice(3)) : null;
  if (location.hash.startsWith("#s=") && !shared) say("The address holds no stream that can be read; this is the first example.", true);
  load(shared ?? Object.values(EXAMPLES)[0]());
  listen();
}
