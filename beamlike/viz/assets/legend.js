// The marks of the figure, with their names; and what a step without news is called.

/** What the marks of the figure mean, as in pictures. `prefix` is that of the figure. */
function showLegend(root, prefix = "") {
  root.replaceChildren();
  const draw = (text, paint) => {
    const entry = html(root, "span", {});
    const picture = svg(entry, "svg", { viewBox: "0 0 24 14" });
    paint(picture);
    entry.append(text);
  };
  const pane = (tone) => (picture) => {
    const place = { x: 1, y: 1, width: 22, height: 12, rx: 3 };
    svg(picture, "rect", { class: "band", fill: `url(#${prefix}${tone}-band)`, ...place });
    svg(picture, "rect", { class: "box " + tone, ...place });
  };
  draw("element", (p) => svg(p, "circle", { class: "dot", cx: 12, cy: 7, r: 5 }));
  draw("element behind the watermark", (p) => svg(p, "circle", { class: "dot late", cx: 12, cy: 7, r: 5 }));
  draw("value of the window so far", (p) => svg(p, "text", { class: "running", x: 3, y: 11 }, "= 7"));
  draw("dropped element", (p) => svg(p, "path", { class: "cross", d: "M7 2L17 12M7 12L17 2" }));
  draw("window", (p) => {
    svg(p, "rect", { class: "life", x: 2, y: 0, width: 20, height: 14 });
    for (const x of [2, 22]) svg(p, "line", { class: "edge", x1: x, x2: x, y1: 0, y2: 14 });
  });
  draw("merge", (p) => svg(p, "path", { class: "merge", d: "M2 12V5H22V12M12 12V5" }));
  draw("window expires", (p) => svg(p, "line", { class: "cap", x1: 1, x2: 23, y1: 7, y2: 7 }));
  draw("early pane", pane("early"));
  draw("on time pane", pane("ontime"));
  draw("late pane", pane("late"));
  draw("withdrawal", (p) => svg(p, "line", { class: "box retraction", x1: 1, x2: 23, y1: 7, y2: 7 }));
  draw("watermark", (p) => svg(p, "path", { class: "water", d: "M0 7H24" }));
  draw("event time = processing time", (p) => svg(p, "path", { class: "ideal", d: "M0 12L24 2" }));
}

/** A step that brought a key nothing new is left out of the data: all is as before. */
function unfold(scenario) {
  for (const stream of scenario.streams) {
    let windows = [];
    stream.moments.forEach((moment, position) => {
      windows = moment?.windows ?? windows;
      const said = moment?.said.length ? moment.said : [["quiet", nothingCame(scenario, position)]];
      stream.moments[position] = { said, windows };
    });
  }
}

function nothingCame(scenario, position) {
  if (scenario.streams.length < 2) return "Nothing came of it.";
  const isOthers = scenario.steps[position].kind === "arrive";
  return isOthers ? "All of it belongs to other keys." : "Nothing came of it for this key.";
}
