/* Maps of numbers as a canvas: white to blue, or red over white to blue where there are signs. */

import { h } from "./dom.js";

/* `value(i, j)` is from 0 to 1, or from -1 to 1 where they are `signed`; a cell is `width` by
   `height` pixels of the page. The colours are those of the theme that is on when it is drawn. */
export function paint(rows, columns, value, { label, height, width, signed = false }) {
  const canvas = h("canvas", { width: String(columns), height: String(rows), role: "img", "aria-label": label, class: "heat",
    style: { width: `${columns * width}px`, "aspect-ratio": `${columns * width} / ${rows * height}` } });
  const pixels = new ImageData(columns, rows);
  const [paper, more, less] = ["--paper", "--one", "--two"].map(colour);
  for (let i = 0; i < rows; i += 1) {
    for (let j = 0; j < columns; j += 1) {
      const share = value(i, j);
      const towards = signed && share < 0 ? less : more;
      const place = 4 * (i * columns + j);
      for (let channel = 0; channel < 3; channel += 1) {
        pixels.data[place + channel] = paper[channel] + (towards[channel] - paper[channel]) * Math.min(1, Math.abs(share));
      }
      pixels.data[place + 3] = 255;
    }
  }
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  return canvas;
}

export function legend(from, to, { signed = false } = {}) {
  return h("p", { class: "scale plain" }, h("span", {}, from),
    h("span", { class: `heat-ramp${signed ? " signed" : ""}`, "aria-hidden": "true" }), h("span", {}, to));
}

function colour(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}
