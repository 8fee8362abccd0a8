/* Vectors as strips of bars, or as numbers. */

import { h } from "./dom.js";
import { short } from "./numbers.js";

const HEIGHT = 46;

/* A vector with its name and its length in space: bars up for what is above 0, down for below. All
   strips that stand together should have the same `most`, the value of a full bar. */
export function strip(name, values, { most, numbers, t }) {
  const norm = Math.hypot(...values);
  const title = h("span", { class: "strip-name" }, h("b", {}, name), " ",
    h("span", { class: "soft" }, t("norm", { n: values.length, norm: short(norm) })));
  return h("div", { class: "strip" }, title, numbers
    ? h("ol", { class: "numbers" }, [...values].map((value) => h("li", { class: value < 0 ? "below" : "" }, short(value))))
    : bars(values, most, `${name}: ${t("norm", { n: values.length, norm: short(norm) })}`));
}

/* The largest size of any value in some vectors, for their common scale. */
export function largest(...vectors) {
  return vectors.reduce((most, values) => values.reduce((one, value) => Math.max(one, Math.abs(value)), most), 1e-12);
}

function bars(values, most, label) {
  const style = getComputedStyle(document.documentElement);
  const pitch = Math.max(2, Math.min(16, Math.floor(1400 / values.length)));
  const canvas = h("canvas", {
    class: "bar-strip", role: "img", "aria-label": label,
    width: String(pitch * values.length), height: String(2 * HEIGHT), style: { "aspect-ratio": "auto" },
  });
  const pen = canvas.getContext("2d");
  const [above, below, rule] = ["--one", "--two", "--rule"].map((variable) => style.getPropertyValue(variable));
  pen.fillStyle = rule;
  pen.fillRect(0, HEIGHT - 1, canvas.width, 2);
  values.forEach((value, i) => {
    const size = Math.min(1, Math.abs(value) / most) * (HEIGHT - 2);
    pen.fillStyle = value < 0 ? below : above;
    pen.fillRect(pitch * i, value < 0 ? HEIGHT : HEIGHT - size, Math.max(1, pitch - (pitch > 3 ? 2 : 0)), size);
  });
  const readout = h("span", { class: "value-here soft", "aria-hidden": "true" });
  return h("span", { class: "bar-box", on: {
    pointermove: (event) => {
      const box = canvas.getBoundingClientRect();
      const i = Math.floor((event.clientX - box.left) / box.width * values.length);
      readout.textContent = i >= 0 && i < values.length ? `[${i}] ${short(values[i], 5)}` : "";
    },
    pointerleave: () => { readout.textContent = ""; },
  } }, canvas, readout);
}
