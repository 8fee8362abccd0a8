/* Layer by layer: what each would already say, how alike positions become, which words matter. */

import { h, svg, clear, keptFocus, roving } from "./dom.js";
import { unpack } from "./data.js";
import { percent, short } from "./numbers.js";

export const part = "layers";

export const words = {
  en: {
    title: "Layer by layer", lead: "What the model would already say after each layer, whether its vectors stay apart, and, of a translator, which words of the source its translation hangs on.",
    lens: "What each layer would already write", lensLead: "Each decoder layer’s vectors through the last norm and the output matrix, as if no layer came behind (logit lens). The last row is what the model says.",
    show: "Show", guess: "best guess", rank: "rank of the right one", layer: "layer {layer}", axis: "layer", in: "goes in", right: "as the final one",
    guessScale: "Strong colour: probable. Framed: already the token that is written.",
    position: "Position", final: "written",
    pointGuess: "Point at a cell, or move to it with Tab and the arrow keys.", told: "{layer}, {token}: {top}. The right one has {value}, rank {rank}.",
    streams: "The stream by layer", norms: "Mean length of a vector", similar: "Mean cosine between positions", collapse: "above {limit}: positions can hardly be told apart",
    apart: "Positions stay apart in all layers.", collapsed: "Collapse: in {where} positions are almost the same vector.",
    encoder: "encoder", decoder: "decoder",
    importance: "Which source words matter", importanceLead: "Left: how much the writing looks at the word (alignment layer, mean of heads and steps). Right: how much probability this same translation loses when the word is taken out of the source.",
    attention: "attention", deletion: "lost without it (nats)", word: "word", only: "This model has no attention over the source; only deletion is shown.",
    tooMany: "Words are taken out one by one where there are at most {most}; this text has {n}.",
    loss: "Without {word}, token by token:", lossScale: "nats lost; below 0: the token became more probable", choose: "Choose a word to see which tokens lose.",
  },
  zh: {
    title: "逐层", lead: "每一层之后模型已经会说什么，各位置的向量是否仍可区分，翻译模型的译文又依赖原文的哪些词。",
    lens: "每一层已经会写什么", lensLead: "解码器各层的向量直接经过最后的归一化和输出矩阵，仿佛后面没有别的层（logit lens）。最后一行就是模型的输出。",
    show: "显示", guess: "最佳猜测", rank: "正确者的名次", layer: "第 {layer} 层", axis: "层", in: "输入", right: "与最终一致",
    guessScale: "颜色越深概率越大。带框：已经是最终写出的子词。",
    position: "位置", final: "写出",
    pointGuess: "指向一格，或用 Tab 与方向键移动到它。", told: "{layer}，{token}：{top}。正确者 {value}，第 {rank} 名。",
    streams: "各层的残差流", norms: "向量的平均模", similar: "位置之间的平均余弦", collapse: "高于 {limit}：各位置几乎无法区分",
    apart: "各层的位置都可区分。", collapsed: "塌缩：在{where}中各位置几乎是同一个向量。",
    encoder: "编码器", decoder: "解码器",
    importance: "哪些原文词重要", importanceLead: "左：写译文时看这个词多少（对齐层，各头各步平均）。右：从原文去掉这个词后，同一译文损失多少概率。",
    attention: "注意力", deletion: "去掉后的损失（奈特）", word: "词", only: "这个模型对原文没有注意力，只显示删除的影响。",
    tooMany: "至多 {most} 个词时才逐个去掉来比较；这个句子有 {n} 个。",
    loss: "去掉 {word} 后逐个子词：", lossScale: "损失的奈特；小于 0 表示概率反而变大", choose: "选一个词，看哪些子词受损。",
  },
};

const set = { ranks: false };

export function draw(root, { part, sentence, t }) {
  const written = sentence.tokens.target.map(({ piece }) => piece);
  root.append(
    part.lens ? guesses(part.lens, written, t) : "",
    part.encoder || part.decoder ? streams(part, t) : "",
    part.importance ? importance(part.importance, written, t) : "");
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
    const forms = [[false, t("guess")], [true, t("rank")]].map(([ranks, text]) => h("button", {
      type: "button", "aria-pressed": String(set.ranks === ranks), on: { click: () => { set.ranks = ranks; show(); } },
    }, text));
    box.append(h("div", { class: "toolbar" }, h("div", { class: "choose", role: "group", "aria-label": t("show") }, forms),
      h("span", { class: "soft" }, t("guessScale"))), readout, h("div", { class: "scroll" }, table));
    focusAgain();
  };
  show();
  return h("div", { class: "block" }, h("h3", {}, t("lens")), h("p", { class: "soft" }, t("lensLead")), box);
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

/* -- the stream by layer ---------------------------------------------------------------------- */

function streams(part, t) {
  const sides = ["encoder", "decoder"].filter((side) => part[side]);
  const norms = sides.map((side) => {
    const { shape, row } = unpack(part[side].norms);
    return [...Array(shape[0]).keys()].map((k) => row(k).reduce((sum, one) => sum + one, 0) / shape[1]);
  });
  const similar = sides.map((side) => part[side].similarity);
  const bad = sides.flatMap((side, s) => similar[s].flatMap((value, k) =>
    (value !== null && value > part.collapsed ? [`${t(side)}, ${k ? t("layer", { layer: k - 1 }) : t("in")}`] : [])));
  const highest = Math.max(...norms.flat());
  return h("div", { class: "block" }, h("h3", {}, t("streams")),
    h("p", { class: bad.length ? "bad" : "soft" }, bad.length ? t("collapsed", { where: bad.join("; ") }) : t("apart")),
    h("div", { class: "charts" },
      chart(t("norms"), sides, norms, { low: 0, high: highest * 1.08 }, t),
      similar.flat().some((value) => value !== null) && chart(t("similar"), sides, similar,
        { low: Math.min(0, ...similar.flat()), high: 1, limit: part.collapsed }, t)));
}

