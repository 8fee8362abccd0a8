/* The beam tree: what the search kept, pruned and finished, and why its winner won. */

import { h, svg, clear } from "./dom.js";
import { percent, short } from "./numbers.js";

export const part = "beams";

const FATES = { k: "kept", p: "pruned", f: "finished", o: "open" };
const COLUMN = 78, ROW = 30, WIDTH = 60, HEIGHT = 22, TOP = 26, GAP = 14;
const LONG = 200; // steps: of a longer search what was pruned is shown only when it is asked for

export const words = {
  en: {
    title: "The beam tree",
    lead: "At every step the search continues each of its hypotheses with every piece of the vocabulary and keeps only the likeliest. Click a piece, or move with the arrow keys, to see the hypothesis that ends in it.",
    tree: "Beam tree, from left to right", step: "step", start: "start",
    kept: "kept", pruned: "pruned", finished: "finished, with its score", open: "given up", winner: "the winner's path",
    node: "step {step}: {piece}, {fate}, log-probability {total}",
    showPruned: "Show what was pruned",
    text: "Text so far", nothing: "(nothing)",
    sum: "log-probability {total} / length penalty {penalty} = score {score}",
    penaltyIs: "length penalty = ((5 + {n}) / 6)^{alpha}, {n} pieces with the end marker",
    own: "{piece} by itself has {share}; the whole is number {rank} of all continuations at step {step}.",
    isKept: "Kept: it is one of the {beam} likeliest, and goes on.",
    isPruned: "Pruned: the beam has room for {beam} only.",
    isFinished: "Finished: it ends in the end marker. It is number {place} of the finished ones.",
    isOpen: "Given up when the search ended: even if nothing more of its probability were lost up to the longest length, its score could not exceed {bound}.",
    why: "Why the winner won",
    won: "“{text}” has the best score: {log_prob} / {penalty} = {score}.",
    longer: "The runner-up is likelier ({log_prob}), but the winner is longer ({n} pieces against {m}), and what is longer is divided by more.",
    likelier: "The runner-up has {score}: it is less likely ({log_prob} against {own}).",
    shorter: "The runner-up has {score}: its {m} pieces are {log_prob}, the winner's {n} are {own}.",
    alone: "No other hypothesis was finished.",
    unpenalizedSame: "Without the length penalty the same would have won.",
    unpenalizedOther: "Without the length penalty “{text}” would have won: its log-probability is {log_prob}, the winner's {own}.",
    greedySame: "Greedy search writes the same: a beam of 1 would have been enough.",
    greedyOther: "Greedy search writes “{text}”, with the score {score}: at step {step} the winner was number {rank}, and a beam of 1 would have lost it.",
    ended: "The search ended after step {step}: nothing that was still open could come among the {n} best any more.",
    limit: "The search ended with step {step}: the longest output.",
    table: "What was found", place: "Place", found: "Text", pieces: "Pieces", log_prob: "Log-probability",
    penalty: "Length penalty", score: "Score", greedy: "greedy search", unpenalized: "without length penalty", choose: "show {text} in the tree",
  },
  zh: {
    title: "束搜索树",
    lead: "每一步，搜索把每个假设分别接上词表中的每个子词，只保留最可能的几个。点击一个子词（或用方向键移动），查看以它结尾的假设。",
    tree: "束搜索树，从左到右", step: "步", start: "起点",
    kept: "保留", pruned: "剪去", finished: "完成，附得分", open: "放弃", winner: "胜者的路径",
    node: "第 {step} 步：{piece}，{fate}，对数概率 {total}",
    showPruned: "显示被剪去的",
    text: "到此为止的文本", nothing: "（无）",
    sum: "对数概率 {total} / 长度惩罚 {penalty} = 得分 {score}",
    penaltyIs: "长度惩罚 = ((5 + {n}) / 6)^{alpha}，{n} 为子词数（含终止符）",
    own: "{piece} 本身的概率为 {share}；整个假设在第 {step} 步的所有续写中排第 {rank}。",
    isKept: "保留：它是最可能的 {beam} 个之一，继续写下去。",
    isPruned: "剪去：束里只有 {beam} 个位置。",
    isFinished: "完成：以终止符结尾。它在完成的假设中排第 {place}。",
    isOpen: "搜索结束时放弃：即使一直到最大长度都不再损失概率，它的得分也不会超过 {bound}。",
    why: "胜者为什么胜出",
    won: "“{text}”得分最高：{log_prob} / {penalty} = {score}。",
    longer: "第二名概率更高（{log_prob}），但胜者更长（{n} 个子词对 {m} 个），更长的除以更大的数。",
    likelier: "第二名得分 {score}：它的概率更低（{log_prob} 对 {own}）。",
    shorter: "第二名得分 {score}：它的 {m} 个子词为 {log_prob}，胜者的 {n} 个为 {own}。",
    alone: "没有其他假设完成。",
    unpenalizedSame: "没有长度惩罚，胜者也一样。",
    unpenalizedOther: "没有长度惩罚，胜者会是“{text}”：它的对数概率为 {log_prob}，现胜者为 {own}。",
    greedySame: "贪心搜索写出的相同：束宽 1 就够了。",
    greedyOther: "贪心搜索写出“{text}”，得分 {score}：在第 {step} 步胜者排第 {rank}，束宽 1 会失去它。",
    ended: "搜索在第 {step} 步之后结束：仍在束中的都不可能再进入前 {n} 名。",
    limit: "搜索在第 {step} 步结束：已到最大长度。",
    table: "找到的结果", place: "名次", found: "文本", pieces: "子词数", log_prob: "对数概率",
    penalty: "长度惩罚", score: "得分", greedy: "贪心搜索", unpenalized: "无长度惩罚", choose: "在树中显示 {text}",
  },
};

