/* What if: parts of the model off, words forced, beside the original; and what each part is worth. */

import { h, roving } from "./dom.js";
import { percent, short } from "./numbers.js";

export const part = "changes";

export const words = {
  en: {
    title: "What if",
    lead: "Switch a part of the model off, or force a word, and see what becomes of the output. The map says beforehand how much each part matters to this text.",
    off: "Off: {parts}", force: "Forced: {words}", both: "{off}. {force}", again: "put back {name}",
    original: "As it is", changed: "Changed", same: "The output is the same; only its probabilities differ.",
    whole: "under the whole model", without: "under the changed model", differs: "dashed: only in one of the two",
    sum: "log-probability {whole} nats whole, {without} changed",
    spoken: "{piece}: {whole} whole, {without} changed",
    part: "Part", switchOff: "Switch off", partHint: "such as encoder.0.head.1 or cross.0",
    step: "Step", word: "Word", forceIt: "Force it", end: "the end",
    worth: "What every part is worth to this text",
    worthLead: "By how many nats the log-probability of the whole output falls without it: 0.69 is half its probability. Choose one to see more.",
    sublayer: "Sub-layer", all: "all of it", head: "head {head}", none: "has no heads",
    loses: "Share of its probability that the output loses", gains: "gains",
    cell: "{name}: falls by {fall} nats", one: "Without {name} this output has {share} of its probability ({fall} nats).",
    try: "To see what is written then:", heavy: "Every part takes a pass of its own; for this model and text they would be too many to wait for. Try a shorter text.",
    other: "Parts are switched off in models made of a Transformer's layers; this is another. Words can be forced: --force 0=WORD.",
    self: "self-attention", cross: "cross-attention", feed_forward: "feed-forward", encoder: "Encoder {layer}", decoder: "Decoder {layer}",
  },
  zh: {
    title: "假如",
    lead: "关掉模型的一个部件，或指定一个词，看输出会变成什么。下面的图事先说明每个部件对这句话有多重要。",
    off: "已关掉：{parts}", force: "已指定：{words}", both: "{off}。{force}", again: "恢复 {name}",
    original: "原样", changed: "改动后", same: "输出相同，只是概率不同。",
    whole: "完整模型给出的概率", without: "改动后的模型给出的概率", differs: "虚线：只出现在其中一个",
    sum: "对数概率：完整 {whole} 奈特，改动后 {without} 奈特",
    spoken: "{piece}：完整 {whole}，改动后 {without}",
    part: "部件", switchOff: "关掉", partHint: "例如 encoder.0.head.1、cross.0",
    step: "步骤", word: "词", forceIt: "指定", end: "结尾",
    worth: "每个部件对这句话的价值",
    worthLead: "没有它，整个输出的对数概率下降多少奈特；0.69 即概率减半。选择一格查看详情。",
    sublayer: "子层", all: "整个", head: "头 {head}", none: "没有头",
    loses: "输出失去的概率份额", gains: "增加",
    cell: "{name}：下降 {fall} 奈特", one: "没有 {name} 时，此输出的概率是原来的 {share}（{fall} 奈特）。",
    try: "查看那时会写出什么：", heavy: "每个部件都要单独计算一遍；对这个模型和文本来说太多了。请换一段较短的文本。",
    other: "只有由 Transformer 层组成的模型才能关掉部件；这个模型不是。但可以指定词语：--force 0=词。",
    self: "自注意力", cross: "交叉注意力", feed_forward: "前馈", encoder: "编码器 {layer}", decoder: "解码器 {layer}",
  },
};

export function draw(root, context) {
  const { part, live, t } = context;
  if (part.changed) root.append(...compared(part, context));
  if (live) root.append(wishes(part, context));
  root.append(h("h3", {}, t("worth")));
  if (!part.worth) root.append(h("p", { class: "missing" }, t(part.parts.length ? "heavy" : "other")));
  else root.append(h("p", { class: "soft" }, t("worthLead")), map(part, context));
}

/* -- the two outputs ------------------------------------------------------------------------ */

function compared(part, { live, t }) {
  const { original, changed, off, force } = part;
  const named = [off.length && t("off", { parts: off.join(", ") }), force.length && t("force", { words: force.join(", ") })];
  const alike = original.same.every(Boolean) && changed.same.every(Boolean);
  return [
    h("p", { class: "change" }, h("b", {}, named.filter(Boolean).join(" · ")),
      live && [...off.map((name) => chip(name, t, () => live.ask({ off: off.filter((one) => one !== name) }))),
        ...force.map((name) => chip(name, t, () => live.ask({ force: force.filter((one) => one !== name) })))]),
    output(t("original"), original, original.log_probs, original.without, t),
    output(t("changed"), changed, changed.with_all, changed.log_probs, t),
    alike && h("p", {}, t("same")),
    h("p", { class: "scale plain keys" },
      h("span", {}, h("span", { class: "swatch one" }), t("whole")),
      h("span", {}, h("span", { class: "swatch two" }), t("without")), !alike && h("span", {}, t("differs"))),
  ].filter(Boolean);
}

function chip(name, t, back) {
  return h("button", { type: "button", class: "chip", "aria-label": t("again", { name }), on: { click: back } }, name, " ×");
}

