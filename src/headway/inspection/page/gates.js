/* Gates of recurrent and convolutional models: how far each is open at every token. */

import { h } from "./dom.js";
import { percent } from "./numbers.js";

/* Only where one of the runs has gates: that the other has none is said side by side. */
export const shown = (page, sentence) => [sentence, sentence?.beside].some((one) => one?.gates && !one.gates.missing);

export const words = {
  en: {
    title: "Gates",
    lead: "What a recurrent or convolutional model lets pass at every token: the mean of each gate over the units of its layer. 0 % is shut, 100 % open.",
    encoder: "Reading the source", decoder: "Writing", layer: "layer {layer}", left: "from the left", right: "from the right",
    "g reset": "reset: how much of the memory is looked at", "g update": "update: how much of the memory is kept", "g input": "input: how much that is new is taken in",
    "g forget": "forget: how much of the cell is kept", "g output": "output: how much of the cell is shown", "g gate": "gate: how much passes",
    shut: "0 %", open: "100 %",
  },
  zh: {
    title: "门",
    lead: "循环或卷积模型在每个词元处让多少通过：每个门在该层所有单元上的平均值。0 % 为全关，100 % 为全开。",
    encoder: "读原文", decoder: "写输出", layer: "第 {layer} 层", left: "从左读", right: "从右读",
    "g reset": "重置门：看多少旧记忆", "g update": "更新门：保留多少旧记忆", "g input": "输入门：收进多少新内容",
    "g forget": "遗忘门：单元保留多少", "g output": "输出门：单元展示多少", "g gate": "门：通过多少",
    shut: "0 %", open: "100 %",
  },
};

export function draw(root, { run, sentence, t }) {
  const both = [[run, sentence.gates], [sentence.beside?.run, sentence.beside?.gates]].filter(([, gates]) => gates && !gates.missing);
  root.append(
    h("p", { class: "scale plain" }, h("span", {}, t("shut")), h("span", { class: "heat-ramp gate-ramp", "aria-hidden": "true" }), h("span", {}, t("open"))),
    ...both.flatMap(([{ name }, gates]) => [sentence.beside && h("h3", {}, name), ...gates.stacks.map((one) => stack(one, t))].filter(Boolean)));
}

function stack({ stack: name, pieces, rows }, t) {
  return h("div", {}, h("h4", {}, t(name)),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": t(name) }, h("table", { class: "gates" },
      h("thead", {}, h("tr", {}, h("td", {}), pieces.map((piece) => h("th", { scope: "col" }, piece)))),
      h("tbody", {}, rows.map((row) => h("tr", {},
        h("th", { scope: "row" }, [t("layer", { layer: row.layer }), row.way && t(row.way)].filter(Boolean).join(", "), h("br"), h("span", { class: "soft small" }, t(`g ${row.gate}`))),
        row.open.map((share) => h("td", { style: { "--share": String(share) }, title: percent(share) }, String(Math.round(100 * share))))))))));
}
