/* Attention: every layer and head as a small map; those that are chosen, large. */

import { h, clear, keptFocus, oneOf, onceNear, roving } from "./dom.js";
import { inflated } from "./data.js";
import { colourScale, entries, fedTokens, lines, matrix, paint, shownMap } from "./maps.js";

export const part = "attention";

export const words = {
  en: {
    title: "Attention", lead: "Who looks at whom, in every layer and head. Each row of a map is one token that looks, and adds up to 100 %. Choose a map to enlarge it, then a cell of it to see every number behind it.",
    "encoder.self": "Source looks at itself", "decoder.self": "Written looks at itself", "decoder.cross": "Written looks at source",
    kind: "Which attention", unit: "Unit", word: "Words", piece: "Pieces", markers: "Show markers",
    layer: "Layer {layer}", head: "Head {head}", layers: "Layer", heads: "Head", meanOf: "mean of heads", all: "All layers",
    form: "Form", matrix: "Map", lines: "Lines", hold: "Hold beside", release: "Take away",
    weight: "Weight:", masked: "hidden by the mask", point: "Point at a cell, or move with the arrow keys.", pointWord: "Point at a word.",
    move: "The arrow keys move, Enter shows the numbers of a cell.",
    source: "source", fed: "fed ▸ then written", seen: "fed", writes: "writes {piece}",
    numbers: "Every number of this cell ↓",
    error: "Weights in maps are rounded to steps of 1/255 (off by at most 0.2 %).",
  },
  zh: {
    title: "注意力", lead: "每一层、每个头里谁在看谁。图中每一行是一个查询词，整行之和为 100 %。选一幅图可放大，再选其中一格可看到背后的每个数字。",
    "encoder.self": "原文看原文", "decoder.self": "输出看输出", "decoder.cross": "输出看原文",
    kind: "哪种注意力", unit: "单位", word: "词", piece: "子词", markers: "显示特殊符号",
    layer: "第 {layer} 层", head: "头 {head}", layers: "层", heads: "头", meanOf: "各头平均", all: "所有层",
    form: "形式", matrix: "方格", lines: "连线", hold: "留作对照", release: "移除对照",
    weight: "权重：", masked: "被掩码遮住", point: "指向一格，或用方向键移动。", pointWord: "指向一个词。",
    move: "方向键移动，回车显示该格的数字。",
    source: "原文", fed: "输入 ▸ 随后写出", seen: "输入", writes: "写出 {piece}",
    numbers: "这一格的每个数字 ↓",
    error: "图中的权重按 1/255 取整（误差不超过 0.2 %）。",
  },
};

/* What a reader has set stays for the next sentence. */
const set = { kind: null, words: true, markers: true, form: "matrix", layer: null, head: null, held: null };

export function draw(root, context) {
  const names = context.part.kinds.map(({ kind }) => kind);
  if (!names.includes(set.kind)) Object.assign(set, { kind: names.at(-1), layer: null, head: null, held: null });
  const box = h("div", { class: "attention" });
  root.append(box);
  const again = async () => {
    const view = await opened(context);
    if (!box.isConnected) return;
    const focusAgain = keptFocus(box);
    clear(box);
    box.append(...drawn(view, context, again));
    focusAgain();
  };
  again();
}

/* The kind that is looked at: its arrays, and its rows and columns as they are to be shown. */
async function opened({ part, sentence, t }) {
  const kind = part.kinds.find((one) => one.kind === set.kind);
  const [maps, visible] = await Promise.all([inflated(kind.maps), inflated(kind.visible)]);
  const [nLayers, nHeads, , n] = kind.shape;
  const tokens = { source: sentence.tokens.source, fed: fedTokens(sentence.tokens) };
  const sides = {
    rows: kind.kind.startsWith("encoder") ? "source" : "fed",
    columns: kind.kind === "decoder.self" ? "fed" : "source",
  };
  if (set.layer === null || set.layer >= nLayers) set.layer = nLayers - 1;
  if (set.head !== null && set.head >= nHeads) set.head = null;
  const rows = entries(tokens[sides.rows], set);
  const columns = entries(tokens[sides.columns], set);
  const size = maps.values.length / (nLayers * nHeads);
  /* head null: the mean of a layer's heads; layer null: of all. */
  const map = (layer, head) => {
    const layers = layer === null ? [...Array(nLayers).keys()] : [layer];
    const heads = head === null ? [...Array(nHeads).keys()] : [head];
    const starts = layers.flatMap((l) => heads.map((one) => (l * nHeads + one) * size));
    const weights = (r, c) => starts.reduce((sum, start) => sum + maps.values[start + r * n + c], 0) / (255 * starts.length);
    return shownMap(weights, (r, c) => visible.values[r * n + c], rows, columns);
  };
  return { nLayers, nHeads, rows, columns, map, axes: { rows: t(sides.rows), columns: t(sides.columns === "fed" ? "seen" : sides.columns) } };
}

