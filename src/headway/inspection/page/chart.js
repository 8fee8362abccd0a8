/* Lines over axes, with units and a legend; the pointer or the arrow keys read values off. */

import { h, svg } from "./dom.js";
import { whole } from "./numbers.js";

const COLOURS = ["one", "two", "three", "four", "five", "six"];
const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [52, 10, 24, 34, 230];

/* The style of the i-th of several things that are compared: colours first, then dashes. */
export function styleOf(i) {
  return `${COLOURS[i % COLOURS.length]}${i >= COLOURS.length ? " dashed" : ""}`;
}

/* Of one of the plots that stand in two columns where there is room for that; see style.css. */
export function widthOf(room) {
  return room < 720 ? room : (room - 24) / 2;
}

/* A figure with one plot. `series` are { name, style, points: [[x, y], ..] in the order of x, dots };
   `x` and `y` are { unit, from, to, log }, all but `unit` may be left out: `from` and `to` are
   values that must have room. `mark` is an x that stands out; `legend` is wanted where nothing
   else on the page says what the colours are. */
export function chart({ title, series, x, y, t, width, mark, legend = false }) {
  const shown = series.filter(({ points }) => points.length);
  const scale = scales(shown, x, y, width);
  const cursor = svg("g", { class: "cursor", hidden: true });
  const readout = h("p", { class: "read-off", "aria-live": "polite" }, "\u00a0");
  const plot = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, class: "curves", "aria-hidden": "true" },
    axes(scale, x, y, width),
    Number.isFinite(mark) && svg("line", { class: "mark", x1: scale.x(mark), x2: scale.x(mark), y1: TOP, y2: HEIGHT - BOTTOM }),
    shown.map((one) => line(one, scale)), cursor);
  const read = reading(shown, scale, cursor, readout, { x, width });
  const board = h("div", { class: "curve-board", tabindex: "0", role: "application", "aria-label": `${title}. ${told(shown, t)} ${t("readOff")}`,
    on: {
      pointermove: (event) => {
        const box = plot.getBoundingClientRect();
        read.near(scale.back(((event.clientX - box.left) / box.width) * width));
      },
      pointerleave: () => read.nothing(),
      keydown: (event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -20, PageUp: 20, Home: -Infinity, End: Infinity }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        read.move(by);
      },
    } }, plot);
  return h("figure", { class: "charted" }, h("figcaption", {}, title,
    legend && h("span", { class: "legend" }, shown.map((one) => h("span", { class: "entry" }, swatch(one.style), one.name)))), board, readout);
}

/* What a style looks like. */
export function swatch(style) {
  return svg("svg", { class: "sample", viewBox: "0 0 22 10", "aria-hidden": "true" },
    svg("line", { class: `curve-line ${style}`, x1: 1, x2: 21, y1: 5, y2: 5 }),
    style.includes("dotted") && svg("circle", { class: `curve-dot ${style}`, cx: 11, cy: 5, r: 3 }));
}

function scales(shown, x, y, width) {
  const all = (place, axis) => [...shown.flatMap(({ points }) => points.map((point) => point[place])),
    ...[axis.from, axis.to].filter(Number.isFinite)];
  const [x0, x1] = bounds(all(0, x), { tight: true });
  const values = all(1, y).filter((value) => !y.log || value > 0);
  const [y0, y1] = y.log ? logBounds(values) : bounds(values, { tight: false });
  const along = (value) => (y.log ? Math.log10(Math.max(value, y0) / y0) / Math.log10(y1 / y0) : (value - y0) / (y1 - y0));
  return {
    x0, x1, y0, y1,
    x: (value) => LEFT + ((value - x0) / (x1 - x0)) * (width - LEFT - RIGHT),
    y: (value) => HEIGHT - BOTTOM - along(value) * (HEIGHT - TOP - BOTTOM),
    back: (at) => x0 + ((at - LEFT) / (width - LEFT - RIGHT)) * (x1 - x0),
  };
}

/* From nought where that is not far away. */
function bounds(values, { tight }) {
  if (!values.length) return [0, 1];
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  if (tight) return [low >= 0 && low < 0.5 * high ? 0 : low, high > low || high ? Math.max(high, low + 1e-9) : 1];
  return [low >= 0 && low < 0.6 * high ? 0 : low - room, high + room];
}

function logBounds(values) {
  if (!values.length) return [1, 10];
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  return [low / 1.1, Math.max(high * 1.1, low * 1.5)];
}

function ticks(from, to, most) {
  const rough = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough * 0.999);
  const first = Math.ceil(from / step - 1e-9);
  const found = [];
  for (let n = first; n * step <= to + 1e-9 * step; n += 1) found.push(Number((n * step).toPrecision(12)));
  return found;
}

