/* One cell, every number: from the vectors that go in to what comes out of the layer. */

import { h, clear, keptFocus, oneOf, roving } from "./dom.js";
import { unpack } from "./data.js";
import { percent, short } from "./numbers.js";
import { entries, fedTokens, labelled, paint } from "./maps.js";
import { largest, strip } from "./strips.js";
import { fan } from "./fan.js";

export const part = "cells";

export const words = {
  en: {
    title: "One cell, every number", lead: "How one token comes to look at another, from query and key to what it takes along, and what becomes of the token in the rest of the layer. Choose a cell in the maps above, or here.",
    attention: "Attention", head: "Head", looks: "Token that looks (i)", at: "Token looked at (j)", form: "Vectors as", bars: "bars", digits: "numbers",
    "encoder.self": "encoder, self, layer {layer}", "decoder.self": "decoder, self, layer {layer}", "decoder.cross": "decoder, cross, layer {layer}",
    absent: "{what} (not on this page)", leftOut: "The numbers of {what} are not on this page: it holds {room} MB for each text. Look at one text alone, at a shorter one, or make the page with --full.",
    norm: "{n} numbers, length {norm}", scaleNote: "Bars above the line are positive, below it negative; bars of one step have the same scale (normed vectors and the inner layer: their own). Point at one for its value.",
    project: "1  Query, key, value", projectLead: "The looking token asks (q), the one looked at answers (k) and brings its content (v). Head {head} has its own projections.",
    xi: "x of {i}, into the layer", ni: "x of {i}, normed",
    compare: "2  Compared", compareLead: "q times k, number by number; their sum, divided by √d_k, is the score.",
    products: "q · k, term by term", sum: "sum {sum} ÷ √{d} = {score}", bias: "with {bias} for their distance: {score}", own: "the model’s own: {score}",
    weigh: "3  Weighed", weighLead: "All scores of the row become weights that add up to 100 %. What the mask hides gets none.",
    token: "token", score: "score", weight: "weight", hidden: "hidden", triangle: "The mask: each written token sees itself and those before it.",
    gather: "4  Gathered", gatherLead: "Each value times its weight; their sum is what head {head} finds.",
    av: "a · v of {j} ({weight})", z: "z: sum over all tokens",
    join: "5  Joined", joinLead: "All heads side by side through W_O. How much each head adds to the output, as the length of its part:",
    part: "Head {head}", output: "o: output", partOf: "part of head {head}",
    follow: "6  {i} through layer {layer}", followLead: "x is what goes in; each sub-layer adds its output to the stream (residual).",
    in: "x", self: "self-attention", cross: "cross-attention", feed_forward: "feed-forward", added: "+ output of {what}", normed: "normed", stream: "= stream behind {what}",
    inner: "inner layer: {active} of {n} above 0", shapes: "{from} → {to}",
    fan: "Keys and values of the encoder go to every decoder layer", fanLead: "The encoder’s output is read once. Each decoder layer makes its own K and V of it, for every token that it writes.",
    encoder: "encoder", layerName: "layer {layer}", outputName: "output",
  },
  zh: {
    title: "一格，每个数字", lead: "一个词如何看向另一个词：从查询与键，到它带走的内容，再到它在这一层余下的路。可在上面的图里选一格，或在这里选。",
    attention: "注意力", head: "头", looks: "查询词 (i)", at: "被看的词 (j)", form: "向量显示为", bars: "柱", digits: "数字",
    "encoder.self": "编码器 自注意力 第 {layer} 层", "decoder.self": "解码器 自注意力 第 {layer} 层", "decoder.cross": "解码器 交叉注意力 第 {layer} 层",
    absent: "{what}（本页没有）", leftOut: "本页没有{what}的数字：每个句子最多 {room} MB。请只看一个句子、换短一些的句子，或用 --full 生成页面。",
    norm: "{n} 个数，模 {norm}", scaleNote: "线上为正，线下为负；同一步的柱子比例相同（归一化后的向量与中间层各用自己的比例）。指向柱子可看数值。",
    project: "1  查询、键、值", projectLead: "查询词提问 (q)，被看的词应答 (k) 并带来内容 (v)。头 {head} 有自己的投影。",
    xi: "{i} 的 x，进入这一层", ni: "{i} 的 x，归一化后",
    compare: "2  比较", compareLead: "q 与 k 逐项相乘，求和，再除以 √d_k，就是分数。",
    products: "q · k 逐项", sum: "和 {sum} ÷ √{d} = {score}", bias: "加上距离项 {bias}：{score}", own: "模型自己的值：{score}",
    weigh: "3  加权", weighLead: "整行分数变成相加为 100 % 的权重。被掩码遮住的得 0。",
    token: "词", score: "分数", weight: "权重", hidden: "遮住", triangle: "掩码：写出的每个词只看自己和之前的词。",
    gather: "4  汇集", gatherLead: "每个值乘以它的权重，相加即头 {head} 找到的内容。",
    av: "a · v（{j}，{weight}）", z: "z：对所有词求和",
    join: "5  合并", joinLead: "各头并排经过 W_O。每个头对输出贡献的模：",
    part: "头 {head}", output: "o：输出", partOf: "头 {head} 的部分",
    follow: "6  {i} 走过第 {layer} 层", followLead: "x 是输入；每个子层把自己的输出加到残差流上。",
    in: "x", self: "自注意力", cross: "交叉注意力", feed_forward: "前馈", added: "+ {what}的输出", normed: "归一化", stream: "= {what}之后的残差流",
    inner: "中间层：{n} 个中 {active} 个大于 0", shapes: "{from} → {to}",
    fan: "编码器的键和值送往解码器的每一层", fanLead: "编码器的输出只算一次。解码器每一层各自由它得到 K 和 V，供写每个词时使用。",
    encoder: "编码器", layerName: "第 {layer} 层", outputName: "输出",
  },
};

