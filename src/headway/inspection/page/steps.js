/* Step by step: what is fed, what may come next, what is taken, where the model looks. */

import { h, clear, roving } from "./dom.js";
import { inflated } from "./data.js";
import { percent, short, whole } from "./numbers.js";

export const part = "steps";

export const words = {
  en: {
    title: "Step by step",
    lead: "A text is written one piece at a time: what was written is fed back, and a probability comes out for every piece of the vocabulary. Move the slider, or click a piece, to see the step at which it was taken.",
    greedy: "Greedy", beam: "Beam of {beam}", target: "Teacher-forced", text: "The text, fed", sayText: "the text",
    sayGreedy: "greedy search", sayBeam: "the beam", sayTarget: "the target",
    greedyMeans: "Always the likeliest piece.",
    beamMeans: "The best of {beam} hypotheses that are written side by side.",
    targetMeans: "Whatever the model would have taken, the target's piece is fed next, as in training.",
    textMeans: "Whatever the model would have taken, the text's next piece is fed.",
    step: "Step", of: "{step} (0 to {last})", before: "Step before", after: "Next step",
    spoken: "step {step}: {piece}, {share}",
    fed: "Fed at step {step}", first: "The first query: nothing is written yet, the begin marker stands for it.",
    later: "What was taken at step {step}. All that was fed before it is still there to be looked at.",
    next: "What may come next", taken: "Taken: {piece} with {share}, rank {rank} of {vocabulary}.",
    atLimit: "The longest output is reached here: only the end marker may follow.",
    others: "all {n} others", entropy: "Entropy", nats: "{entropy} nats: as undecided as between {n} equally likely pieces",
    certain: "0: certain", uniform: "{most}: all {vocabulary} alike",
    looks: "Where it looks", looking: "Cross-attention of the alignment layer, mean of its heads, in %",
    blind: "This model gives no attention to its source.", none: "A model of text alone has no source to look at.",
    kept: "kept", pruned: "pruned", barred: "barred",
    likely: "Probability of what was taken", dotted: "underlined: not the likeliest piece", ahead: "dashed: still to come",
    parting: "orange edge: here it parts from the chosen row",
    same: "No difference: {one} and {other} write the same.",
    part: "At step {step} {one} and {other} part: {one} takes {a} ({pa}), {other} takes {b} ({pb}).",
    whole: "As a whole, {one} has the log-probability {la}, {other} {lb}.",
    taught: "With {target} fed, the model's first choice is its piece at {right} of {n} steps.",
    apart: "It is what headway translate writes, which is not always the one search's: long texts are taken in portions, codes and terms are mended, and a text may be spelled in other pieces.",
    goTo: "Go to step {step}", entropies: "Entropy at each step; the highest is {most} nats",
  },
  zh: {
    title: "逐步解码",
    lead: "文本一次写一个子词：已写出的被送回模型，模型为词表中的每个子词给出一个概率。移动滑块或点击子词，查看它被选中的那一步。",
    greedy: "贪心", beam: "束宽 {beam}", target: "教师强制", text: "送入文本", sayText: "文本",
    sayGreedy: "贪心搜索", sayBeam: "束搜索", sayTarget: "指定的文本",
    greedyMeans: "每步都取最可能的子词。",
    beamMeans: "同时写 {beam} 个假设，取其中最好的。",
    targetMeans: "无论模型会选什么，下一步都送入指定的文本的子词，与训练时相同。",
    textMeans: "无论模型会选什么，下一步都送入文本的子词。",
    step: "步骤", of: "{step}（0 至 {last}）", before: "上一步", after: "下一步",
    spoken: "第 {step} 步：{piece}，{share}",
    fed: "第 {step} 步送入", first: "第一个查询：还没有写出任何内容，由起始符代替。",
    later: "第 {step} 步选中的子词。在它之前送入的都仍可被注意到。",
    next: "接下来可能是", taken: "选中：{piece}，概率 {share}，在 {vocabulary} 个中排第 {rank}。",
    atLimit: "已到最大长度：后面只能是终止符。",
    others: "其余 {n} 个之和", entropy: "熵", nats: "{entropy} 奈特：相当于在 {n} 个同样可能的子词之间犹豫",
    certain: "0：确定", uniform: "{most}：{vocabulary} 个完全一样",
    looks: "它在看哪里", looking: "对齐层的交叉注意力，各头平均，单位 %",
    blind: "此模型不给出对原文的注意力。", none: "纯语言模型没有原文可看。",
    kept: "保留", pruned: "剪去", barred: "禁写",
    likely: "选中子词的概率", dotted: "下划线：不是最可能的子词", ahead: "虚线框：尚未写出",
    parting: "橙色边：从这里起与所选的一行不同",
    same: "没有差别：{one}与{other}写出的相同。",
    part: "在第 {step} 步{one}与{other}分开：{one}选 {a}（{pa}），{other}选 {b}（{pb}）。",
    whole: "整句的对数概率：{one}为 {la}，{other}为 {lb}。",
    taught: "送入{target}时，{n} 步中有 {right} 步模型的首选就是它的子词。",
    apart: "它是 headway translate 写出的，与单次搜索不一定相同：长文本分段翻译，代码与术语会被修补，同一文本也可能由别的子词拼成。",
    goTo: "转到第 {step} 步", entropies: "每一步的熵，最高 {most} 奈特",
  },
};

