/* The paper's ideas on this model: positions, masks, why the scale is there. */

import { h } from "./dom.js";
import { chart } from "./chart.js";
import { unpack } from "./data.js";
import { short } from "./numbers.js";
import { paint, legend } from "./heat.js";

export const part = "ideas";

export const words = {
  en: {
    title: "The ideas, on this model",
    lead: "What the paper argues for, in the numbers of this run.",
    positions: "Positions ({kind})",
    positionsLead: "What is added to the embedding at each position: one row a position, one column a dimension.",
    similarity: "How alike two positions are, by their distance", distance: "distance in tokens", cosine: "mean cosine",
    noPositions: "Nothing is added to the embeddings.",
    attention_knows: "Attention knows distances by itself ({kind}): they act where queries meet keys.",
    recurrence_knows: "Recurrent layers read one token after the other, which is how they know the order.",
    convolution_knows: "A convolution has other weights for each of its inputs, from the left to the right, which is how it knows the order.",
    window_knows: "Each of the last words has columns of its own in H and W, which is how the model knows the order.",
    mask_knows: "Attention without positions cannot tell the order of what it sees. Only the decoder's causal mask tells it something: each token sees those before it. An encoder knows no order at all.",
    nothing_knows: "Nothing tells the order: shuffled tokens give shuffled vectors.",
    masks: "Masks", causal: "Causal: what each step of the decoder may look at. Row = the token that is fed, column = what it sees.",
    padding: "Padding: these sentences as one batch. What is filled up is hidden from every query.",
    scale: "Why scores are divided by √d_k",
    scaleLead: "Each attention of this sentence with its scale and without. Without it the scores spread √d_k times as far, softmax puts most weight on one key, and less gradient gets through it: Σ p (1 − p) is the sum of its derivatives, 0 where all weight is on one key.",
    attention: "attention", largest: "largest weight", gradient: "gradient Σ p (1 − p)", spread: "spread of scores",
    withScale: "with 1/√d_k", without: "without",
    below: "−{n}", above: "+{n}", position: "position", dimension: "dimension",
  },
  zh: {
    title: "这些思想在此模型上",
    lead: "论文的论点，用本次训练的数字来看。",
    positions: "位置编码（{kind}）",
    positionsLead: "每个位置加到词向量上的数：一行一个位置，一列一个维度。",
    similarity: "两个位置的相似度随距离的变化", distance: "距离（词元）", cosine: "平均余弦",
    noPositions: "词向量上不加任何东西。",
    attention_knows: "注意力自身知道距离（{kind}）：距离在查询与键相遇处起作用。",
    recurrence_knows: "循环层逐个读入词元，由此知道先后。",
    convolution_knows: "卷积从左到右对每个输入各有权重，由此知道先后。",
    window_knows: "前面的每个词在 H 与 W 中各占几列，由此知道先后。",
    mask_knows: "没有位置的注意力分不出所见词元的先后；只有解码器的因果掩码透露一些：每个词元只看得到它之前的。编码器完全不知道先后。",
    nothing_knows: "没有任何东西透露先后：打乱词元，向量只是跟着打乱。",
    masks: "掩码", causal: "因果掩码：解码器每一步能看到什么。行 = 输入的词元，列 = 它看到的词元。",
    padding: "填充掩码：把这些句子放进一个批次。填充处对所有查询隐藏。",
    scale: "为什么分数要除以 √d_k",
    scaleLead: "本句的每个注意力，有缩放与没有缩放相比。没有缩放时分数的离散程度大 √d_k 倍，softmax 把大部分权重放到一个键上，通过它的梯度随之减少：Σ p (1 − p) 是其导数之和，全部权重在一个键上时为 0。",
    attention: "注意力", largest: "最大权重", gradient: "梯度 Σ p (1 − p)", spread: "分数的标准差",
    withScale: "除以 √d_k", without: "不除",
    below: "−{n}", above: "+{n}", position: "位置", dimension: "维度",
  },
};