const set = { numbers: false };

export function draw(root, context) {
  const box = h("div", { class: "cell-view" });
  root.append(box);
  let shown = null;
  const show = () => {
    const cell = context.chosen.cell ?? first(context);
    shown = cell;
    const focusAgain = keptFocus(box);
    clear(box);
    box.append(...drawn(cell, context, show));
    focusAgain();
  };
  show();
  context.onChoose(box, ({ cell }) => { if (cell && cell !== shown) show(); });
}

/* The strongest weight of head 0 in the attention that comes first on the page. */
function first({ part }) {
  const { at } = part.sublayers.find(({ kind }) => kind !== "feed_forward") ?? { at: part.left_out[0] };
  const [stack, layer, which] = at.split(".");
  const cell = { kind: `${stack}.${which}`, layer: Number(layer), head: 0, row: 0, column: 0 };
  const weights = part.tensors[`${at}.weights`];
  if (!weights) return cell;
  const { shape, values } = unpack(weights);
  const all = values.subarray(0, shape[1] * shape[2]);
  const best = all.indexOf(Math.max(...all));
  return { ...cell, row: Math.floor(best / shape[2]), column: best % shape[2] };
}

function drawn(cell, context, show) {
  const { part, sentence, t } = context;
  const [stack, which] = cell.kind.split(".");
  const at = `${stack}.${cell.layer}.${which}`;
  const source = entries(sentence.tokens.source, { words: false, markers: true });
  const fed = entries(fedTokens(sentence.tokens), { words: false, markers: true });
  const names = { rows: stack === "encoder" ? source : fed, columns: cell.kind === "decoder.self" ? fed : source };
  const get = (name) => (part.tensors[name] ? unpack(part.tensors[name]) : null);
  const go = (change) => context.choose({ cell: { ...cell, ...change } });
  const here = { ...cell, at, stack, which, get, go, context, t, names, i: names.rows[cell.row]?.label, j: names.columns[cell.column]?.label };
  const top = choosers(here, show);
  const there = part.sublayers.find((one) => one.at === at);
  if (!there) {
    const what = t(cell.kind, { layer: cell.layer });
    return [top, h("p", { class: "missing" }, t("leftOut", { what, room: short(part.room / 1e6, 2) })), fanCard(here)];
  }
  here.goesIn = there.goes_in;
  return [top, h("p", { class: "soft" }, t("scaleNote")),
    h("div", { class: "steps" }, [project, compare, weigh, gather, join, follow].map((step) => step(here))), fanCard(here)];
}

