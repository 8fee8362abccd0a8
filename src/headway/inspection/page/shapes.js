/* From tokens to output: every tensor with its shape and its formula, and what each part of the
   model costs. */

import { h } from "./dom.js";
import { whole } from "./numbers.js";

export const part = "shapes";

export const words = {
  en: {
    title: "From tokens to output",
    lead: "Every tensor of one pass, in the order in which it is computed, with its formula: of the model that ran, so that whoever puts in what is named gets the tensor. Layers of one stack are alike: one is shown of each, and how many there are.",
    tensor: "tensor", shape: "shape", formula: "formula", layers: "× {n} layers", given: "given", where: "where",
    costs: "What each part costs", part: "part", parameters: "parameters", operations: "operations for this sentence",
    all: "all", source: "{n} source tokens, ", target: "{m} tokens that are fed.",
    shared: "A matrix that is used twice is counted where it comes first.",
    signs: "A row is a token. · is the product of two matrices, ∘ that of numbers in the same place, ᵀ turns a matrix over.",
    f_softmax: "e to the power of each score over the sum of its row, where visible; 0 elsewhere", f_heads: "each row cut into h pieces, one for each head", f_joined: "the heads' rows side by side again",
    f_LayerNorm: "(x − mean of the row) / √(variance of the row + ε)", f_PE: "sin(pos / 10000^(2i/d)) and cos of the same, in turn: n positions",
    f_rotated: "each pair of numbers turned by an angle that grows with the position", f_by_distance: "the query times the key of the distance between the two positions",
    f_additive: "v times tanh(q + k), for every pair of a query and a key", f_concat: "side by side; a single vector stands beside every row",
    f_before: "the row before; nothing, or what is given, before the first", f_after: "the row behind: it is read from the end",
    f_around: "each row with its k neighbours, d apart, side by side", f_behind: "each row with the k − 1 before it, d apart, side by side",
    f_window: "the last n rows side by side, the newest first", f_fitted: "the first m rows, zeros behind the last", f_even: "the same for all that is visible", f_last_seen: "1 for the last that is visible",
    f_tanh: "between −1 and 1", f_σ: "1 / (1 + e^−x)", f_silu: "x σ(x)", f_gelu: "x times the chance that a normal number is below x", f_max: "what is below 0 is 0",
    f_first: "the first row", f_last: "the last row",
  },
  zh: {
    title: "从词元到输出",
    lead: "一次前向计算中的每个张量，按计算顺序排列，并附公式。公式来自实际运行的模型：把所列各项代入，就得到该张量。同一堆叠的各层相同：每种只列一层，并注明层数。",
    tensor: "张量", shape: "形状", formula: "公式", layers: "× {n} 层", given: "已知", where: "其中",
    costs: "各部分的开销", part: "部分", parameters: "参数", operations: "本句的运算次数",
    all: "合计", source: "原文 {n} 个词元，", target: "输入 {m} 个词元。",
    shared: "被使用两次的矩阵只在首次出现处计数。",
    signs: "每一行是一个词元。· 是矩阵乘积，∘ 是对应位置相乘，ᵀ 是转置。",
    f_softmax: "可见处分数的 e 次方除以该行之和，其余为 0", f_heads: "每行切成 h 段，每个头一段", f_joined: "各头的行重新拼接",
    f_LayerNorm: "(x − 该行均值) / √(该行方差 + ε)", f_PE: "sin(pos / 10000^(2i/d)) 与相应的 cos 交替，共 n 个位置",
    f_rotated: "每两个数转过一个随位置增大的角度", f_by_distance: "查询与两处距离所对应的键之积",
    f_additive: "对每一对查询与键：v 乘以 tanh(q + k)", f_concat: "左右拼接；单个向量与每一行拼接",
    f_before: "前一行；第一行之前为零或所给的初值", f_after: "后一行：从末尾读起",
    f_around: "每一行与相隔 d 的共 k 个邻居拼接", f_behind: "每一行与它之前相隔 d 的 k − 1 行拼接",
    f_window: "最近 n 行拼接，最新的在前", f_fitted: "前 m 行，不足补零", f_even: "可见处均匀分配", f_last_seen: "最后一个可见处为 1",
    f_tanh: "介于 −1 与 1 之间", f_σ: "1 / (1 + e^−x)", f_silu: "x σ(x)", f_gelu: "x 乘以标准正态变量小于 x 的概率", f_max: "小于 0 的取 0",
    f_first: "第一行", f_last: "最后一行",
  },
};

export function draw(root, { part, sentence, t }) {
  const layers = counted(part.tensors);
  const shown = part.tensors.filter(({ name }) => !/\.\d+\./.test(name) || /\.0\./.test(name));
  const n = sentence.tokens.source.length;
  root.append(
    h("p", { class: "soft" }, n ? t("source", { n }) : "", t("target", { m: sentence.tokens.target.length }), " ", t("signs")),
    table([t("tensor"), t("shape"), t("formula")], shown.map((tensor) => row(tensor, layers, t)), "flow"),
    h("dl", { class: "functions" }, functions(shown).map((name) => h("div", {}, h("dt", {}, h("code", {}, name)), h("dd", { class: "soft" }, t(`f_${name}`))))),
    h("h3", {}, t("costs")),
    table([t("part"), t("parameters"), t("operations")], costs(part.parts, t), "costs"),
    h("p", { class: "soft" }, t("shared")));
}

/* The names of functions in what is shown. */
function functions(shown) {
  const texts = shown.flatMap((tensor) => tensor.formula?.text ?? []);
  return [...new Set(texts.flatMap((text) => text.split("(").slice(0, -1).map((part) => part.match(/[\p{L}_]+$/u)?.[0])))].filter(Boolean);
}

/* How many layers each stack has. */
function counted(tensors) {
  const layers = {};
  for (const { name } of tensors) {
    const found = name.match(/^(\w+)\.(\d+)\./);
    if (found) layers[found[1]] = Math.max(layers[found[1]] ?? 0, Number(found[2]) + 1);
  }
  return layers;
}

function row({ name, shape, formula: own }, layers, t) {
  const stack = name.match(/^(\w+)\.0\./)?.[1];
  const times = stack && name.endsWith(".0.output") ? h("span", { class: "soft" }, ` ${t("layers", { n: layers[stack] })}`) : null;
  return [[h("code", {}, name), times], h("code", {}, `[${shape.join(" × ")}]`), own ? formula(own, t) : h("span", { class: "soft" }, t("given"))];
}

function formula({ text, where }, t) {
  const letters = Object.entries(where).map(([letter, name]) => `${letter} = ${name}`).join(", ");
  return [h("span", { class: "equation" }, text), letters && h("div", { class: "soft small" }, `${t("where")} ${letters}`)];
}

function costs(parts, t) {
  const sum = (key) => parts.reduce((total, one) => total + one[key], 0);
  const most = Math.max(...parts.map((one) => one.operations), 1);
  const rows = parts.map((one) => [
    h("code", {}, one.name), whole(one.parameters),
    [whole(one.operations), h("span", { class: "share", "aria-hidden": "true",
      style: { width: `${(6 * one.operations) / most}rem` } })],
  ]);
  return [...rows, [t("all"), whole(sum("parameters")), whole(sum("operations"))]];
}

function table(head, rows, kind) {
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": head.join(", ") },
    h("table", { class: kind },
      h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map(([first, ...others]) => h("tr", {}, h("th", { scope: "row" }, first),
        others.map((cell) => h("td", {}, cell)))))));
}
