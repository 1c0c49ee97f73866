// The patterns of panes, the same in every figure.

/** A pattern of the panes of a tone, in some `defs`. It is drawn in the colour `--tone`. */
function panePattern(defs, id, tone) {
  const [size, angle, thick, ground, stripe] = STRIPES[tone];
  const add = (parent, name, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    parent.append(node);
    return node;
  };
  const pattern = add(defs, "pattern", {
    id, class: tone, width: size, height: size, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${angle})`,
  });
  for (const [width, opacity] of [[size, ground], [thick, stripe]]) {
    const part = add(pattern, "rect", { width, height: size });
    part.style.fill = "var(--tone)";
    part.style.fillOpacity = opacity;
  }
}