export function draw(root, context) {
  const { part, t, chosen } = context;
  const tree = treeOf(part);
  const details = h("div", { class: "hypothesis", "aria-live": "polite" });
  const figure = h("div", { class: "wide beam-tree" });
  const select = (place) => {
    context.choose({ node: place });
    for (const one of figure.querySelectorAll(".node")) {
      const here = Number(one.dataset.place) === place;
      one.setAttribute("aria-pressed", String(here));
      one.setAttribute("tabindex", here ? "0" : "-1");
    }
    const path = new Set(tree.path(place));
    for (const one of figure.querySelectorAll(".edge")) one.classList.toggle("on-path", path.has(Number(one.dataset.place)));
    clear(details);
    details.append(...described(tree, place, t));
  };
  const pruned = h("input", { type: "checkbox", id: "beams-pruned", on: { change: () => grow() } });
  pruned.checked = chosen.pruned ?? tree.last <= LONG;
  const grow = () => {
    context.choose({ pruned: pruned.checked });
    clear(figure);
    const node = tree.fate[chosen.node] === "p" && !pruned.checked ? undefined : chosen.node;
    figure.append(drawing(tree, t, select, pruned.checked));
    select(node ?? tree.winner);
  };
  root.append(
    h("div", { class: "scale plain beam-keys" }, ["winner", "kept", "pruned", "open", "finished"].map((fate) =>
      h("span", {}, h("span", { class: `key-${fate}`, "aria-hidden": "true" }), t(fate))),
    h("label", { for: pruned.id }, pruned, " ", t("showPruned"))),
    figure, details,
    h("h3", {}, t("why")), h("ul", { class: "reasons" }, reasons(tree, t).map((reason) => h("li", {}, reason))),
    h("h3", {}, t("table")), table(tree, t, (place) => {
      if (tree.fate[place] === "p" && !pruned.checked) { pruned.checked = true; grow(); }
      select(place);
      figure.querySelector(`[data-place="${place}"].node`).focus();
    }));
  grow();
}

/* The columns of the document, and what follows from them. */
function treeOf(part) {
  const { parent, token, log_prob, total, rank, fate } = part.nodes;
  const depth = [], children = parent.map(() => []);
  parent.forEach((above, place) => {
    depth.push(above < 0 ? 1 : depth[above] + 1);
    if (above >= 0) children[above].push(place);
  });
  const path = (place) => (place < 0 ? [] : [...path(parent[place]), place]);
  const winner = part.found[0].node;
  return {
    part, parent, token, log_prob, total, rank, fate, depth, children, path, winner,
    piece: (place) => part.pieces[token[place]],
    penalty: (place) => part.penalties[depth[place] - 1],
    score: (place) => total[place] / part.penalties[depth[place] - 1],
    last: Math.max(...depth),
  };
}

