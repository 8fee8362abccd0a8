/* The sentence: tokens of both sides, how likely each was, and what was likely instead. */

import { h, clear, roving } from "./dom.js";
import { percent, short, whole } from "./numbers.js";

export const part = "tokens";

export const words = {
  en: {
    title: "The sentence",
    lead: "What the model reads and writes, or finds how likely, piece by piece. Point at a piece on the coloured row, or move to it with Tab and the arrow keys, to see what else was likely.",
    source: "Source", written: "Written", text: "Text",
    id: "id {id}", rank: "rank {rank} of {vocabulary}", entropy: "entropy {entropy} nats",
    likely: "Probability of each piece", unlikely: "0 %", sure: "100 %",
    alternatives: "What could have come in place of {piece}", others: "all {n} others",
    unknown: "unknown", marker: "marker", code: "code", byte: "byte",
    cut: "The model reads {n} tokens at once: the {left} characters behind them are left out.",
    joined: "Pieces of one word stand close together; ▁ is the space in front of a word.",
    all: "The whole: log-probability {log_prob} nats, {per_token} a piece.",
  },
  zh: {
    title: "句子",
    lead: "模型读到的、写出的（或给出概率的）每个子词。指向着色一行的子词（或用 Tab 与方向键移动到它），可看到当时还有哪些可能。",
    source: "原文", written: "写出", text: "文本",
    id: "编号 {id}", rank: "在 {vocabulary} 个中排第 {rank}", entropy: "熵 {entropy} 奈特",
    likely: "各子词的概率", unlikely: "0 %", sure: "100 %",
    alternatives: "{piece} 处还可能是什么", others: "其余 {n} 个之和",
    unknown: "未知", marker: "特殊符号", code: "代码", byte: "字节",
    cut: "模型一次最多读 {n} 个词元：其后的 {left} 个字符未读。",
    joined: "同一个词的子词靠在一起；▁ 表示词前的空格。",
    all: "整句：对数概率 {log_prob} 奈特，平均每个子词 {per_token}。",
  },
};

export function draw(root, context) {
  const { part, t } = context;
  const details = h("div", { class: "details", "aria-live": "polite" });
  const written = row(t(part.source.length ? "written" : "text"), part.target.map((token, i) => writtenToken(token, i, context)));
  context.onChoose(root, ({ token }) => describe(token));
  const describe = (i) => {
    for (const one of written.querySelectorAll("button")) {
      one.setAttribute("aria-pressed", String(Number(one.dataset.token) === i));
    }
    clear(details);
    if (part.target[i]) details.append(...alternatives(part.target[i], part.vocabulary, t));
  };
  const { left_out: left } = context.sentence;
  root.append(
    left ? h("p", { class: "missing" }, t("cut", { n: whole(part.source.length), left: whole(left) })) : "",
    part.source.length ? row(t("source"), part.source.map((token) => plainToken(token, t))) : "",
    written, scale(t), details,
    h("p", { class: "soft" }, t("joined"), " ", t("all", {
      log_prob: short(part.log_prob), per_token: short(part.log_prob / part.target.length),
    })));
  roving(written, "button");
  context.choose({ token: context.chosen.token ?? leastSure(part.target) });
}

function leastSure(target) {
  return target.reduce((best, one, i) => (one.log_prob < target[best].log_prob ? i : best), 0);
}

function row(label, tokens) {
  return h("div", { class: "tokens", role: "group", "aria-label": label },
    h("span", { class: "side" }, label), h("span", { class: "pieces", dir: "auto" }, tokens));
}

function plainToken(token, t) {
  return h("span", { class: classes(token), title: described(token, t) }, piece(token), number(token));
}

function writtenToken(token, i, { t, choose }) {
  const choosing = () => choose({ token: i });
  const share = Math.exp(token.log_prob);
  return h("button", {
    type: "button", class: classes(token), "data-token": String(i),
    style: { "--share": String(share) },
    "aria-label": `${token.piece}, ${percent(share)}`, "aria-pressed": "false",
    on: { pointerenter: choosing, focus: choosing, click: choosing },
  }, piece(token), number(token));
}

function classes(token) {
  return `token ${token.kind}${token.piece.startsWith("▁") || token.kind === "marker" ? " first" : ""}`;
}

function piece(token) {
  return h("span", { class: "piece" }, token.piece);
}

function number(token) {
  return h("span", { class: "id", "aria-hidden": "true" }, String(token.id));
}

function described(token, t) {
  const kind = token.kind === "word" ? "" : `${t(token.kind)}, `;
  return `${kind}${t("id", { id: token.id })}`;
}

function scale(t) {
  return h("div", { class: "scale" }, h("span", {}, t("likely")), " ",
    h("span", {}, t("unlikely")), h("span", { class: "ramp", "aria-hidden": "true" }), h("span", {}, t("sure")));
}

/* Bars of what was likely, the rest of the vocabulary in one. */
function alternatives(token, vocabulary, t) {
  const rest = Math.max(0, 1 - token.top.reduce((sum, one) => sum + one.prob, 0));
  const numbers = [described(token, t), percent(Math.exp(token.log_prob)),
    t("rank", { rank: token.rank, vocabulary: whole(vocabulary) }),
    t("entropy", { entropy: short(token.entropy) })].join(" · ");
  return [
    h("h3", {}, t("alternatives", { piece: token.piece })), h("p", { class: "soft" }, numbers),
    h("ol", { class: "bars" },
      token.top.map((one) => bar(one.piece, one.prob, one.id === token.id)),
      vocabulary > token.top.length && bar(t("others", { n: whole(vocabulary - token.top.length) }), rest, false, "rest")),
  ];
}

function bar(name, share, taken, kind = "") {
  return h("li", { class: `${kind}${taken ? " taken" : ""}` },
    h("span", { class: "name", dir: "auto" }, name),
    h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "fill", style: { width: `${100 * share}%` } })),
    h("span", { class: "value" }, percent(share)));
}
