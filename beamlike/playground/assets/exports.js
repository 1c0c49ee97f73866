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

/** Figures with their axes, side by side, as the text of an SVG file. */
function pictureOf(figures) {
  const sizes = figures.map(([figure, axis]) => ["width", "height"].map((name) => Number(figure.getAttribute(name))).concat(Number(axis.getAttribute("height"))));
  const width = sizes.reduce((sum, [wide]) => sum + wide, 0), height = Math.max(...sizes.map(([, high, foot]) => high + foot));
  const whole = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height })) whole.setAttribute(name, value);
  svg(whole, "rect", { width, height, fill: getComputedStyle(document.body).backgroundColor });
  let left = 0;
  figures.forEach(([figure, axis], n) => {
    const [wide, high] = sizes[n];
    svg(whole, "g", { transform: `translate(${left} 0)` }).append(dressed(figure));
    svg(whole, "g", { transform: `translate(${left} ${high})` }).append(dressed(axis));
    left += wide;
  });
  return { text: new XMLSerializer().serializeToString(whole), width, height };
}

/** A picture on a canvas, so many times as large. */
async function painted({ text, width, height }, times) {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.src = url;
  await image.decode();
  URL.revokeObjectURL(url);
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: times * width, height: times * height });
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  brush.scale(times, times);
  brush.drawImage(image, 0, 0, width, height);
  return canvas;
}

async function asPng(picture) {
  const canvas = await painted(picture, 2);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

async function pixelsOf(picture) {
  const canvas = await painted(picture, 1);
  return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
}
