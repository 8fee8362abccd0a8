/* From tokens to output: every tensor with its shape and its equation, as the paper has them, and
   what each part of the model costs. */

import { h } from "./dom.js";
import { whole } from "./numbers.js";

export const part = "shapes";

export const words = {
  en: {
    title: "From tokens to output",
    lead: "Every tensor of one pass, in the order in which it is computed, with its equation. Layers of one stack are alike: one is shown of each, and how many there are.",
    tensor: "tensor", shape: "shape", equation: "equation", layers: "× {n} layers",
    costs: "What each part costs", part: "part", parameters: "parameters", operations: "operations for this sentence",
    all: "all", letters: "n source tokens = {n}, m target tokens = {m}, h heads, d_k a head's queries and keys, d_v its values.",
    shared: "A matrix that is used twice is counted where it comes first.",
    embedding: "E[token] · √d_model", positions: "embedding + PE(position)", input: "the stream that enters the first layer",
    query: "Q = x W_Q + b_Q, cut into heads", key: "K = y W_K + b_K, cut into heads; y = x, or the encoder's output in cross-attention",
    value: "V = y W_V + b_V, cut into heads", scores: "Q Kᵀ / √d_k  (equation 1)", visible: "the mask: which keys a query may look at",
    weights: "softmax(scores where visible)  (equation 1)", heads: "weights · V", output: "Concat(heads) W_O + b_O",
    residual: "what went in + what came out", normed: "LayerNorm", inner: "max(0, x W₁ + b₁)  (equation 2), or its gated kind",
    ff: "inner W₂ + b₂  (equation 2)", stream: "the stream that leaves the layer", encoded: "the encoder's output: K and V of every decoder layer come from it",
    decoded: "the decoder's output", logits: "decoder.output · Eᵀ; softmax of it is the next token's distribution",
  },
  zh: {
    title: "从词元到输出",
    lead: "一次前向计算中的每个张量，按计算顺序排列，并附公式。同一堆叠的各层相同：每种只列一层，并注明层数。",
    tensor: "张量", shape: "形状", equation: "公式", layers: "× {n} 层",
    costs: "各部分的代价", part: "部分", parameters: "参数", operations: "本句的运算次数",
    all: "合计", letters: "n 为原文词元数 = {n}，m 为译文词元数 = {m}，h 为头数，d_k 为每头查询与键的维数，d_v 为值的维数。",
    shared: "被使用两次的矩阵只在首次出现处计数。",
    embedding: "E[词元] · √d_model", positions: "词向量 + PE(位置)", input: "进入第一层的数据流",
    query: "Q = x W_Q + b_Q，切成多头", key: "K = y W_K + b_K，切成多头；y = x，交叉注意力中为编码器输出",
    value: "V = y W_V + b_V，切成多头", scores: "Q Kᵀ / √d_k（公式 1）", visible: "掩码：每个查询可以看哪些键",
    weights: "softmax(可见处的分数)（公式 1）", heads: "权重 · V", output: "Concat(各头) W_O + b_O",
    residual: "输入 + 子层输出", normed: "LayerNorm", inner: "max(0, x W₁ + b₁)（公式 2），或其门控形式",
    ff: "inner W₂ + b₂（公式 2）", stream: "离开该层的数据流", encoded: "编码器输出：每个解码层的 K 与 V 都由它得到",
    decoded: "解码器输出", logits: "decoder.output · Eᵀ；其 softmax 即下一词元的分布",
  },
};

const EQUATIONS = [
  [/^(encoder|decoder|stack)\.input$/, "input"], [/^encoder\.output$/, "encoded"], [/^(decoder|stack)\.output$/, "decoded"],
  [/\.\d+\.output$/, "stream"], [/\.feed_forward\.output$/, "ff"], [/^logits$/, "logits"],
  [/(?:^|\.)(embedding|positions|query|key|value|scores|visible|weights|heads|output|residual|normed|inner)$/, null],
];

export function draw(root, { part, sentence, t }) {
  const layers = counted(part.tensors);
  const shown = part.tensors.filter(({ name }) => !/\.\d+\./.test(name) || /\.0\./.test(name));
  const fed = sentence.tokens.target.length;
  root.append(
    h("p", { class: "soft" }, t("letters", { n: sentence.tokens.source.length || "–", m: fed })),
    table([t("tensor"), t("shape"), t("equation")], shown.map((tensor) => row(tensor, layers, t)), "flow"),
    h("h3", {}, t("costs")),
    table([t("part"), t("parameters"), t("operations")], costs(part.parts, t), "costs"),
    h("p", { class: "soft" }, t("shared")));
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

function row({ name, shape }, layers, t) {
  const stack = name.match(/^(\w+)\.0\./)?.[1];
  const found = EQUATIONS.map(([pattern, key]) => {
    const match = name.match(pattern);
    return match && (key ?? match[1]);
  }).find(Boolean);
  const times = stack && name.endsWith(".0.output") ? h("span", { class: "soft" }, ` ${t("layers", { n: layers[stack] })}`) : null;
  return [[h("code", {}, name), times], h("code", {}, `[${shape.join(" × ")}]`), found ? t(found) : ""];
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
