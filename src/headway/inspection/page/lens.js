/* What each layer would already write. */

import { h, clear, keptFocus, oneOf } from "./dom.js";
import { unpack } from "./data.js";
import { percent } from "./numbers.js";

export const part = "lens";

export const words = {
  en: {
    title: "Layer by layer", lead: "What each layer would already write: the decoder’s vectors behind it through the last norm and the output matrix, as if no layer came behind (logit lens). The last row is what the model says.",
    show: "Show", guess: "best guess", rank: "rank of the right one", layer: "layer {layer}", in: "goes in",
    guessScale: "Strong colour: probable. Framed: already the token that is written.",
    position: "Position", final: "written",
    pointGuess: "Point at a cell, or move to it with Tab and the arrow keys.", told: "{layer}, {token}: {top}. The right one has {value}, rank {rank}.",
  },
  zh: {
    title: "逐层", lead: "解码器各层的向量直接经过最后的归一化和输出矩阵，仿佛后面没有别的层（logit lens）。最后一行就是模型的输出。",
    show: "显示", guess: "最佳猜测", rank: "正确者的名次", layer: "第 {layer} 层", in: "输入",
    guessScale: "颜色越深概率越大。带框：已经是最终写出的子词。",
    position: "位置", final: "写出",
    pointGuess: "指向一格，或用 Tab 与方向键移动到它。", told: "{layer}，{token}：{top}。正确者 {value}，第 {rank} 名。",
  },
};

const set = { ranks: false };

export function draw(root, { part, sentence, t }) {
  root.append(guesses(part, sentence.tokens.target.map(({ piece }) => piece), t));
}

/* A table: a row a layer, a column a position, in each cell the best guess. */
function guesses(held, right, t) {
  const [ids, values, rank, value] = [held.ids, held.values, held.rank, held.value].map(unpack);
  const [nLayers, n, nTop] = ids.shape;
  const readout = h("p", { class: "readout", "aria-live": "polite" }, t("pointGuess"));
  const layerName = (k) => (k === 0 ? t("in") : t("layer", { layer: k - 1 }));
  const box = h("div", {});
  const cell = (k, i) => {
    const piece = held.pieces[ids.at(k, i, 0)];
    const place = rank.at(k, i);
    const tell = () => {
      const top = [...Array(nTop).keys()].map((m) => `${held.pieces[ids.at(k, i, m)]} ${percent(values.at(k, i, m))}`).join(" · ");
      readout.textContent = t("told", { layer: layerName(k), token: right[i], top, value: percent(value.at(k, i)), rank: place });
    };
    const share = set.ranks ? 1 / place : Math.max(0, values.at(k, i, 0));
    return h("td", { class: place === 1 ? "right" : "", style: { "--share": String(share) } },
      h("button", { type: "button", class: "bare", tabindex: "-1", on: { pointerenter: tell, focus: tell } },
        set.ranks ? String(place) : piece));
  };
  const show = () => {
    const focusAgain = keptFocus(box);
    clear(box);
    const table = h("table", { class: "guesses" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("position")), right.map((_, i) => h("th", { scope: "col", class: "soft" }, String(i))))),
      h("tbody", {}, [...Array(nLayers).keys()].map((k) => h("tr", {}, h("th", { scope: "row" }, layerName(k)), [...Array(n).keys()].map((i) => cell(k, i))))),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, t("final")), right.map((piece) => h("td", {}, piece)))));
    steer(table);
    const forms = oneOf(t("show"), [[false, t("guess")], [true, t("rank")]], set.ranks, (ranks) => { set.ranks = ranks; show(); });
    box.append(h("div", { class: "toolbar" }, forms,
      h("span", { class: "soft" }, t("guessScale"))), readout, h("div", { class: "scroll" }, table));
    focusAgain();
  };
  show();
  return box;
}

/* One cell of a table can be reached by Tab, the others from there by the arrow keys. */
function steer(table) {
  const rows = [...table.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("button")]);
  rows.at(-1)[0].tabIndex = 0;
  table.addEventListener("keydown", (event) => {
    const k = rows.findIndex((row) => row.includes(event.target));
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (k < 0 || !move) return;
    const next = rows[k + move[0]]?.[rows[k].indexOf(event.target) + move[1]];
    event.preventDefault();
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}