function choosers({ kind, layer, head, row, column, get, at, go, names, context, t }, show) {
  const { part } = context;
  const nHeads = get(`${at}.weights`)?.shape[0] ?? 1;
  const options = [...part.sublayers.filter((one) => one.kind !== "feed_forward").map((one) => one.at),
    ...part.left_out.filter((one) => !one.endsWith("feed_forward"))].sort();
  const choice = (label, all, current, choose) => {
    const select = h("select", { on: { change: (event) => choose(event.target.value) } },
      all.map(([value, text]) => h("option", { value }, text)));
    select.value = String(current);
    return h("label", {}, label, " ", select);
  };
  const named = (one) => {
    const [stack, number, which] = one.split(".");
    const what = t(`${stack}.${which}`, { layer: number });
    return [one, part.left_out.includes(one) ? t("absent", { what }) : what];
  };
  const move = (one) => {
    const [stack, number, which] = one.split(".");
    const next = { kind: `${stack}.${which}`, layer: Number(number) };
    go(next.kind === kind ? next : { ...next, row: 0, column: 0, head: 0 });
  };
  const tokens = (all) => all.map(({ label }, k) => [String(k), `${k}  ${label.slice(0, 40)}`]);
  return h("div", { class: "toolbar" },
    choice(t("attention"), options.map(named), `${kind.split(".")[0]}.${layer}.${kind.split(".")[1]}`, move),
    nHeads > 1 && choice(t("head"), [...Array(nHeads).keys()].map((k) => [String(k), String(k)]), head, (value) => go({ head: Number(value) })),
    choice(t("looks"), tokens(names.rows), row, (value) => go({ row: Number(value) })),
    choice(t("at"), tokens(names.columns), column, (value) => go({ column: Number(value) })),
    oneOf(t("form"), [[false, t("bars")], [true, t("digits")]], set.numbers, (value) => { set.numbers = value; show(); }));
}

function card(here, title, lead, steps, ...content) {
  const { context, t } = here;
  const lines = steps.map(([name, from, to]) => {
    const { file, line, code } = context.part.steps[name];
    const shapes = from && to && here.get(from) && here.get(to)
      ? t("shapes", { from: shape(here.get(from)), to: shape(here.get(to)) }) : "";
    return h("li", {}, shapes && h("span", { class: "soft" }, shapes),
      h("code", {}, h("span", { class: "soft" }, `${file}:${line}`), `  ${code}`));
  });
  return h("article", { class: "step-card" }, h("h3", {}, title), h("p", { class: "soft" }, lead), content,
    lines.length > 0 && h("ul", { class: "code-lines" }, lines));
}

function shape(array) {
  return `[${array.shape.join(", ")}]`;
}

/* Of one scale, but for those that are said to have their own. */
function strips(here, pairs) {
  const scale = largest(...pairs.filter(([, , own]) => !own).map(([, values]) => values));
  return pairs.map(([name, values, own]) => strip(name, values, { most: own ? largest(values) : scale, numbers: set.numbers, t: here.t }));
}

