/* Attention maps: pieces joined into words, rows left out, and pictures of them. */

import { h, roving } from "./dom.js";
import { percent } from "./numbers.js";

/* Tokens as rows or columns: one each, or one a word; without markers if they are not wanted.
   An entry is { label, positions, marker, writes }. */
export function entries(tokens, { words, markers }) {
  const groups = [];
  tokens.forEach((token, position) => {
    const last = groups.at(-1);
    if (words && last && last[0].token.word === token.word) last.push({ token, position });
    else groups.push([{ token, position }]);
  });
  return groups.map((group) => ({
    label: words ? joined(group.map(({ token }) => token)) : group[0].token.piece,
    positions: group.map(({ position }) => position),
    marker: group[0].token.kind === "marker",
    writes: group.at(-1).token.writes?.replace(/^▁(?=.)/, ""),
  })).filter((entry) => markers || !entry.marker);
}

function joined(tokens) {
  const spelled = tokens.map((token) => token.piece).join("");
  const bytes = [...spelled.matchAll(/<0x([0-9A-F]{2})>/g)].map((match) => parseInt(match[1], 16));
  if (bytes.length * 6 !== spelled.length) return spelled.replace(/^▁(?=.)/, "");
  const text = new TextDecoder().decode(Uint8Array.from(bytes));
  return text.includes("\ufffd") ? spelled : text;
}

/* What the decoder is fed, as tokens: the begin marker, then what was written but for the end;
   each with what it writes. */
export function fedTokens({ fed, target }) {
  return [{ ...fed, word: -1 }, ...target.slice(0, -1)].map((token, i) => ({ ...token, writes: target[i].piece }));
}

/* A map as it is shown: { rows, columns, values, hidden }; values from 0 to 1 by rows, and which
   cells no query may look at. `weights(row, column)` and `visible(row, column)` are of tokens. */
export function shownMap(weights, visible, rows, columns) {
  const n = columns.length;
  const values = new Float32Array(rows.length * n);
  const hidden = new Uint8Array(rows.length * n);
  rows.forEach((row, i) => columns.forEach((column, j) => {
    let sum = 0;
    let seen = 0;
    for (const r of row.positions) {
      for (const c of column.positions) {
        sum += weights(r, c);
        seen += visible(r, c);
      }
    }
    values[i * n + j] = sum / row.positions.length; // to a word the sum, of a word the mean
    hidden[i * n + j] = seen === 0 ? 1 : 0;
  }));
  return { rows, columns, values, hidden };
}

/* How strong a colour stands for a weight: its square root, so that small weights are seen. */
export function strength(weight) {
  return Math.sqrt(Math.min(1, Math.max(0, weight)));
}

/* What the colours mean, beside the maps. */
export function colourScale(t) {
  return h("div", { class: "scale map-scale" }, h("span", {}, t("weight")),
    [0, 0.01, 0.05, 0.1, 0.25, 0.5, 1].map((weight) => h("span", { class: "step" },
      h("span", { class: "shade", "aria-hidden": "true", style: { "--strength": String(strength(weight)) } }),
      weight === 0 ? "0 %" : `${100 * weight} %`)),
    h("span", { class: "step" }, h("span", { class: "shade masked", "aria-hidden": "true" }), t("masked")));
}

/* Fills a canvas with one pixel a cell; style.css makes it larger. */
export function paint(canvas, { rows, columns, values, hidden }) {
  const style = getComputedStyle(document.documentElement);
  const [colour, grey] = ["--map", "--masked"].map((name) => style.getPropertyValue(name).split(",").map(Number));
  canvas.width = Math.max(1, columns.length);
  canvas.height = Math.max(1, rows.length);
  const pen = canvas.getContext("2d");
  const picture = pen.createImageData(canvas.width, canvas.height);
  values.forEach((value, i) => {
    picture.data.set([...(hidden[i] ? grey : colour), hidden[i] ? 255 : Math.round(255 * strength(value))], 4 * i);
  });
  pen.putImageData(picture, 0, 0);
}

/* A large map with its labels: the arrow keys or the pointer move over its cells, `pick(i, j)` is
   called when one is chosen. `marked` is the cell that is chosen now, by its place, or null. */