function logTicks(from, to) {
  const found = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power += 1) {
    const few = Math.log10(to / from) > 3;
    for (const n of few ? [1] : [1, 2, 5]) {
      const value = Number((n * 10 ** power).toPrecision(3));
      if (value >= from && value <= to) found.push(value);
    }
  }
  return found;
}

function axes(scale, x, y, width) {
  const upward = y.log ? logTicks(scale.y0, scale.y1) : ticks(scale.y0, scale.y1, 5);
  const along = ticks(scale.x0, scale.x1, width < 420 ? 3 : 5);
  return [
    upward.map((value) => [
      svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: scale.y(value), y2: scale.y(value) }),
      svg("text", { x: LEFT - 6, y: scale.y(value) + 4, "text-anchor": "end" }, compact(value))]),
    along.map((value) => [
      svg("line", { class: "tick", x1: scale.x(value), x2: scale.x(value), y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 4 }),
      svg("text", { x: scale.x(value), y: HEIGHT - BOTTOM + 16, "text-anchor": scale.x(value) > width - 24 ? "end" : "middle" }, compact(value))]),
    svg("line", { class: "base", x1: LEFT, x2: width - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }),
    svg("text", { class: "unit", x: LEFT, y: 14, "text-anchor": "start" }, y.unit),
    svg("text", { class: "unit", x: width - RIGHT, y: HEIGHT - 3, "text-anchor": "end" }, x.unit),
  ];
}

function line({ style, points, dots }, scale) {
  const places = points.map(([a, b]) => `${scale.x(a).toFixed(1)},${scale.y(b).toFixed(1)}`);
  return [
    svg("polyline", { class: `curve-line ${style}`, points: places.join(" ") }),
    (dots || points.length === 1) && points.map(([a, b]) => svg("circle", { class: `curve-dot ${style}`, cx: scale.x(a), cy: scale.y(b), r: 3 })),
  ];
}

/* One place on the x axis at a time, with the value of every line there. */
function reading(shown, scale, cursor, readout, { x, width }) {
  const stops = [...new Set(shown.flatMap(({ points }) => points.map(([a]) => a)))].sort((a, b) => a - b);
  let at = -1;
  const show = () => {
    const here = stops[at];
    const found = shown.map((one) => ({ one, point: nearest(one.points, here) }))
      .filter(({ point }) => Math.abs(scale.x(point[0]) - scale.x(here)) < Math.max(8, width / 25));
    cursor.replaceChildren(
      svg("line", { x1: scale.x(here), x2: scale.x(here), y1: TOP, y2: HEIGHT - BOTTOM }),
      ...found.map(({ one, point }) => svg("circle", { class: `curve-dot ${one.style}`, cx: scale.x(point[0]), cy: scale.y(point[1]), r: 4 })));
    cursor.removeAttribute("hidden");
    readout.replaceChildren(h("span", { class: "where" }, `${counted(here)} ${x.unit}`),
      ...found.map(({ one, point }) => h("span", { class: "entry" }, swatch(one.style), `${one.name} `, h("b", {}, exact(point[1])))));
  };
  return {
    near: (value) => {
      const best = indexNear(stops, value);
      if (best < 0 || best === at) return;
      at = best;
      show();
    },
    move: (by) => {
      if (!stops.length) return;
      const from = at < 0 ? (Number.isFinite(by) && by < 0 ? stops.length : -1) : at;
      at = Math.max(0, Math.min(stops.length - 1, from + by));
      show();
    },
    nothing: () => {
      at = -1;
      cursor.setAttribute("hidden", "");
      readout.replaceChildren("\u00a0");
    },
  };
}

function nearest(points, value) {
  return points[indexNear(points.map(([a]) => a), value)];
}

function indexNear(sorted, value) {
  let [low, high] = [0, sorted.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle;
    else high = middle;
  }
  return high < 0 ? -1 : Math.abs(sorted[high] - value) < Math.abs(sorted[low] - value) ? high : low;
}

function told(shown, t) {
  return shown.map(({ name, points }) => t("fromTo", { name, from: exact(points[0][1]), to: exact(points.at(-1)[1]) })).join(" ");
}

/* With four digits that matter. */
function exact(value) {
  const size = Math.abs(value);
  const text = size > 0 && size < 1e-3 ? value.toExponential(3) : String(Number(value.toPrecision(4)));
  return text.replaceAll("-", "−");
}

/* A count, or a number between two. */
function counted(value) {
  return value >= 1000 ? whole(value) : exact(value);
}

/* For axes: thousands and millions as k and M. */
export function compact(value) {
  const size = Math.abs(value);
  const [divided, letter] = size >= 1e9 ? [value / 1e9, "G"] : size >= 1e6 ? [value / 1e6, "M"] : size >= 1e3 ? [value / 1e3, "k"] : [value, ""];
  if (size > 0 && size < 0.001) return value.toExponential(0).replace("e-", "e−");
  return `${Number(divided.toPrecision(letter ? 3 : 4))}${letter}`.replace("-", "−");
}