function chart(title, sides, series, { low, high, limit }, t) {
  const [width, height, left, bottom] = [420, 190, 46, 34];
  const n = Math.max(...series.map((one) => one.length));
  const x = (k) => left + 14 + (k * (width - left - 34)) / Math.max(1, n - 1);
  const y = (value) => 12 + (height - bottom - 12) * (1 - (value - low) / (high - low));
  const colours = { encoder: "one", decoder: "two" };
  const step = [0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => (high - low) / one <= 5.5) ?? (high - low) / 4;
  const first = Math.ceil(low / step);
  const ticks = [...Array(Math.floor(high / step) - first + 1).keys()].map((k) => (first + k) * step);
  const summary = sides.map((side, s) => `${t(side)}: ${series[s].map((value) => short(value ?? NaN)).join(", ")}`).join("; ");
  return h("figure", { class: "plot" }, h("figcaption", {}, title, sides.map((side) => h("span", { class: `key ${colours[side]}` }, t(side)))),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${summary}` },
      ticks.map((value) => [svg("line", { class: "grid", x1: left, x2: width - 8, y1: y(value), y2: y(value) }),
        svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, short(value, 2))]),
      limit && [svg("rect", { class: "danger", x: left, y: y(high), width: width - left - 8, height: y(limit) - y(high) }),
        svg("text", { class: "danger-text", x: left + 4, y: y(limit) + 13 }, t("collapse", { limit }))],
      [...Array(n).keys()].map((k) => svg("text", { x: x(k), y: height - 14, "text-anchor": "middle" }, k ? String(k - 1) : t("in"))),
      series.map((values, s) => {
        const points = values.flatMap((value, k) => (value === null ? [] : [[x(k), y(value), value]]));
        return svg("g", { class: `series ${colours[sides[s]]}` },
          svg("polyline", { points: points.map(([a, b]) => `${a},${b}`).join(" ") }),
          points.map(([a, b, value]) => svg("circle", { cx: a, cy: b, r: 4, class: limit && value > limit ? "bad-dot" : "" },
            svg("title", {}, short(value)))));
      }),
      svg("text", { x: (left + width) / 2, y: height - 1, "text-anchor": "middle" }, t("axis"))));
}

/* -- which words matter ----------------------------------------------------------------------- */

function importance({ words: names, attention, lost, ...long }, written, t) {
  if (!names) return h("p", { class: "missing" }, t("tooMany", { n: long.n_words, most: long.most }));
  const { row } = unpack(lost);
  const totals = names.map((_, i) => row(i).reduce((sum, one) => sum + one, 0));
  const most = Math.max(1e-9, ...totals.map(Math.abs));
  const mostAttention = attention ? Math.max(...attention) : 1;
  const details = h("div", { class: "word-loss", "aria-live": "polite" }, h("p", { class: "soft" }, t("choose")));
  const buttons = [];
  const pick = (i) => {
    buttons.forEach((one, k) => one.setAttribute("aria-pressed", String(k === i)));
    const losses = [...row(i)];
    const strongest = Math.max(1e-9, ...losses.map(Math.abs));
    details.replaceChildren(h("p", {}, t("loss", { word: names[i] }), " ", h("span", { class: "soft" }, t("lossScale"))),
      h("div", { class: "pieces" }, written.map((piece, k) => h("span", {
        class: `token lost-token${losses[k] < 0 ? " gained" : ""}`, style: { "--share": String(Math.abs(losses[k]) / strongest) },
      }, h("span", { class: "piece" }, piece), h("span", { class: "id" }, Math.abs(losses[k]) < 0.005 ? "0" : short(losses[k]))))));
  };
  const bar = (share, kind) => h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: `fill ${kind}`, style: { width: `${100 * share}%` } }));
  const rows = names.map((name, i) => {
    const button = h("button", { type: "button", class: "bare word", "aria-pressed": "false", on: { click: () => pick(i) } }, name);
    buttons.push(button);
    return h("li", {},
      attention && [h("span", { class: "value" }, percent(attention[i])), bar(attention[i] / mostAttention, "to-left")],
      button, bar(Math.abs(totals[i]) / most, totals[i] < 0 ? "gain" : "loss"), h("span", { class: "value" }, short(totals[i])));
  });
  const list = h("ul", { class: attention ? "importance" : "importance single" },
    h("li", { class: "heads soft" }, attention && [h("span", {}), h("span", { class: "end" }, t("attention"))], h("span", { class: "middle" }, t("word")), h("span", {}, t("deletion")), h("span", {})),
    rows);
  roving(list, "button");
  return h("div", { class: "block" }, h("h3", {}, t("importance")), h("p", { class: "soft" }, t("importanceLead")), attention ? "" : h("p", {}, t("only")),
    list, details);
}
