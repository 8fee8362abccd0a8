/* Two runs on one text: what each writes and finds likely, where each looks, and what each has. */

import { h, svg } from "./dom.js";
import { inflated } from "./data.js";
import { entries, fedTokens, matrix, shownMap } from "./maps.js";
import { percent, short, whole } from "./numbers.js";

export const part = "compared";

export const words = {
  en: {
    title: "Side by side",
    lead: "Two runs on the same text: what each writes, how sure it is, what it makes of the other's text, and where it looks.",
    type: "Model", parameters: "Parameters", vocabulary: "Vocabulary", sizes: "Sizes", writes: "What each writes",
    sure: "Tokens, coloured by the probability that the run gave them.",
    crossed: "How likely each finds what was written", crossedLead: "Nats per character, the end included: lower is likelier. Both models read the same characters, whatever their tokens.",
    text: "Written by", by: "found by {name}", same: "Both have the same text.",
    looks: "Where each looks while it writes", looksLead: "The mean over all layers and heads of the attention to the source, in words. Rows are written, columns are read.",
    parts: "What each has", has: "yes", lacks: "no",
    "p tokens": "Tokens and probabilities", "p attention": "Attention", "p cells": "Every number of a cell", "p steps": "Step by step", "p beams": "Beam tree", "p layers": "Layer by layer",
    "p ideas": "Ideas", "p shapes": "Shapes and costs", "p gates": "Gates", "p changes": "Changes",
    noLook: "{name} has no attention to the source.", masked: "hidden by the mask", point: "Point at a cell, or move with the arrow keys.", move: "The arrow keys move over the cells.", rows: "writes", columns: "reads",
    settings: "Settings that differ ({n})",
  },
  zh: {
    title: "两次训练并排",
    lead: "同一段文本上的两次训练：各自写出什么、有多大把握、如何看待对方所写，以及看向哪里。",
    type: "模型", parameters: "参数", vocabulary: "词表", sizes: "大小", writes: "各自写出的文本",
    sure: "词元按该模型给出的概率着色。",
    crossed: "各自认为写出的文字有多可能", crossedLead: "每个字符的奈特数（含结尾），越低越可能。不论如何切分，两个模型读的是同样的字符。",
    text: "写出者", by: "由 {name} 评估", same: "两者的文字相同。",
    looks: "写的时候各自看向哪里", looksLead: "对原文的注意力在所有层和头上的平均，以词为单位。行是写出的，列是读到的。",
    parts: "各自有什么", has: "有", lacks: "无",
    "p tokens": "词元与概率", "p attention": "注意力", "p cells": "一格的全部数字", "p steps": "逐步", "p beams": "束搜索树", "p layers": "逐层",
    "p ideas": "想法", "p shapes": "形状与开销", "p gates": "门", "p changes": "改动",
    noLook: "{name} 没有对原文的注意力。", masked: "被掩码遮住", point: "指向一格，或用方向键移动。", move: "用方向键在格子间移动。", rows: "写出", columns: "读到",
    settings: "不同的设置（{n} 项）",
  },
};

export async function draw(root, context) {
  const { part, run, sentence, t, language } = context;
  const both = [{ run, sentence, name: run.name }, { run: sentence.beside.run, sentence: sentence.beside, name: sentence.beside.run.name }];
  if (both[0].name === both[1].name) both.forEach((one, i) => { one.name = `${one.name} (${i + 1})`; });
  root.append(h("h3", {}, t("writes")), h("p", { class: "soft small" }, t("sure")), h("div", { class: "two-runs" }, both.map((one) => written(one))),
    ...crossed(part.translations, both, t, language));
  const looks = h("div", {});
  root.append(looks, h("div", { class: "pair" }, sizes(both, t), had(part.parts, both, t, language)));
  await look(looks, both, t);
}

function written({ name, run, sentence }) {
  return h("div", { class: "one-run" }, h("h4", {}, name, " ", h("span", { class: "soft" }, run.type)),
    h("p", { class: "translated", dir: "auto" }, sentence.translation),
    h("div", { class: "pieces", dir: "auto" }, sentence.tokens.target.map((token) => {
      const share = Math.exp(token.log_prob);
      return h("span", { class: `token lit${token.piece.startsWith("▁") ? " first" : ""}`, style: { "--share": String(share) }, title: percent(share) },
        h("span", { class: "piece" }, token.piece), h("span", { class: "id" }, percent(share)));
    })));
}