export function matrix(map, { label, axes, t, pick, marked, width }) {
  const { rows, columns, values, hidden } = map;
  const cell = Math.max(14, Math.min(44, Math.floor((width - 190) / Math.max(1, columns.length))));
  const at = { row: marked?.row ?? 0, column: marked?.column ?? 0 };
  const canvas = h("canvas", { class: "cells", "aria-hidden": "true" });
  paint(canvas, map);
  const across = h("div", { class: "cross row-line", hidden: true });
  const down = h("div", { class: "cross column-line", hidden: true });
  const mark = h("div", { class: "chosen-cell", hidden: !marked });
  const readout = h("p", { class: "readout", "aria-live": "polite" }, t("point"));
  const rowLabels = rows.map((row) => h("li", {}, row.label, row.writes && h("span", { class: "writes" }, ` ▸ ${row.writes}`)));
  const columnLabels = columns.map((column) => h("li", {}, h("span", {}, column.label)));
  const show = () => {
    const i = at.row * columns.length + at.column;
    across.hidden = down.hidden = false;
    across.style.setProperty("--at", String(at.row));
    down.style.setProperty("--at", String(at.column));
    rowLabels.forEach((one, row) => one.classList.toggle("here", row === at.row));
    columnLabels.forEach((one, column) => one.classList.toggle("here", column === at.column));
    readout.replaceChildren(h("b", {}, rows[at.row].label), rows[at.row].writes ? ` (${t("writes", { piece: rows[at.row].writes })})` : "", " → ", h("b", {}, columns[at.column].label), " ",
      hidden[i] ? t("masked") : percent(values[i]));
  };
  const choose = () => {
    mark.hidden = false;
    mark.style.setProperty("--row", String(at.row));
    mark.style.setProperty("--column", String(at.column));
    pick(at.row, at.column);
  };
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const limit = (value, n) => Math.max(0, Math.min(n - 1, Math.floor(value)));
    at.column = limit((event.clientX - box.left) / cell, columns.length);
    at.row = limit((event.clientY - box.top) / cell, rows.length);
    show();
  };
  const key = (event) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === "Enter" || event.key === " ") choose();
    else if (!move) return;
    else {
      at.row = Math.max(0, Math.min(rows.length - 1, at.row + move[0]));
      at.column = Math.max(0, Math.min(columns.length - 1, at.column + move[1]));
      show();
    }
    event.preventDefault();
  };
  const board = h("div", {
    class: cell < 18 ? "board fine" : "board", tabindex: "0", role: "application", "aria-label": `${label}. ${t("move")}`,
    on: { pointermove: place, click: (event) => { place(event); choose(); }, keydown: key, focus: show },
  }, canvas, across, down, mark);
  if (marked) {
    mark.style.setProperty("--row", String(marked.row));
    mark.style.setProperty("--column", String(marked.column));
  }
  const box = labelled(map, { cell, corner: [`${axes.rows} ↓`, h("br"), `${axes.columns} →`], rowLabels, columnLabels }, board);
  return h("div", { class: "matrix" }, readout, h("div", { class: "scroll", tabindex: "-1" }, box));
}

/* A board between its labels; `here` is a row to be marked. */
export function labelled({ rows, columns }, { cell, corner, here, rowLabels, columnLabels }, board) {
  return h("div", { class: "labelled", style: { "--cell": `${cell}px`, "--rows": String(rows.length), "--columns": String(columns.length) } },
    h("div", { class: "corner soft" }, corner),
    h("ol", { class: "column-labels", "aria-hidden": "true" }, columnLabels ?? columns.map(({ label }) => h("li", {}, h("span", {}, label)))),
    h("ol", { class: "row-labels", "aria-hidden": "true" }, rowLabels ?? rows.map(({ label }, i) => h("li", { class: i === here ? "here" : "" }, label))),
    board);
}

/* The same as lines from rows to columns, as thick as the weight is large. */
export function lines(map, { label, axes, t }) {
  const { rows, columns, values } = map;
  const height = 24 * Math.max(rows.length, columns.length);
  const space = 24;
  const canvas = h("canvas", { class: "wires", width: "480", height: String(2 * height), "aria-hidden": "true", style: { height: `${height}px` } });
  const readout = h("p", { class: "readout", "aria-live": "polite" }, t("pointWord"));
  const draw = (only) => {
    const colour = getComputedStyle(document.documentElement).getPropertyValue("--map");
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, canvas.width, canvas.height);
    rows.forEach((_, i) => columns.forEach((_column, j) => {
      const weight = values[i * columns.length + j];
      const chosen = only === undefined || only.row === i || only.column === j;
      if (weight < 0.01 || !chosen) return;
      pen.strokeStyle = `rgba(${colour}, ${only ? Math.max(0.15, strength(weight)) : strength(weight) * 0.9})`;
      pen.lineWidth = 1 + 9 * weight;
      pen.beginPath();
      const [from, to] = [2 * space * (i + 0.5), 2 * space * (j + 0.5)];
      pen.moveTo(0, from);
      pen.bezierCurveTo(200, from, 280, to, 480, to);
      pen.stroke();
    }));
  };
  const told = (only) => {
    draw(only);
    const across = only.row !== undefined;
    const found = (across ? columns : rows).map((other, k) => ({
      name: other.label, weight: values[across ? only.row * columns.length + k : k * columns.length + only.column],
    })).filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight).slice(0, 3);
    readout.replaceChildren(h("b", {}, (across ? rows[only.row] : columns[only.column]).label), across ? " → " : " ← ",
      found.map(({ name, weight }) => `${name} ${percent(weight)}`).join(" · "));
  };
  const side = (all, name, of) => {
    const list = h("ol", { class: `side ${name}` }, all.map((entry, k) => {
      const hear = () => told({ [of]: k });
      return h("li", {}, h("button", { type: "button", class: "bare", on: { pointerenter: hear, focus: hear } }, entry.label));
    }));
    roving(list, "button");
    return list;
  };
  draw();
  return h("div", { class: "lines", role: "group", "aria-label": label }, readout,
    h("div", { class: "bipartite", on: { pointerleave: () => { draw(); readout.textContent = t("pointWord"); } } },
      h("span", { class: "soft axis-name" }, axes.rows), h("span", {}), h("span", { class: "soft axis-name" }, axes.columns),
      side(rows, "from", "row"), canvas, side(columns, "to", "column")));
}