function drawing(tree, t, select, withPruned) {
  const slots = placed(tree, withPruned);
  const rows = Math.max(...slots.values()) + 1;
  const [width, height] = [(tree.last + 1) * COLUMN + 8, TOP + rows * ROW + GAP];
  const winning = new Set(tree.path(tree.winner));
  const [edges, nodes] = [[], []];
  for (const [place, slot] of slots) {
    const [x, y] = position(tree, place, slot);
    const above = tree.parent[place];
    const [fromX, fromY] = above < 0 ? [4, TOP + ROW / 2] : position(tree, above, slots.get(above));
    const wins = winning.has(place);
    const middle = (fromX + WIDTH + x) / 2;
    edges.push(svg("path", { class: `edge ${FATES[tree.fate[place]]}${wins ? " wins" : ""}`, "data-place": String(place),
      d: `M${fromX + WIDTH} ${fromY} C${middle} ${fromY} ${middle} ${y} ${x} ${y}` }));
    nodes.push(node(tree, place, x, y, wins, t));
  }
  edges.sort((one, other) => one.classList.contains("wins") - other.classList.contains("wins"));
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": t("tree"),
    on: { click: (event) => chosenBy(event.target, select), focusin: (event) => chosenBy(event.target, select),
      keydown: (event) => move(event, tree, slots) } },
  Array.from({ length: tree.last }, (_, step) => svg("text", {
    class: "step-number", x: (step + 1) * COLUMN + 4 + WIDTH / 2, y: 15 }, `${step === 0 ? `${t("step")} ` : ""}${step}`)),
  edges,
  svg("g", { class: "begin" }, svg("rect", { x: 4, y: TOP + (ROW - HEIGHT) / 2, width: WIDTH, height: HEIGHT, rx: 6 }),
    svg("text", { x: 4 + WIDTH / 2, y: TOP + ROW / 2 + 4.5 }, t("start"))),
  nodes);
}

/* The row of each node: what was kept in the order of the step, what was pruned below it. */
function placed(tree, withPruned) {
  const beam = Math.min(tree.part.beam, Math.max(...tree.depth.map((_, place) => (tree.fate[place] === "p" ? 1 : tree.rank[place]))));
  const used = new Map(), slots = new Map();
  const free = (key) => { const n = used.get(key) ?? 0; used.set(key, n + 1); return n; };
  tree.depth.forEach((depth, place) => {
    if (tree.fate[place] !== "p") slots.set(place, free(depth));
    else if (withPruned) slots.set(place, beam + free(`p${depth}`));
  });
  return slots;
}

function position(tree, place, slot) {
  const below = tree.fate[place] === "p" ? GAP : 0;
  return [tree.depth[place] * COLUMN + 4, TOP + slot * ROW + ROW / 2 + below];
}

function node(tree, place, x, y, wins, t) {
  const fate = FATES[tree.fate[place]];
  const piece = tree.piece(place);
  const shown = fate === "finished" ? short(tree.score(place)) : cut(piece);
  return svg("g", { class: `node ${fate}${wins ? " wins" : ""}`, "data-place": String(place), role: "button", tabindex: "-1",
    "aria-pressed": "false", "aria-label": t("node", { step: tree.depth[place] - 1, piece, fate: t(fate), total: short(tree.total[place]) }) },
  svg("title", {}, piece),
  svg("rect", { x, y: y - HEIGHT / 2, width: WIDTH, height: HEIGHT, rx: fate === "finished" ? 11 : 6 }),
  svg("text", { x: x + WIDTH / 2, y: y + 4.5 }, shown));
}

function chosenBy(target, select) {
  const node = target.closest(".node");
  if (node) select(Number(node.dataset.place));
}

