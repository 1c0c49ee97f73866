// Ways out of the page: a picture, a scenario file, a test.

const LOOKS = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order",
];

function download(name, blob) {
  const link = html(document.body, "a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** A copy of a drawing that looks the same without the page's styles. */
function dressed(original) {
  const copy = original.cloneNode(true);
  const from = [original, ...original.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, n) => {
    const style = getComputedStyle(node);
    to[n].removeAttribute("style");
    for (const look of LOOKS) to[n].setAttribute(look, style.getPropertyValue(look));
  });
  return copy;
}

/** The figure with its axis, as the text of an SVG file. */
function pictureOf(figure, axis) {
  const width = Number(figure.getAttribute("width")), high = Number(figure.getAttribute("height")), foot = Number(axis.getAttribute("height"));
  const whole = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${high + foot}`, width, height: high + foot })) whole.setAttribute(name, value);
  const paper = getComputedStyle(document.body).backgroundColor;
  svg(whole, "rect", { width, height: high + foot, fill: paper });
  whole.append(dressed(figure));
  const below = svg(whole, "g", { transform: `translate(0 ${high})` });
  below.append(dressed(axis));
  return { text: new XMLSerializer().serializeToString(whole), width, height: high + foot };
}

async function asPng({ text, width, height }) {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.src = url;
  await image.decode();
  URL.revokeObjectURL(url);
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: 2 * width, height: 2 * height });
  const brush = canvas.getContext("2d");
  brush.scale(2, 2);
  brush.drawImage(image, 0, 0, width, height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