/* A translation's likelihood under either model, as bars. */
function crossed(found, both, t, language) {
  if (found.missing) return [h("p", { class: "missing" }, found.missing[language])];
  if (found.written[0] === found.written[1]) found = { written: [found.written[0]], nats_per_character: [found.nats_per_character[0]], same: true };
  const most = Math.max(...found.nats_per_character.flat(), 1e-9);
  return [
    h("h3", {}, t("crossed")), h("p", { class: "soft small" }, t("crossedLead"), " ", found.same ? t("same") : ""),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": t("crossed") }, h("table", { class: "crossed" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("text")), both.map(({ name }, i) => h("th", { scope: "col" }, swatch(i), t("by", { name }))))),
      h("tbody", {}, found.written.map((text, i) => h("tr", {},
        h("th", { scope: "row" }, h("span", { class: "soft" }, found.same ? "" : `${both[i].name}: `), h("span", { dir: "auto" }, text)),
        found.nats_per_character[i].map((nats, j) => h("td", {}, h("span", { class: `share ${j ? "two" : "one"}`, "aria-hidden": "true", style: { width: `${(100 * nats) / most}%` } }), short(nats)))))))),
  ];
}

function swatch(i) {
  return svg("svg", { class: "sample", viewBox: "0 0 22 10", "aria-hidden": "true" }, svg("line", { class: `curve-line ${i ? "two" : "one"}`, x1: 1, x2: 21, y1: 5, y2: 5 }));
}

/* Attention to the source of both, the mean over layers and heads. */
async function look(root, both, t) {
  if (!both.some(({ sentence }) => sentence.tokens.source.length)) return;
  const maps = await Promise.all(both.map(({ sentence }) => crossMap(sentence)));
  if (!maps.some(Boolean)) return;
  const columns = h("div", { class: "two-runs" });
  root.append(h("h3", {}, t("looks")), h("p", { class: "soft small" }, t("looksLead")), columns);
  both.forEach(({ name }, i) => {
    const box = h("figure", { class: "panel" }, h("figcaption", {}, h("b", {}, name)));
    columns.append(box);
    if (maps[i]) box.append(matrix(maps[i], { label: name, axes: { rows: t("rows"), columns: t("columns") }, t, pick: () => {}, marked: null, width: box.clientWidth }));
    else box.append(h("p", { class: "missing" }, t("noLook", { name })));
  });
}

async function crossMap(sentence) {
  const kind = sentence.attention.kinds?.find((one) => one.kind === "decoder.cross");
  if (!kind) return null;
  const { values, shape: [layers, heads, n, m] } = await inflated(kind.maps);
  const mean = new Float32Array(n * m);
  values.forEach((byte, i) => { mean[i % (n * m)] += byte / 255 / (layers * heads); });
  const rows = entries(fedTokens(sentence.tokens).map((token, i) => ({ ...token, piece: sentence.tokens.target[i].piece, word: sentence.tokens.target[i].word, kind: sentence.tokens.target[i].kind, writes: undefined })), { words: true, markers: true });
  const columns = entries(sentence.tokens.source, { words: true, markers: true });
  return shownMap((i, j) => mean[i * m + j], () => 1, rows, columns);
}

/* Sizes, and the settings in which the two differ. */
function sizes(both, t) {
  const count = (n) => (n === undefined ? "–" : whole(n));
  const names = [...new Set(both.flatMap(({ run }) => Object.keys(run.model)))]
    .filter((name) => both[0].run.model[name] !== both[1].run.model[name]);
  const rows = [[t("type"), (run) => run.type], [t("parameters"), (run) => count(run.n_parameters || undefined)], [t("vocabulary"), (run) => count(run.vocabulary)]];
  const settings = names.map((name) => [h("code", {}, name), (run) => String(run.model[name] ?? "–")]);
  const table = (some, label) => h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, h("table", {},
    h("thead", {}, h("tr", {}, h("td", {}), both.map(({ name }) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, some.map(([head, of]) => h("tr", {}, h("th", { scope: "row" }, head), both.map(({ run }) => h("td", {}, of(run))))))));
  return h("div", {}, h("h3", {}, t("sizes")), table(rows, t("sizes")),
    names.length > 0 && h("details", {}, h("summary", {}, t("settings", { n: names.length })), table(settings, t("settings", { n: names.length }))));
}

/* Which views each has; why not, where it has not. */
function had(parts, both, t, language) {
  return h("div", {}, h("h3", {}, t("parts")), h("table", { class: "had" },
    h("thead", {}, h("tr", {}, h("td", {}), both.map(({ name }) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, parts.map((one) => h("tr", {}, h("th", { scope: "row" }, words[language][`p ${one.part}`] ?? one.part),
      one.missing.map((why) => h("td", {}, why ? [h("b", { class: "lacks" }, t("lacks")), " ", h("span", { class: "soft small" }, why[language])] : h("span", { class: "has" }, t("has")))))))));
}
