/* What each head does over many texts: a row a head, a column a habit. */

import { h } from "./dom.js";
import { strength } from "./maps.js";
import { percent, whole } from "./numbers.js";

export const shown = (page) => Boolean(page.heads);

export const words = {
  en: {
    title: "Heads over many texts",
    lead: "What each head does, measured over all texts: the share of its weight on each kind of place. One sentence shows much that is chance; a habit is one in all of them.",
    texts: "{n} texts.", left: "{n} more are left out: there are too many.",
    "encoder.self": "Source looks at itself", "decoder.self": "Written looks at itself", "decoder.cross": "Written looks at source",
    head: "Head", place: "layer {layer}, head {head}", does: "does", spread: "spread", even: "equal weights would pay",
    read: "The stronger the colour, the more weight lies there than equal weights would pay. Spread: 100 % is all alike.",
    "h previous": "previous", "h itself": "itself", "h next": "next", "h same word": "same piece", "h punctuation": "punctuation", "h first": "first token",
    "h marker": "marker", "h same place": "same place", "h diffuse": "diffuse", "h mixed": "mixed",
  },
  zh: {
    title: "多段文本中的头",
    lead: "在所有文本上测得的每个头的作用：落在每类位置上的权重份额。单个句子里偶然居多；在所有文本中都如此的才是习惯。",
    texts: "共 {n} 段文本。", left: "另有 {n} 段未计入：太多了。",
    "encoder.self": "原文看原文", "decoder.self": "输出看输出", "decoder.cross": "输出看原文",
    head: "头", place: "第 {layer} 层，头 {head}", does: "作用", spread: "分散程度", even: "平均分配时的份额",
    read: "颜色越浓，落在该处的权重越多于平均分配。分散程度：100 % 为完全均匀。",
    "h previous": "前一个", "h itself": "自己", "h next": "后一个", "h same word": "相同子词", "h punctuation": "标点", "h first": "首个",
    "h marker": "特殊符号", "h same place": "相同位置", "h diffuse": "分散", "h mixed": "混合",
  },
};

export function draw(root, { page, t, language }) {
  const found = page.heads;
  if (found.missing) {
    root.append(h("p", { class: "missing" }, found.missing[language]));
    return;
  }
  root.append(
    h("p", {}, t("texts", { n: whole(found.n_texts) }), " ", found.left_out > 0 && t("left", { n: whole(found.left_out) })),
    h("p", { class: "soft small" }, t("read")),
    ...found.kinds.map(({ kind, habits }) => h("div", {}, h("h3", {}, t(kind)), table(t(kind), habits, t))));
}

function table(label, { names, shares, even, strengths, spread, heads }, t) {
  const cells = (layer, head) => names.map((_, i) => {
    const share = shares[layer][head][i];
    if (share === null) return h("td", {}, "–");
    return h("td", { style: { "--share": String(strength(strengths[layer][head][i])) } }, percent(share));
  });
  const row = (layer, head) => h("tr", {}, h("th", { scope: "row" }, t("place", { layer, head })),
    h("td", { class: "does" }, t(`h ${heads[layer][head]}`)), cells(layer, head), h("td", {}, percent(spread[layer][head])));
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, h("table", { class: "gates heads" },
    h("thead", {}, h("tr", {}, [t("head"), t("does"), ...names.map((name) => t(`h ${name}`)), t("spread")].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, heads.map((all, layer) => all.map((_, head) => row(layer, head)))),
    h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, t("even")), h("td", {}), even.map((share) => h("td", {}, share === null ? "–" : percent(share))), h("td", {})))));
}
