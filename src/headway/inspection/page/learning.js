/* Attention being learned: one text under every checkpoint, with a slider over the updates. */

import { chart, styleOf, widthOf } from "./chart.js";
import { inflated } from "./data.js";
import { clear, h, keptFocus } from "./dom.js";
import { matrix, paint } from "./maps.js";
import { percent } from "./numbers.js";

export const shown = (page) => Boolean(page.training?.learning);

export const words = {
  en: {
    title: "Attention being learned",
    lead: "One text under every checkpoint that was kept. Move the slider from the weights as they were drawn to those of the finished model, and see the maps, the text that is written and the probabilities come to be.",
    slider: "Moment of the training", play: "Play", stop: "Stop", drawn: "Before the first update", at: "After update {n}", model: "The run's model",
    follows: "The same output is followed under all weights, so that the maps compare. Its tokens, coloured by their probability:",
    writes: "By itself it would write", loss: "Loss on this output", lossUnit: "nats per token", spread: "How spread out the weights are, by layer", spreadUnit: "1 = all that is seen alike", layer: "layer {layer}", text: "this text",
    kind: "Attention", "encoder.self": "encoder", "decoder.self": "decoder", "decoder.cross": "decoder to source", head: "layer {layer}, head {head}",
    updates: "updates", masked: "hidden by the mask", point: "Point at a cell, or move with the arrow keys.", move: "The arrow keys move over the cells.", rows: "looks", columns: "is looked at",
    "h previous": "previous", "h itself": "itself", "h next": "next", "h same word": "same piece", "h punctuation": "punctuation", "h first": "first token",
    "h marker": "marker", "h same place": "same place", "h diffuse": "diffuse", "h mixed": "mixed",
    left: "{n} checkpoints are not shown: there are too many, or they are damaged.", habit: "Below each map what the head does in this text. Rows look at columns; choose a map to see it large.",
    live: "Looked at anew at {time}: there was a new checkpoint.", readOff: "The arrow keys read values off.", fromTo: "{name}: from {from} to {to}.", noMaps: "This model has no attention to look at; its probabilities are shown.",
  },
  zh: {
    title: "看注意力如何学成",
    lead: "同一段文本在每个保留下来的检查点下的样子。把滑块从初始权重拖到训练好的模型，看注意力图、所写文本和概率如何形成。",
    slider: "训练的时刻", play: "播放", stop: "停止", drawn: "第一次更新之前", at: "第 {n} 次更新之后", model: "训练好的模型",
    follows: "所有权重下都沿用同一输出，这样注意力图才能比较。输出的词元按概率着色：",
    writes: "它自己会写出", loss: "这一输出的损失", lossUnit: "奈特/词元", spread: "各层权重的分散程度", spreadUnit: "1 = 对可见处均匀分配", layer: "第 {layer} 层", text: "此文本",
    kind: "注意力", "encoder.self": "编码器", "decoder.self": "解码器", "decoder.cross": "解码器看原文", head: "第 {layer} 层第 {head} 头",
    updates: "更新次数", masked: "被掩码遮住", point: "指向一格，或用方向键移动。", move: "用方向键在格子间移动。", rows: "看", columns: "被看",
    "h previous": "前一个", "h itself": "自己", "h next": "后一个", "h same word": "相同子词", "h punctuation": "标点", "h first": "首个",
    "h marker": "特殊符号", "h same place": "相同位置", "h diffuse": "分散", "h mixed": "混合",
    left: "有 {n} 个检查点未显示：太多，或已损坏。", habit: "每张图下面是这个头在此文本中的作用。行看列；选一张图可放大。",
    live: "{time} 重新查看：有了新的检查点。", readOff: "用方向键读出数值。", fromTo: "{name}：从 {from} 到 {to}。", noMaps: "这个模型没有可看的注意力；这里显示它的概率。",
  },
};

const STEP_MS = 450;
const EVERY_MS = 5000;

export async function draw(root, context) {
  const { page, t, live } = context;
  const box = h("div");
  const note = h("p", { class: "soft" });
  root.append(box, note);
  let state = await watch(box, context, null);
  if (!live || page.training.runs[0].finished) return;
  const timer = setInterval(async () => {
    if (!root.isConnected) {
      clearInterval(timer);
      return;
    }
    try {
      const now = await live.fetch("moments");
      if (now.join() === page.training.learning.seen.join()) return;
      page.training.learning = await live.fetch("learning");
      const focusAgain = keptFocus(box);
      state = await watch(box, context, state);
      focusAgain();
      note.textContent = t("live", { time: new Date().toLocaleTimeString() });
    } catch { /* the server is busy or gone: what is drawn stays, and it is asked again */ }
  }, EVERY_MS);
}