function project(here) {
  const { at, get, head, row, column, i, j, t, goesIn } = here;
  const x = here.context.part.norm_first ? `${at}.normed` : goesIn;
  return card(here, t("project"), t("projectLead", { head }),
    [["query", x, `${at}.query`], ["key", here.which === "cross" ? "encoder.output" : x, `${at}.key`], ["value", null, null]],
    strips(here, [[t(here.context.part.norm_first ? "ni" : "xi", { i }), get(x).row(row)]]),
    get(`${at}.query`) && strips(here, [
      [`q ${i}`, get(`${at}.query`).row(head, row)], [`k ${j}`, get(`${at}.key`).row(head, column)],
      [`v ${j}`, get(`${at}.value`).row(head, column)]]));
}

function compare(here) {
  const { at, get, head, row, column, t } = here;
  if (!get(`${at}.scores`)) return "";
  const query = get(`${at}.query`).row(head, row);
  const key = get(`${at}.key`).row(head, column);
  const products = query.map((value, k) => value * key[k]);
  const sum = query.reduce((total, value, k) => total + value * key[k], 0);
  const score = sum / Math.sqrt(query.length);
  const own = get(`${at}.scores`).at(head, row, column);
  const bias = own - score;
  return card(here, t("compare"), t("compareLead"), [["scores", `${at}.query`, `${at}.scores`]],
    strips(here, [[t("products"), products]]),
    h("p", { class: "sum" }, t("sum", { sum: short(sum, 5), d: query.length, score: short(score, 5) }),
      Math.abs(bias) > 1e-3 ? `; ${t("bias", { bias: short(bias, 4), score: short(own, 5) })}` : "", " · ",
      h("b", {}, t("own", { score: short(own, 5) }))));
}

function weigh(here) {
  const { at, kind, get, head, row, column, names, go, t } = here;
  const weights = get(`${at}.weights`).row(head, row);
  const scores = get(`${at}.scores`)?.row(head, row);
  const seen = get(`${at}.visible`).row(row);
  const most = scores ? largest(scores.filter((_, k) => seen[k])) : 1;
  const bar = (share, below) => h("span", { class: "half", "aria-hidden": "true" },
    h("span", { class: below ? "fill below" : "fill", style: { width: `${100 * share}%` } }));
  const number = (text) => h("span", { class: "number" }, text);
  const rows = names.columns.map(({ label }, k) => h("tr", { class: k === column ? "here" : seen[k] ? "" : "unseen" },
    h("th", { scope: "row" }, h("button", { type: "button", class: "bare", on: { click: () => go({ column: k }) } }, label)),
    scores && h("td", {}, seen[k] ? [bar(Math.abs(scores[k]) / most, scores[k] < 0), number(short(scores[k], 4))] : t("hidden")),
    h("td", {}, bar(weights[k], false), number(seen[k] ? percent(weights[k]) : "0 %"))));
  const body = h("tbody", {}, rows);
  roving(body, "button");
  return card(here, t("weigh"), t("weighLead"), [["visible"], ["weights", `${at}.scores`, `${at}.weights`]],
    h("div", { class: "scroll rows", tabindex: "0", role: "region", "aria-label": t("weigh") }, h("table", { class: "weights" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("token")), scores && h("th", { scope: "col" }, t("score")), h("th", { scope: "col" }, t("weight")))),
      body)),
    kind === "decoder.self" && triangle(here));
}

/* Who sees whom among what is written; the row of the token that looks is filled with its weights. */
function triangle({ at, get, head, row, names, t }) {
  const seen = get(`${at}.visible`);
  const weights = get(`${at}.weights`);
  const n = names.rows.length;
  const hidden = Uint8Array.from(seen.values, (one) => (one ? 0 : 1));
  const values = Float32Array.from(seen.values, (one, k) => (Math.floor(k / n) === row ? weights.at(head, row, k % n) : one * 0.03));
  const canvas = h("canvas", { class: "cells", "aria-hidden": "true" });
  const map = { rows: names.rows, columns: names.columns, values, hidden };
  paint(canvas, map);
  const cell = Math.max(8, Math.min(22, Math.floor(300 / n)));
  return h("figure", { class: "mask-figure" }, h("figcaption", { class: "soft" }, t("triangle")),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("triangle") },
      labelled(map, { cell, corner: "", here: row }, h("div", { class: "board still" }, canvas))));
}