/* Left: what it continues; right: its best continuation; up and down: others of the step. */
function move(event, tree, slots) {
  const here = event.target.closest?.(".node");
  if (!here) return;
  const place = Number(here.dataset.place);
  const beside = [...slots.keys()].filter((one) => tree.depth[one] === tree.depth[place]);
  const at = beside.indexOf(place);
  const to = {
    ArrowLeft: tree.parent[place], ArrowRight: tree.children[place].find((one) => slots.has(one)),
    ArrowUp: beside[at - 1], ArrowDown: beside[at + 1], Home: tree.path(place)[0], End: tree.winner,
    Enter: place, " ": place,
  }[event.key];
  if (to === undefined || to < 0) return;
  event.preventDefault();
  const svgRoot = here.ownerSVGElement;
  const next = svgRoot.querySelector(`.node[data-place="${to}"]`);
  next.focus();
  next.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function described(tree, place, t) {
  const { part } = tree;
  const step = tree.depth[place] - 1;
  const text = spelled(tree.path(place).map((one) => tree.piece(one)));
  const bound = tree.total[place] / ((5 + part.limit + 1) / 6) ** part.length_penalty;
  const fate = { k: "isKept", p: "isPruned", f: "isFinished", o: "isOpen" }[tree.fate[place]];
  return [
    h("p", { class: "so-far" }, h("span", { class: "soft" }, t("named", { a: t("text"), b: "" })), h("b", { dir: "auto" }, text || t("nothing"))),
    h("p", {}, t("sum", { total: short(tree.total[place], 4), penalty: short(tree.penalty(place)), score: short(tree.score(place), 4) }),
      " ", h("span", { class: "soft" }, `(${t("penaltyIs", { n: tree.depth[place], alpha: part.length_penalty })})`)),
    h("p", { class: "soft" }, t("own", { piece: tree.piece(place), share: percent(Math.exp(tree.log_prob[place])), rank: tree.rank[place], step }),
      " ", t(fate, { beam: part.beam, bound: short(bound), place: part.finished.indexOf(place) + 1 })),
  ];
}

function reasons(tree, t) {
  const { found, rivals, limit } = tree.part;
  const [winner, second] = found;
  const own = short(winner.log_prob, 4);
  const quoted = (one) => cut(one.text, 160) || t("nothing");
  const said = [t("won", { ...numbers(winner), text: quoted(winner) })];
  if (!second) said.push(t("alone"));
  else {
    const key = second.log_prob > winner.log_prob ? (winner.n_tokens > second.n_tokens ? "longer" : "shorter")
      : "likelier";
    said.push(t(key, { ...numbers(second), own, n: winner.n_tokens, m: second.n_tokens }));
  }
  const { unpenalized, greedy } = rivals;
  said.push(unpenalized.wins ? t("unpenalizedSame")
    : t("unpenalizedOther", { ...numbers(unpenalized), text: quoted(unpenalized), own }));
  const lost = tree.path(tree.winner).find((place) => tree.rank[place] > 1);
  said.push(greedy.wins ? t("greedySame") : t("greedyOther", { ...numbers(greedy), text: quoted(greedy),
    step: tree.depth[lost] - 1, rank: tree.rank[lost] }));
  said.push(t(tree.last === limit + 1 ? "limit" : "ended", { step: tree.last - 1, n: found.length }));
  return said;
}

function table(tree, t, show) {
  const { found, rivals } = tree.part;
  const names = (one) => ["greedy", "unpenalized"].filter((name) => rivals[name].text === one.text);
  const others = ["greedy", "unpenalized"].filter((name) => found.every((one) => one.text !== rivals[name].text));
  const rows = [...found.map((one, i) => [String(i + 1), one]), ...others.map((name) => ["–", rivals[name]])];
  const heads = ["place", "found", "pieces", "log_prob", "penalty", "score"];
  return h("div", { class: "wide" }, h("table", { class: "beam-found" },
    h("thead", {}, h("tr", {}, heads.map((name) => h("th", { scope: "col" }, t(name))))),
    h("tbody", {}, rows.map(([name, one], i) => h("tr", { class: i === 0 ? "wins" : null },
      h("th", { scope: "row" }, name),
      h("td", { dir: "auto" }, h("button", { type: "button", class: "link", "aria-label": t("choose", { text: one.text }),
        on: { click: () => show(one.node) } }, one.text || t("nothing")),
      names(one).map((name) => h("span", { class: "beam-tag" }, t(name)))),
      h("td", {}, String(one.n_tokens)), h("td", {}, short(one.log_prob, 4)),
      h("td", {}, short(one.penalty)), h("td", {}, short(one.score, 4)))))));
}

function numbers(one) {
  return { log_prob: short(one.log_prob, 4), penalty: short(one.penalty), score: short(one.score, 4) };
}

/* At most so much of a text: a wide character takes the room of two. */
function cut(text, room = 8) {
  const wide = /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\uff60]|[^\u0000-\uffff]/;
  const characters = [...text.slice(0, 4 * room)];
  let used = 0;
  const ends = characters.map((character) => (used += wide.test(character) ? 2 : 1));
  if (used <= room) return text;
  return `${characters.filter((_, i) => ends[i] <= room - 2).join("")}…`;
}

/* The text that pieces spell: ▁ is a space, <0xE6> a byte; the end marker is left out. */
function spelled(pieces) {
  const bytes = pieces.filter((piece) => piece !== "</s>").flatMap((piece) => {
    const byte = /^<0x([0-9A-F]{2})>$/.exec(piece);
    return byte ? [parseInt(byte[1], 16)] : [...new TextEncoder().encode(piece.replaceAll("▁", " "))];
  });
  return new TextDecoder().decode(new Uint8Array(bytes)).trimStart();
}