/* Draws all of it, and gives what a reader looks at; `before` is what they looked at until now, or
   null. Who was at the last moment goes on to the newest. */
async function watch(root, { page, t, language }, before) {
  const found = page.training.learning;
  clear(root);
  if (found.missing) {
    root.append(h("p", { class: "missing" }, found.missing[language]));
    return null;
  }
  const kinds = await Promise.all(found.kinds.map(async (one) => ({ ...one, maps: await inflated(one.maps) })));
  const crossing = kinds.findIndex(({ kind }) => kind === "decoder.cross");
  const last = found.moments.length - 1;
  const state = { moment: last, last, kind: Math.max(0, crossing), layer: 0, head: 0 };
  if (kinds.length) Object.assign(state, sharpest(found, kinds[state.kind].kind));
  if (before) Object.assign(state, before, { last, moment: before.moment === before.last ? last : Math.min(before.moment, last) });
  const view = { found, kinds, state, t, tiles: [] };
  const moving = h("div", { class: "moment" });
  const overview = h("div", { class: "overview" });
  const large = h("div", { class: "large" });
  const plots = h("div", { class: "plots" });
  const showMoment = () => {
    clear(moving);
    moving.append(...told(view));
    view.tiles.forEach((tile) => tile());
    if (kinds.length) {
      clear(large);
      large.append(enlarged(view, large.clientWidth));
    }
    clear(plots);
    plots.append(...courses(view, root.clientWidth));
  };
  const showKind = () => {
    view.tiles = [];
    clear(overview);
    overview.append(tiles(view, showMoment));
    showMoment();
  };
  root.append(
    h("p", { class: "watched", dir: "auto" }, found.text),
    slider(view, showMoment),
    moving,
    kinds.length ? h("div", {}, chooser(view, showKind), h("p", { class: "soft small" }, t("habit")),
      h("div", { class: "watching" }, overview, large)) : h("p", { class: "soft" }, t("noMaps")),
    plots,
    found.left_out > 0 ? h("p", { class: "soft" }, t("left", { n: found.left_out })) : "");
  if (kinds.length) showKind();
  else showMoment();
  return state;
}

/* The head that in the end spreads its weights least: the one to look at first. */
function sharpest(found, kind) {
  const spread = found.moments.at(-1).spread[kind];
  const all = spread.flatMap((heads, layer) => heads.map((value, head) => ({ value, layer, head })));
  const { layer, head } = all.reduce((best, one) => (one.value < best.value ? one : best));
  return { layer, head };
}

function nameOf(moment, t) {
  return moment.kind === "checkpoint" ? t("at", { n: moment.updates }) : t(moment.kind);
}

function slider({ found, state, t }, show) {
  const last = found.moments.length - 1;
  const where = h("output", { for: "moment-slider" });
  const range = h("input", { id: "moment-slider", type: "range", min: "0", max: String(last), step: "1", "aria-label": t("slider") });
  const play = h("button", { type: "button" }, t("play"));
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = t("play");
  };
  const go = (moment) => {
    state.moment = moment;
    range.value = String(moment);
    where.textContent = nameOf(found.moments[moment], t);
    range.setAttribute("aria-valuetext", where.textContent);
    show();
  };
  range.addEventListener("input", () => {
    stop();
    go(Number(range.value));
  });
  play.addEventListener("click", () => {
    if (timer) {
      stop();
      return;
    }
    play.textContent = t("stop");
    go(state.moment === last ? 0 : state.moment);
    timer = setInterval(() => {
      if (!range.isConnected || state.moment === last) stop();
      else go(state.moment + 1);
    }, STEP_MS);
  });
  range.value = String(state.moment);
  where.textContent = nameOf(found.moments[state.moment], t);
  range.setAttribute("aria-valuetext", where.textContent);
  return h("div", { class: "slide" }, play, range, where);
}

/* The translation that is followed, the one that it would write, and the loss. */
function told({ found, state, t }) {
  const now = found.moments[state.moment];
  return [
    h("p", { class: "soft small" }, t("follows")),
    h("div", { class: "pieces", dir: "auto" }, found.written.map((piece, i) =>
      h("span", { class: `token lit${piece.startsWith("▁") ? " first" : ""}`, style: { "--share": String(now.probabilities[i]) }, title: percent(now.probabilities[i]) },
        h("span", { class: "piece" }, piece), h("span", { class: "id" }, percent(now.probabilities[i]))))),
    now.writes !== null && h("p", { class: "would" }, h("span", { class: "soft" }, `${t("writes")}: `), h("span", { dir: "auto" }, now.writes || "–")),
  ].filter(Boolean);
}

