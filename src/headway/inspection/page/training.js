/* Training seen: what runs logged, over updates, tokens or time; runs that go on are asked again. */

import { chart, compact, styleOf, swatch, widthOf } from "./chart.js";
import { unpack } from "./data.js";
import { clear, h } from "./dom.js";
import { short, whole } from "./numbers.js";

export const shown = (page) => Boolean(page.training);

export const words = {
  en: {
    title: "Training",
    lead: "What each run logged while it was trained. Move over a plot, or through it with the arrow keys, to read values off.",
    over: "Over", updates: "updates", tokens: "tokens", time: "time", s: "seconds", min: "minutes", h: "hours",
    scale: "Loss and gradient", linear: "linear", log: "logarithmic", runs: "Runs",
    loss: "Loss", lossUnit: "nats per token", score: "Score on validation: {name}", rate: "Learning rate", gradient: "Length of the gradient, before clipping",
    speed: "Speed, validations left out", speedUnit: "tokens per second",
    train: "training, {name}", valid: "validation, {name}", isTrain: "Line: training loss, with label smoothing and dropout", isTrainPlain: "Line: training loss, with dropout", isValid: "dots: validation loss, without",
    run: "Run", state: "State", made: "Updates", seen: "Tokens seen", took: "Time", last: "Training loss", lastValid: "Best validation loss", best: "Best score",
    finished: "finished", going: "{done} of {planned} updates", budget: "budget {budget}",
    live: "As it is at {time}; asked again every 5 seconds.", moment: "{name}: {state}; it is not finished.",
    noNorm: "The length of the gradient is logged by newer versions.",
    unlike: "Losses are nats per token of each run's own vocabulary: with other vocabularies they do not compare.",
  },
  zh: {
    title: "训练过程",
    lead: "每次训练记录的内容。指向曲线（或用方向键移动）即可读出数值。",
    over: "横轴", updates: "更新次数", tokens: "词元", time: "时间", s: "秒", min: "分钟", h: "小时",
    scale: "损失与梯度", linear: "线性", log: "对数", runs: "训练",
    loss: "损失", lossUnit: "奈特/词元", score: "验证集得分：{name}", rate: "学习率", gradient: "梯度的模（裁剪前）",
    speed: "速度（不含验证）", speedUnit: "词元/秒",
    train: "训练，{name}", valid: "验证，{name}", isTrain: "线：训练损失，含标签平滑与 dropout", isTrainPlain: "线：训练损失，含 dropout", isValid: "点：验证损失，不含",
    run: "训练", state: "状态", made: "更新次数", seen: "看过的词元", took: "时间", last: "训练损失", lastValid: "最好的验证损失", best: "最好的得分",
    finished: "已完成", going: "第 {done} 次更新，共 {planned} 次", budget: "预算 {budget}",
    live: "{time} 的状态；每 5 秒再问一次。", moment: "{name}：{state}；训练未完成。",
    noNorm: "较新的版本才记录梯度的模。",
    unlike: "损失的单位是各次训练自己词表的奈特/词元；词表不同时不能比较。",
  },
};

const EVERY_MS = 5000;
const LOWER = new Set(["perplexity"]); // is better
const PLACE = { updates: 0, tokens: 1, time: 2 };

export function draw(root, context) {
  const { page, t, live, language } = context;
  const state = { runs: page.training.runs, over: "updates", log: false, hidden: new Set() };
  const table = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": t("runs") });
  const plots = h("div", { class: "plots" });
  const note = h("p", { class: "soft" });
  const show = () => {
    clear(table);
    table.append(summary(state.runs, t, language));
    clear(plots);
    plots.append(...charts(state, t, root.clientWidth));
  };
  const chosen = (change) => {
    Object.assign(state, change);
    show();
  };
  root.append(table, controls(state, t, chosen), plots, note);
  show();
  const unfinished = state.runs.filter((run) => !run.finished);
  if (!unfinished.length) return;
  if (live) {
    askAgain(root, live, (found) => {
      state.runs = found.runs;
      note.textContent = t("live", { time: new Date().toLocaleTimeString() });
      show();
    });
  } else note.textContent = unfinished.map((run) => t("moment", { name: run.name, state: stateOf(run, t) })).join(" ");
}

/* Until all are finished, or the view is gone. */
function askAgain(root, live, arrived) {
  const timer = setInterval(async () => {
    if (!root.isConnected) {
      clearInterval(timer);
      return;
    }
    try {
      const found = await live.fetch("training");
      arrived(found);
      if (found.runs.every((run) => run.finished)) clearInterval(timer);
    } catch { /* the server is busy or gone: what is drawn stays, and it is asked again */ }
  }, EVERY_MS);
}

function controls(state, t, chosen) {
  const several = state.runs.length > 1;
  return h("div", { class: "controls" },
    chooser(t("over"), ["updates", "tokens", "time"], state.over, t, (over) => chosen({ over })),
    chooser(t("scale"), ["linear", "log"], "linear", t, (one) => chosen({ log: one === "log" })),
    several && h("div", { class: "choose-runs", role: "group", "aria-label": t("runs") }, state.runs.map((run, i) =>
      !run.missing && h("button", { type: "button", class: "entry", "aria-pressed": "true",
        on: { click: ({ currentTarget }) => {
          const { hidden } = state;
          if (!hidden.delete(i)) hidden.add(i);
          currentTarget.setAttribute("aria-pressed", String(!hidden.has(i)));
          chosen({});
        } } }, swatch(styleOf(i)), run.name))));
}