function drawn(view, context, again) {
  const { t } = context;
  const both = set.held !== null;
  const stage = h("div", { class: "stage" });
  const show = () => {
    clear(stage);
    const panels = both ? [set.held, { layer: set.layer, head: set.head }] : [{ layer: set.layer, head: set.head }];
    stage.append(...panels.map((one, i) => panel(one, both && i === 0, view, context, again)));
  };
  const overview = grid(view, context, show);
  queueMicrotask(show); // when it has a width
  return [toolbar(context, again), colourScale(t),
    h("div", { class: `spread${both ? " two" : ""}${view.nHeads > 5 ? " many" : ""}${view.columns.length > 36 ? " long" : ""}` }, overview, stage),
    h("p", { class: "soft" }, t("error"))];
}

function toolbar({ part, t }, again) {
  const change = (values) => { Object.assign(set, values); again(); };
  const markers = h("input", { type: "checkbox", checked: set.markers, on: { change: (event) => change({ markers: event.target.checked }) } });
  return h("div", { class: "toolbar" },
    oneOf(t("kind"), part.kinds.map(({ kind: one }) => [one, t(one)]), set.kind,
      (one) => change({ kind: one, layer: null, head: null, held: null })),
    oneOf(t("unit"), [[true, t("word")], [false, t("piece")]], set.words, (value) => change({ words: value })),
    oneOf(t("form"), [["matrix", t("matrix")], ["lines", t("lines")]], set.form, (form) => change({ form })),
    h("label", {}, markers, " ", t("markers")));
}

function grid(view, context, show) {
  const { nLayers, nHeads } = view;
  const { t } = context;
  const heads = [...Array(nHeads).keys()];
  const layers = [...Array(nLayers).keys()];
  const tiles = [];
  const pressed = () => tiles.forEach(({ element, layer, head }) =>
    element.setAttribute("aria-pressed", String(layer === set.layer && head === set.head)));
  const tile = (layer, head) => {
    const canvas = h("canvas", { "aria-hidden": "true", style: { "--shape": `${view.columns.length} / ${view.rows.length}` } });
    onceNear(canvas, () => paint(canvas, view.map(layer, head)));
    const label = place(layer, head, t);
    const element = h("button", {
      type: "button", class: "tile", "aria-label": label, title: label,
      on: { click: () => { Object.assign(set, { layer, head }); pressed(); show(); } },
    }, canvas);
    tiles.push({ element, layer, head });
    return element;
  };
  const corner = h("span", { class: "soft ends" }, `${t("heads")} →`, h("br"), `${t("layers")} ↓`);
  const found = h("div", { class: "by-layer", style: { "--heads": String(nHeads + (nHeads > 1 ? 1 : 0)) } },
    corner, heads.map((head) => h("span", { class: "soft over" }, String(head))), nHeads > 1 && h("span", { class: "soft over", title: t("meanOf") }, "⌀"),
    layers.map((layer) => [h("span", { class: "soft" }, String(layer)),
      heads.map((head) => tile(layer, head)), nHeads > 1 && tile(layer, null)]));
  pressed();
  roving(found, ".tile");
  return h("div", { class: "overview" }, found);
}

function place(layer, head, t) {
  return t("beside", { a: layer === null ? t("all") : t("layer", { layer }), b: head === null ? t("meanOf") : t("head", { head }) });
}

function panel({ layer, head }, held, view, context, again) {
  const { t } = context;
  const map = view.map(layer, head);
  const label = place(layer, head, t);
  const hold = h("button", {
    type: "button", on: { click: () => { set.held = set.held === null ? { layer, head } : null; again(); } },
  }, set.held === null ? t("hold") : t("release"));
  const cell = context.chosen.cell;
  const chosen = cell && cell.kind === set.kind && cell.layer === layer && (head === null || cell.head === head) ? {
    row: map.rows.findIndex((row) => row.positions.includes(cell.row)),
    column: map.columns.findIndex((column) => column.positions.includes(cell.column)),
  } : null;
  const marked = chosen && chosen.row >= 0 && chosen.column >= 0 ? chosen : null;
  const pick = (i, j) => {
    const row = map.rows[i].positions.at(-1);
    const column = map.columns[j].positions[0];
    context.choose({ cell: { kind: set.kind, layer, head: head ?? strongest(view, layer, i, j), row, column } });
  };
  const width = document.querySelector(".stage").clientWidth / (set.held === null ? 1 : 2);
  const options = { label: t("beside", { a: t(set.kind), b: label }), axes: view.axes, t, pick, marked, width };
  const body = map.rows.length && map.columns.length
    ? (set.form === "lines" ? lines(map, options) : matrix(map, options)) : "";
  const numbers = h("a", { href: "#cells", hidden: !marked }, t("numbers"));
  context.onChoose(numbers, ({ cell: now }) => { numbers.hidden = now?.kind !== set.kind || now.layer !== layer; });
  return h("figure", { class: "panel" },
    h("figcaption", {}, h("b", {}, label), numbers, (held || set.held === null) && hold),
    body);
}

/* In which head of a layer a cell of the mean is largest. */
function strongest(view, layer, i, j) {
  const weight = (head) => view.map(layer, head).values[i * view.columns.length + j];
  return [...Array(view.nHeads).keys()].reduce((best, head) => (weight(head) > weight(best) ? head : best), 0);
}