export function draw(root, context) {
  const { part, t, chosen } = context;
  const named = (name) => t(role(part, name), { beam: part.beam });
  const names = Object.keys(part.courses);
  const rows = names.map((name) => h("div", { class: "course" }));
  const slider = h("input", { type: "range", min: "0", step: "1", id: "steps-slider",
    on: { input: () => show({ step: Number(slider.value) }) } });
  const place = h("span", { class: "soft step-place" });
  const strip = h("div", { class: "entropies", "aria-hidden": "true" });
  const caption = h("p", { class: "soft step-caption" });
  const means = h("p", { class: "soft means" });
  const now = h("div", { class: "step-now" });
  const looked = lookedAt(part, t);
  const state = {
    course: names.includes(chosen.course) ? chosen.course : firstShown(part),
    step: chosen.step ?? 0,
  };

  function show(change) {
    Object.assign(state, change);
    const course = part.courses[state.course];
    state.step = Math.max(0, Math.min(state.step, course.taken.length - 1));
    context.choose({ course: state.course, step: state.step });
    slider.max = String(course.taken.length - 1);
    slider.value = String(state.step);
    slider.setAttribute("aria-valuetext", t("spoken", {
      step: state.step, piece: piece(part, course.taken[state.step]), share: percent(Math.exp(course.log_probs[state.step])) }));
    clear(place);
    place.append(t("of", { step: state.step, last: course.taken.length - 1 }));
    clear(means);
    means.append(h("b", {}, named(state.course)), ": ", t(`${role(part, state.course)}Means`, { beam: part.beam }));
    names.forEach((name, i) => mark(rows[i], name));
    drawStrip();
    clear(now);
    now.append(seen(context, course, state, looked));
    looked.show(course, state.step);
  }

  function mark(row, name) {
    const here = name === state.course;
    const parting = here ? null : partingOf(part, name, state.course);
    row.classList.toggle("here", here);
    row.querySelector(".course-name").setAttribute("aria-pressed", String(here));
    row.querySelectorAll(".token").forEach((token, step) => {
      const pressed = String(here && step === state.step);
      if (token.getAttribute("aria-pressed") !== pressed) token.setAttribute("aria-pressed", pressed);
      token.classList.toggle("ahead", here && step > state.step);
      token.classList.toggle("parts", step === parting);
    });
  }

  function drawStrip() {
    clear(strip);
    const { entropies } = part.courses[state.course];
    const most = Math.max(...entropies);
    clear(caption);
    caption.append(t("entropies", { most: short(most) }));
    strip.append(...entropies.map((entropy, step) => h("span", {
      class: step === state.step ? "here" : null, title: `${t("step")} ${step}: ${short(entropy)}`,
      style: { height: `${(100 * entropy) / Math.max(most, 0.01)}%` } })));
  }

  names.forEach((name, i) => {
    rows[i].append(
      h("button", { type: "button", class: "course-name", on: { click: () => show({ course: name }) } }, named(name)),
      h("div", { class: "pieces", role: "group", "aria-label": named(name), dir: "auto" },
        part.courses[name].taken.map((id, step) => token(part, name, step, t, () => show({ course: name, step })))));
    roving(rows[i].querySelector(".pieces"), ".token");
  });
  const by = (change, label, sign) => h("button", { type: "button", "aria-label": label, title: label,
    on: { click: () => show({ step: state.step + change }) } }, sign);
  root.append(
    ...rows, legend(t), means,
    h("div", { class: "step-slide" },
      h("label", { for: slider.id }, t("step")), place, by(-1, t("before"), "◀"),
      h("div", { class: "track" }, caption, strip, slider), by(1, t("after"), "▶")),
    now, h("ul", { class: "partings" }, inWords(context, show)));
  show({});
}

