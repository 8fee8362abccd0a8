/* What if: parts of the model off, beside the original. */

import { h } from "./dom.js";
import { percent, short } from "./numbers.js";

export const part = "changes";

export const words = {
  en: {
    title: "What if",
    lead: "Switch a part of the model off, and see what becomes of the output.",
    off: "Off: {parts}", again: "put back {name}",
    original: "As it is", changed: "Changed", same: "The output is the same; only its probabilities differ.",
    whole: "under the whole model", without: "under the changed model", differs: "dashed: only in one of the two",
    sum: "log-probability {whole} nats whole, {without} changed",
    spoken: "{piece}: {whole} whole, {without} changed",
    part: "Part", switchOff: "Switch off", partHint: "such as encoder.0.head.1 or cross.0",
    try: "Parts are switched off by --off, such as:",
  },
  zh: {
    title: "假如",
    lead: "关掉模型的一个部件，看输出会变成什么。",
    off: "已关掉：{parts}", again: "恢复 {name}",
    original: "原样", changed: "改动后", same: "输出相同，只是概率不同。",
    whole: "完整模型给出的概率", without: "改动后的模型给出的概率", differs: "虚线：只出现在其中一个",
    sum: "对数概率：完整 {whole} 奈特，改动后 {without} 奈特",
    spoken: "{piece}：完整 {whole}，改动后 {without}",
    part: "部件", switchOff: "关掉", partHint: "例如 encoder.0.head.1、cross.0",
    try: "用 --off 关掉部件，例如：",
  },
};

export function draw(root, context) {
  const { part, live, t } = context;
  if (part.changed) root.append(...compared(part, context));
  if (live) root.append(wishes(part, context));
  else if (!part.changed) root.append(h("p", { class: "soft" }, t("try"), " ", h("code", {}, part.try)));
}

/* -- the two outputs ------------------------------------------------------------------------ */

function compared({ original, changed, off }, { live, t }) {
  const alike = original.same.every(Boolean) && changed.same.every(Boolean);
  return [
    h("p", { class: "change" }, h("b", {}, t("off", { parts: off.join(", ") })),
      live && off.map((name) => chip(name, t, () => live.ask({ off: off.filter((one) => one !== name) })))),
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

function wishes(part, { live, t }) {
  const name = h("input", { id: "off-part", type: "text", list: "parts", required: true, autocomplete: "off", "aria-describedby": "off-hint" });
  const send = (event) => {
    event.preventDefault();
    live.ask({ off: [...new Set([...part.off, name.value.trim()])] });
  };
  return h("div", { class: "wishes" }, h("form", { on: { submit: send } },
    h("label", { for: "off-part" }, t("part")), name, h("datalist", { id: "parts" }, part.parts.map((one) => h("option", { value: one }))),
    h("button", { type: "submit" }, t("switchOff")), h("span", { class: "soft", id: "off-hint" }, t("partHint"))));
}