function chooser(label, options, first, t, choose) {
  const buttons = options.map((name) => h("button", { type: "button", "aria-pressed": String(name === first),
    on: { click: () => {
      buttons.forEach((one, i) => one.setAttribute("aria-pressed", String(options[i] === name)));
      choose(name);
    } } }, t(name)));
  return h("span", { class: "chooser" }, h("span", { class: "soft" }, label), " ",
    h("span", { class: "choose", role: "group", "aria-label": label }, buttons));
}

function summary(runs, t, language) {
  const best = (run, name, pick) => {
    const held = run.curves[name];
    return held ? short(column(held, 3).reduce((a, b) => pick(a, b))) : "–";
  };
  const rows = runs.map((run, i) => h("tr", {},
    h("th", { scope: "row" }, swatch(styleOf(i)), " ", run.name, " ", h("span", { class: "soft" }, run.type)),
    run.missing ? h("td", { colspan: "7", class: "soft" }, run.missing[language])
      : [h("td", {}, stateOf(run, t)), h("td", {}, whole(run.updates)),
        h("td", {}, compact(Object.values(run.counts).reduce((a, b) => a + b, 0))), h("td", {}, clock(run.time_s)),
        h("td", {}, run.curves.loss ? short(column(run.curves.loss, 3).at(-1)) : "–"),
        h("td", {}, best(run, "valid_loss", Math.min)), h("td", {}, scoresOf(run).slice(-1).map((name) => `${named(name)} ${best(run, name, LOWER.has(name) ? Math.min : Math.max)}`))]));
  const head = ["run", "state", "made", "seen", "took", "last", "lastValid", "best"].map((name) => h("th", { scope: "col" }, t(name)));
  return h("table", { class: "runs" },
    h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, rows));
}

function stateOf(run, t) {
  const budget = run.budget ? ` · ${t("budget", { budget: run.budget })}` : "";
  return (run.finished ? t("finished") : t("going", { done: whole(run.updates), planned: whole(run.planned) })) + budget;
}

function charts(state, t, room) {
  const runs = state.runs.map((run, i) => ({ run, i })).filter(({ run, i }) => !run.missing && !state.hidden.has(i));
  if (!runs.length) return [];
  const longest = Math.max(...runs.map(({ run }) => run.time_s));
  const [unit, seconds] = longest >= 7200 ? ["h", 3600] : longest >= 120 ? ["min", 60] : ["s", 1];
  const x = { unit: state.over === "time" ? t(unit) : t(state.over) };
  const place = PLACE[state.over];
  const points = (held) => {
    const { shape: [n], at } = unpack(held);
    return Array.from({ length: n }, (_, k) => [at(k, place) / (place === 2 ? seconds : 1), at(k, 3)]);
  };
  const width = widthOf(room);
  const lines = (name, label = (run) => run.name, extra = "") => runs.filter(({ run }) => run.curves[name])
    .map(({ run, i }) => ({ name: label(run), style: styleOf(i) + extra, points: points(run.curves[name]), dots: extra.includes("dotted") }));
  const log = state.log;
  const both = [...lines("loss", (run) => t("train", { name: run.name }), " fine"), ...lines("valid_loss", (run) => t("valid", { name: run.name }), " dotted")];
  const scores = [...new Set(runs.flatMap(({ run }) => scoresOf(run)))];
  const smoothed = runs.some(({ run }) => run.smoothed);
  return [
    h("div", { class: "across" }, chart({ title: t("loss"), series: both, x, y: { unit: t("lossUnit"), log }, t, width: room }),
      h("p", { class: "soft small" }, `${t(smoothed ? "isTrain" : "isTrainPlain")}; ${t("isValid")}. `, runs.length > 1 && t("unlike"))),
    ...scores.map((name) => chart({ title: t("score", { name: named(name) }), series: lines(name, undefined, " dotted"), x, y: { unit: named(name) }, t, width })),
    chart({ title: t("rate"), series: lines("learning_rate"), x, y: { unit: "", from: 0 }, t, width }),
    lines("gradient_norm").length ? chart({ title: t("gradient"), series: lines("gradient_norm", undefined, " fine"), x, y: { unit: "", log }, t, width })
      : h("p", { class: "soft" }, t("noNorm")),
    chart({ title: t("speed"), series: lines("tokens_per_s", undefined, " fine"), x, y: { unit: t("speedUnit"), from: 0 }, t, width }),
  ];
}

function column(held, place) {
  const { shape: [n], at } = unpack(held);
  return Array.from({ length: n }, (_, k) => at(k, place));
}

/* Those that say more than the loss does, of which `log_prob` is the negative; what training went by
   is the last. */
function scoresOf(run) {
  return run.scores.filter((name) => name !== "log_prob");
}

function named(score) {
  return { bleu: "BLEU", chrf: "chrF" }[score] ?? score.replaceAll("_", " ");
}

function clock(seconds) {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds % 60)];
  const two = (n) => String(n).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