/* What a course is called: a model of text alone has no target, it is fed a text. */
function role(part, name) {
  return name === "target" && !part.source.length ? "text" : name;
}

function firstShown({ source, courses }) {
  return source.length || !courses.target ? "beam" : "target";
}

function token(part, name, step, t, choose) {
  const course = part.courses[name];
  const share = Math.exp(course.log_probs[step] ?? -Infinity);
  const text = piece(part, course.taken[step]);
  const unlikely = course.ranks[step] > 1 ? " unlikely" : "";
  return h("button", { type: "button", class: `token${text.startsWith("▁") ? " first" : ""}${unlikely}`,
    "aria-pressed": "false", "aria-label": t("spoken", { step, piece: text, share: percent(share) }),
    style: { "--share": String(share) }, on: { click: choose } },
  h("span", { class: "piece" }, text), h("span", { class: "id", "aria-hidden": "true" }, percent(share)));
}

function legend(t) {
  return h("div", { class: "scale plain" }, h("span", {}, t("likely")), h("span", {}, "0 %"),
    h("span", { class: "ramp", "aria-hidden": "true" }), h("span", {}, "100 %"),
    ["dotted", "ahead", "parting"].map((name) => h("span", { class: "step-also" }, t(name))));
}

/* One step: what is fed, the distribution, the attention. */
function seen(context, course, { step }, looked) {
  const { part, t } = context;
  const vocabulary = whole(part.vocabulary);
  return h("div", { class: "pair" },
    h("div", {},
      h("h3", {}, t("fed", { step }), " ", h("span", { class: "token fed" }, piece(part, course.fed[step]))),
      h("p", { class: "soft" }, step === 0 ? t("first") : t("later", { step: step - 1 })),
      h("h3", {}, t("looks")), looked.elements),
    h("div", {},
      h("h3", {}, t("next")),
      h("p", { class: "soft" }, t("taken", { piece: piece(part, course.taken[step]), vocabulary,
        share: percent(Math.exp(course.log_probs[step] ?? -Infinity)), rank: whole(course.ranks[step]) }),
      step === part.limit && ` ${t("atLimit")}`),
      distribution(context, course, step),
      entropy(part, course.entropies[step], t)));
}

function distribution({ part, sentence, t }, course, step) {
  const shares = course.probabilities[step];
  const rest = Math.max(0, 1 - shares.reduce((sum, share) => sum + share, 0));
  const fates = fatesBehind(sentence.beams, course.taken.slice(0, step));
  const fate = (id) => (part.unwritten.includes(id) ? "barred" : fates.get(id));
  return h("ol", { class: "bars step-bars" },
    course.likeliest[step].map((id, i) => bar(piece(part, id), shares[i], id === course.taken[step] ? "taken" : "",
      fate(id) && t(fate(id)))),
    part.vocabulary > shares.length && bar(t("others", { n: whole(part.vocabulary - shares.length) }), rest, "rest"));
}

function bar(name, share, kind, fate = "") {
  return h("li", { class: kind },
    h("span", { class: "name", dir: "auto" }, name),
    h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "fill", style: { width: `${100 * share}%` } })),
    h("span", { class: "value" }, percent(share)), h("span", { class: "fate" }, fate));
}