/* Piece by piece, each with a bar for its probability under either model. */
function output(label, { pieces, same, translation }, whole, without, t) {
  const sum = (values) => short(values.reduce((a, b) => a + b, 0));
  return h("div", { class: "tokens", role: "group", "aria-label": label },
    h("span", { class: "side" }, label),
    h("div", {}, h("p", { class: "so-far", dir: "auto" }, translation),
      h("ul", { class: "pieces weighed", dir: "auto" }, pieces.map((piece, i) => {
        const shares = [Math.exp(whole[i]), Math.exp(without[i])];
        const spoken = t("spoken", { piece, whole: percent(shares[0]), without: percent(shares[1]) });
        return h("li", { class: `token${same[i] ? "" : " differs"}${piece.startsWith("▁") ? " first" : ""}`, title: spoken },
          h("span", { class: "piece" }, piece), h("span", { class: "only-heard" }, spoken),
          shares.map((share, n) => h("span", { class: "gauge", "aria-hidden": "true" },
            h("span", { class: `fill ${["one", "two"][n]}`, style: { width: `${100 * share}%` } }))));
      })),
      h("p", { class: "soft" }, t("sum", { whole: sum(whole), without: sum(without) }))));
}

/* -- wishes, on the live page --------------------------------------------------------------- */

function wishes(part, { sentence, live, t }) {
  const name = h("input", { id: "off-part", type: "text", list: "parts", required: true, autocomplete: "off", "aria-describedby": "off-hint" });
  const step = h("select", { id: "force-step" }, part.original.pieces.map((piece, i) =>
    h("option", { value: String(i) }, `${i} ${i === part.original.pieces.length - 1 ? t("end") : piece}`)));
  const word = h("input", { id: "force-word", type: "text", required: true, autocomplete: "off" });
  const asking = (change) => (event) => {
    event.preventDefault();
    live.ask(change());
  };
  return h("div", { class: "wishes" },
    part.parts.length > 0 && h("form", { on: { submit: asking(() => ({ off: [...new Set([...part.off, name.value.trim()])] })) } },
      h("label", { for: "off-part" }, t("part")), name, h("datalist", { id: "parts" }, part.parts.map((one) => h("option", { value: one }))),
      h("button", { type: "submit" }, t("switchOff")), h("span", { class: "soft", id: "off-hint" }, t("partHint"))),
    part.reads_source && !sentence.forced && h("form", { on: { submit: asking(() => ({ force: [`${step.value}=${word.value}`] })) } },
      h("label", { for: "force-step" }, t("step")), step, h("label", { for: "force-word" }, t("word")), word,
      h("button", { type: "submit" }, t("forceIt"))));
}

/* -- what every part is worth --------------------------------------------------------------- */

function map(part, context) {
  const { t } = context;
  const most = Math.max(...part.worth.map((place) => place.heads.length));
  const told = h("div", { class: "told", "aria-live": "polite" });
  const tell = (name, fall) => told.replaceChildren(...details(name, fall, context));
  const row = (place) => {
    const [side, layer, sublayer] = place.part.split(".");
    return h("tr", {}, h("th", { scope: "row" }, h("span", { class: "soft" }, t(side, { layer })), " ", t(sublayer)),
      cell(place.part, place.fall, tell, t),
      Array.from({ length: most }, (_, head) => (head < place.heads.length
        ? cell(`${place.part}.head.${head}`, place.heads[head], tell, t)
        : h("td", {}, h("span", { class: "only-heard" }, t("none"))))));
  };
  const table = h("table", { class: "worth" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("sublayer")), h("th", { scope: "col" }, t("all")),
      Array.from({ length: most }, (_, head) => h("th", { scope: "col" }, t("head", { head }))))),
    h("tbody", {}, part.worth.map(row)));
  roving(table, "button");
  table.addEventListener("keydown", (event) => upAndDown(table, event));
  return h("div", {}, h("div", { class: "wide" }, table),
    h("p", { class: "scale plain" }, t("loses"), " ", "0 %", h("span", { class: "ramp lost", "aria-hidden": "true" }), "100 %",
      h("span", { class: "swatch gain" }), t("gains")), told);
}

function cell(name, fall, tell, t) {
  const lost = 1 - Math.exp(-Math.abs(fall));
  return h("td", {}, h("button", {
    type: "button", class: fall < 0 ? "gain" : "lost", style: { "--share": String(lost) },
    "aria-label": t("cell", { name, fall: nats(fall) }), on: { click: () => tell(name, fall), focus: () => tell(name, fall) },
  }, nats(fall)));
}

/* To a hundredth, as in a table; nothing is less than zero that cannot be told from it. */
function nats(fall) {
  const text = Math.abs(fall).toFixed(2);
  return fall < 0 && Number(text) > 0 ? `−${text}` : text;
}

function details(name, fall, { live, part, run, sentence, t }) {
  const told = h("p", {}, t("one", { name, share: percent(Math.exp(-fall)), fall: short(-fall) }));
  if (live) {
    const ask = () => live.ask({ off: [...new Set([...part.off, name])] });
    return [told, h("button", { type: "button", on: { click: ask } }, t("switchOff"))];
  }
  return [told, h("p", { class: "soft" }, t("try"), " ", h("code", {}, `headway inspect ${run.name} ${JSON.stringify(sentence.text.slice(0, 200))} --off ${name}`))];
}

function upAndDown(table, event) {
  const rows = [...table.querySelectorAll("tbody tr")].map((one) => [...one.querySelectorAll("button")]);
  const row = rows.findIndex((buttons) => buttons.includes(event.target));
  const to = { ArrowDown: row + 1, ArrowUp: row - 1 }[event.key];
  if (row < 0 || !rows[to]) return;
  event.preventDefault();
  rows[to][Math.min(rows[row].indexOf(event.target), rows[to].length - 1)].focus();
}