function gather(here) {
  const { at, get, head, row, column, j, t } = here;
  const weight = get(`${at}.weights`).at(head, row, column);
  const value = get(`${at}.value`).row(head, column);
  return card(here, t("gather"), t("gatherLead", { head }), [["heads", `${at}.value`, `${at}.heads`]],
    strips(here, [[`v ${j}`, value], [t("av", { j, weight: percent(weight) }), value.map((one) => one * weight)],
      [t("z"), get(`${at}.heads`).row(head, row)]]));
}

function join(here) {
  const { at, get, head, row, go, t } = here;
  const parts = get(`${at}.parts`);
  const output = get(`${at}.output`).row(row);
  const norms = parts && [...Array(parts.shape[0]).keys()].map((k) => Math.hypot(...parts.row(k, row)));
  const most = norms && Math.max(...norms);
  return card(here, t("join"), t("joinLead"), [["output", `${at}.heads`, `${at}.output`]],
    norms && h("ul", { class: "bars heads" }, norms.map((norm, k) => h("li", { class: k === head ? "taken" : "" },
      h("button", { type: "button", class: "bare name", on: { click: () => go({ head: k }) } }, t("part", { head: k })),
      h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "fill", style: { width: `${100 * norm / most}%` } })),
      h("span", { class: "value" }, short(norm))))),
    strips(here, [...(parts ? [[t("partOf", { head }), parts.row(head, row)]] : []), [t("output"), output]]));
}

/* x1 -> z1 -> r1: what becomes of the token in each sub-layer of this layer. */
function follow(here) {
  const { context: { part }, stack, layer, row, i, get, t } = here;
  const found = part.sublayers.filter(({ at }) => at.startsWith(`${stack}.${layer}.`))
    .sort((a, b) => order(a.kind) - order(b.kind));
  const rows = [];
  for (const { at, kind, goes_in: goesIn } of found) {
    const what = t(kind);
    if (rows.length === 0) rows.push([t("in"), get(goesIn).row(row)]);
    if (part.norm_first) rows.push([t("normed"), get(`${at}.normed`).row(row), true]);
    const inner = get(`${at}.inner`)?.row(row);
    if (inner) rows.push([t("inner", { n: inner.length, active: inner.filter((one) => one > 0).length }), inner, true]);
    rows.push([t("added", { what }), get(`${at}.output`).row(row)], [t("stream", { what }), get(`${at}.residual`).row(row)]);
    if (!part.norm_first) rows.push([t("normed"), get(`${at}.normed`).row(row), true]);
  }
  const steps = found.some(({ kind }) => kind === "feed_forward")
    ? [["residual"], ["normed"], ["inner"], ["feed_forward"]] : [["residual"], ["normed"]];
  return card(here, t("follow", { i, layer }), t("followLead"), steps, strips(here, rows));
}

function order(kind) {
  return ["self", "cross", "feed_forward"].indexOf(kind);
}

function fanCard({ context, kind, layer, get, go, t }) {
  const { part } = context;
  const all = [...part.sublayers.map(({ at }) => at), ...part.left_out];
  const crossing = all.filter((at) => at.endsWith(".cross")).sort();
  if (!crossing.length) return "";
  const nEncoder = all.filter((at) => at.startsWith("encoder.") && at.endsWith(".self")).length;
  const held = crossing.map((at) => ({ layer: Number(at.split(".")[1]), keys: get(`${at}.key`)?.shape }));
  return h("article", { class: "step-card wide" }, h("h3", {}, t("fan")), h("p", { class: "soft" }, t("fanLead")),
    fan({ nEncoder, held, shape: get("encoder.output")?.shape, chosen: kind === "decoder.cross" ? layer : null, t,
      choose: (number) => go({ kind: "decoder.cross", layer: number, ...(kind === "decoder.cross" ? {} : { row: 0, column: 0, head: 0 }) }) }));
}