/* What the beam did with each piece behind this beginning, as far as its tree has it. */
function fatesBehind(tree, beginning) {
  const { parent, token, fate } = tree.nodes;
  let here = -1;
  for (const id of beginning) {
    here = parent.findIndex((one, i) => one === here && token[i] === id);
    if (here < 0) return new Map();
  }
  return new Map(parent.flatMap((one, i) => (one === here ? [[token[i], fate[i] === "p" ? "pruned" : "kept"]] : [])));
}

function entropy(part, value, t) {
  const most = Math.log(part.vocabulary);
  return [
    h("div", { class: "measure step-entropy" }, h("span", {}, t("entropy")),
      h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "fill", style: { width: `${(100 * value) / most}%` } })),
      h("span", { class: "value" }, t("nats", { entropy: short(value), n: short(Math.exp(value), 2) }))),
    h("p", { class: "soft entropy-ends" }, h("span", {}, t("certain")),
      h("span", {}, t("uniform", { most: short(most), vocabulary: whole(part.vocabulary) }))),
  ];
}

/* The source, shaded anew at every step: { elements, show(course, step) }. */
function lookedAt(part, t) {
  if (!part.courses.beam.attention) {
    const why = h("p", { class: "missing" }, t(part.source.length ? "blind" : "none"));
    return { elements: why, show: () => {} };
  }
  const shares = part.source.map(() => h("span", { class: "id" }));
  const tokens = part.source.map((text, i) => h("span", { class: `token${text.startsWith("▁") ? " first" : ""}` },
    h("span", { class: "piece" }, text), shares[i]));
  let asked;
  return {
    elements: [
      h("div", { class: "pieces looked", dir: "auto" }, tokens),
      h("div", { class: "scale plain" }, h("span", {}, t("looking")), h("span", {}, "0"),
        h("span", { class: "ramp looked", "aria-hidden": "true" }), h("span", {}, "100")),
    ],
    async show(course, step) {
      const mine = asked = {};
      const weights = (await inflated(course.attention)).row(step);
      if (mine !== asked) return; // another step was asked for meanwhile
      const most = Math.max(...weights);
      tokens.forEach((token, i) => {
        token.style.setProperty("--weight", String(weights[i] / 255));
        token.classList.toggle("most", weights[i] === most);
        shares[i].textContent = String(Math.round((100 * weights[i]) / 255));
      });
    },
  };
}

/* Where courses part, in words, with a way to that step. What greedy search shares with the beam is
   said of the beam alone. */
function inWords({ part, sentence, t }, show) {
  const alike = partingOf(part, "greedy", "beam") === null;
  const told = part.partings.filter(({ courses: [one, other] }) => !alike || one !== "greedy" || other === "beam");
  const { target } = part.courses;
  const right = target?.ranks.filter((rank) => rank === 1).length;
  return [
    told.map((parting) => h("li", {}, partingInWords(part, parting, t), " ",
      parting.step !== null && h("button", { type: "button", class: "link",
        on: { click: () => show({ course: parting.courses[1], step: parting.step }) } }, t("goTo", parting)))),
    target && h("li", {}, t("taught", { target: spoken(part, "target", t), right, n: target.ranks.length }),
      part.source.length > 0 && !sentence.forced && ` ${t("apart")}`),
  ].flat().filter(Boolean);
}

function spoken(part, name, t) {
  const called = role(part, name);
  return t(`say${called[0].toUpperCase()}${called.slice(1)}`);
}

function partingInWords(part, { courses: [one, other], step }, t) {
  const said = (name) => spoken(part, name, t);
  const values = { one: said(one), other: said(other), step };
  if (step === null) return t("same", values);
  const [a, b] = [part.courses[one], part.courses[other]];
  return [t("part", { ...values,
    a: piece(part, a.taken[step]), b: piece(part, b.taken[step]),
    pa: percent(Math.exp(a.log_probs[step])), pb: percent(Math.exp(b.log_probs[step])) }), " ",
  t("whole", { ...values, la: short(a.log_prob, 4), lb: short(b.log_prob, 4) })].join("");
}

function partingOf(part, one, other) {
  return part.partings.find(({ courses }) => courses.includes(one) && courses.includes(other)).step;
}

function piece(part, id) {
  return part.pieces[id];
}