function chooser({ found, kinds, state, t }, show) {
  const buttons = kinds.map(({ kind }, i) => h("button", { type: "button", "aria-pressed": String(i === state.kind),
    on: { click: () => {
      Object.assign(state, { kind: i, ...sharpest(found, kind) });
      buttons.forEach((one, j) => one.setAttribute("aria-pressed", String(i === j)));
      show();
    } } }, t(kind)));
  return h("span", { class: "choose", role: "group", "aria-label": t("kind") }, buttons);
}

function mapOf({ found, kinds, state }, layer, head) {
  const { kind, maps } = kinds[state.kind];
  const [, , , n, m] = maps.shape;
  const bytes = maps.row(state.moment, layer, head);
  const rows = (kind === "encoder.self" ? found.source : found.fed).map((label) => ({ label }));
  const columns = (kind === "decoder.self" ? found.fed : found.source).map((label) => ({ label }));
  const values = Float32Array.from(bytes, (byte) => byte / 255);
  const hidden = Uint8Array.from(values, (_, i) => (kind === "decoder.self" && i % m > Math.floor(i / m) ? 1 : 0));
  return { rows: rows.slice(0, n), columns: columns.slice(0, m), values, hidden };
}

function tiles(view, show) {
  const { kinds, state, t, found } = view;
  const { kind, maps: { shape: [, nLayers, nHeads, n, m] } } = kinds[state.kind];
  const all = [];
  const tile = (layer, head) => {
    const canvas = h("canvas", { "aria-hidden": "true" });
    const note = h("span", { class: "note" });
    const label = t("head", { layer, head });
    const button = h("button", { type: "button", class: "tile", "aria-label": label, title: label, style: { "--shape": `${m} / ${n}` },
      on: { click: () => {
        Object.assign(state, { layer, head });
        show();
      } } }, canvas, note);
    view.tiles.push(() => {
      paint(canvas, mapOf(view, layer, head));
      note.textContent = t(`h ${found.moments[state.moment].heads[kind][layer][head]}`);
      button.setAttribute("aria-pressed", String(state.layer === layer && state.head === head));
    });
    all.push(button);
    return button;
  };
  const [layers, heads] = [nLayers, nHeads].map((count) => Array.from({ length: count }, (_, i) => i));
  return h("div", { class: "by-layer", style: { "--heads": String(nHeads) } },
    h("span", {}, ""), heads.map((head) => h("span", { class: "over soft" }, String(head))),
    layers.map((layer) => [h("span", { class: "soft" }, t("layer", { layer })), heads.map((head) => tile(layer, head))]));
}

function enlarged(view, width) {
  const { state, t } = view;
  const { layer, head } = state;
  const title = t("head", { layer, head });
  const map = mapOf(view, layer, head);
  return h("figure", { class: "panel" }, h("figcaption", {}, h("b", {}, title)),
    matrix(map, { label: title, axes: { rows: t("rows"), columns: t("columns") }, t, pick: () => {}, marked: null, width }));
}

/* How loss and spread went, with the moment that is shown. */
function courses({ found, kinds, state, t }, room) {
  const trained = found.moments.filter(({ kind }) => kind !== "model");
  const now = found.moments[state.moment];
  const mark = now.updates ?? undefined;
  const width = widthOf(room);
  const x = { unit: t("updates") };
  const plots = [chart({ title: t("loss"), series: [{ name: t("text"), style: `${styleOf(0)} dotted`, dots: true, points: trained.map(({ updates, loss }) => [updates, loss]) }],
    x, y: { unit: t("lossUnit"), from: 0 }, t, width, mark })];
  if (!kinds.length) return plots;
  const { kind, maps: { shape: [, nLayers] } } = kinds[state.kind];
  const series = Array.from({ length: nLayers }, (_, layer) => ({
    name: t("layer", { layer }), style: `${styleOf(layer)} dotted`, dots: true,
    points: trained.map((moment) => [moment.updates, mean(moment.spread[kind][layer])]),
  }));
  plots.push(chart({ title: `${t("spread")}: ${t(kind)}`, series, x, y: { unit: t("spreadUnit"), from: 0, to: 1 }, t, width, mark, legend: true }));
  return plots;
}

function mean(values) {
  return values.reduce((a, b) => a + b, 0) / values.length;
}