export function draw(root, context) {
  const { part, run, t } = context;
  root.append(h("div", {},
    run.positions ? positions(run.positions, t)
      : h("p", { class: "soft" }, t("noPositions"), " ", t(`${run.order_known_by}_knows`, { kind: run.model.positions })),
    masks([causal(context), padding(context)].filter(Boolean), t),
    part.scale.length > 0 && scales(part.scale, t)));
}

function positions({ kind, table, similarity }, t) {
  const { shape: [rows, columns], at, values } = unpack(table);
  const most = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const canvas = paint(rows, columns, (i, j) => at(i, j) / most, {
    label: t("positionsLead"), signed: true, height: 3, width: Math.max(2, Math.round(384 / columns)),
  });
  return [
    h("h3", {}, t("positions", { kind })),
    h("div", { class: "pair" },
      h("figure", {}, h("figcaption", {}, t("positionsLead")), canvas,
        legend(t("below", { n: short(most) }), t("above", { n: short(most) }), { signed: true })),
      chart({ title: t("similarity"), series: [{ name: t("cosine"), style: "one", points: [...similarity.entries()] }],
        x: { unit: t("distance") }, y: { unit: t("cosine"), from: 0, to: 1 }, t, width: 360 })),
  ];
}

function masks(figures, t) {
  return figures.length > 0 && [h("h3", {}, t("masks")), h("div", { class: "pair" }, figures)];
}

function causal({ part, sentence, t }) {
  if (!part.causal) return null;
  const { shape: [n], at } = unpack(part.causal);
  const cell = Math.max(4, Math.min(18, Math.floor(320 / n)));
  const names = [sentence.tokens.fed, ...sentence.tokens.target].slice(0, n).map((token) => token.piece);
  return h("figure", {}, h("figcaption", {}, t("causal")),
    n <= 24 ? triangle(names, at) : paint(n, n, (i, j) => at(i, j) * 0.8, { label: t("causal"), height: cell, width: cell }));
}

/* With the tokens beside it: what is hidden is hatched. */
function triangle(names, at) {
  return h("div", { class: "wide" }, h("table", { class: "triangle" }, h("tbody", {}, names.map((name, i) =>
    h("tr", {}, h("th", { scope: "row" }, name), names.map((_, j) =>
      h("td", { class: at(i, j) ? "seen" : "hidden" }, h("span", { class: "only-heard" }, at(i, j) ? "1" : "0"))))))));
}

function padding({ page, t }) {
  if (page.sentences.length < 2) return null;
  const rows = page.sentences.map((one) => (one.tokens.source.length ? one.tokens.source : one.tokens.target).length);
  const longest = Math.max(...rows);
  const cell = Math.max(3, Math.min(16, Math.floor(340 / longest)));
  return h("figure", {}, h("figcaption", {}, t("padding")),
    paint(rows.length, longest, (i, j) => (j < rows[i] ? 0.8 : 0), { label: t("padding"), height: 16, width: cell }));
}

function scales(found, t) {
  const head = [t("attention"), t("spread"), t("largest"), t("gradient")];
  return [
    h("h3", {}, t("scale")), h("p", { class: "soft" }, t("scaleLead")),
    h("p", { class: "key" }, h("span", { class: "swatch one" }), t("withScale"), " ", h("span", { class: "swatch two" }), t("without")),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": t("scale") },
      h("table", { class: "scales" },
        h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, found.map((one) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, one.name)),
          ["spread", "largest", "gradient"].map((key) => h("td", {}, both(one, key, found)))))))),
  ];
}

function both({ scaled, unscaled }, key, found) {
  const most = key === "spread" ? Math.max(...found.map((one) => one.unscaled.spread)) : 1;
  const bar = (value, kind) => h("span", { class: "measure" },
    h("span", { class: `fill ${kind}`, "aria-hidden": "true", style: { width: `${(5 * value) / most}rem` } }), short(value));
  return [bar(scaled[key], "one"), bar(unscaled[key], "two")];
}
