/* The two panes: what is typed, and its translation as it is typed. */

import { clear, h } from "./dom.js";
import * as api from "./api.js";
import * as store from "./store.js";
import { AUTO } from "./choice.js";
import { outputView } from "./output.js";
import { othersList } from "./others.js";
import { part, partsOf } from "./spans.js";
import { flagged, named, number, origin, percent, reason, t } from "./words.js";

const TYPING_MS = 250;
const HEARD_MS = 1200;
const REMEMBERED_MS = 2500;
const LETTER = /\p{L}/u;
const MOST_FOR_OTHERS = 600; // characters of a text of which other translations are shown, too

export function textTab(page, choice) {
  const { at } = page;
  const [source, result, heard, count] = ["source", "result", "heard", "count"].map(at);
  let answer = null; // what the service said last, of
  let answered = ""; // this text
  let parts = [];
  let failure = null; // what the service said of this text instead of an answer
  let controller = new AbortController();
  let [typing, hearing, remembering] = [0, 0, 0];

  const others = othersList(page, choice, { root: at("others"), pane: result, choose: begin });
  const output = outputView(page, { root: at("output"), mirror: at("mirror"), source, open: others.open });

  function typed() {
    clearTimeout(typing);
    others.close();
    output.mirrored();
    counted();
    at("clear").hidden = !source.value;
    controller.abort();
    if (source.value.trim()) typing = setTimeout(translate, TYPING_MS);
    else show(null);
  }

  function counted() {
    const n = [...source.value].length;
    const isLong = page.mostCharacters > 0 && n > page.mostCharacters;
    count.textContent = n ? t(isLong ? "tooMany" : "characters", { n: number(n), most: number(page.mostCharacters) }) : "";
    count.classList.toggle("wrong", isLong);
  }

  async function translate() {
    const text = source.value;
    if (!text.trim() || !choice.target) return;
    controller.abort();
    controller = new AbortController();
    const mine = controller;
    const pair = choice.pair;
    busy(true);
    try {
      const [found] = await api.translate(request(text, pair), mine.signal);
      if (mine !== controller) return;
      answered = text;
      found.foreign = choice.source === AUTO && found.sureness === 0 && LETTER.test(text);
      if (choice.source === AUTO) choice.heard(found.foreign ? "" : found.source, found.sureness);
      if (choice.pair !== pair && glossary(choice.pair)) await translate();
      else show(found);
    } catch (error) {
      if (mine !== controller || error.name === "AbortError") return;
      show(null, error); // the answer of another text is none of this one
      page.fail(error);
    } finally {
      if (mine === controller) busy(false);
    }
  }

  function request(text, pair) {
    const terms = glossary(pair);
    return {
      text, source: choice.source, target: choice.target, ...choice.tag, details: true,
      n_best: text.length <= MOST_FOR_OTHERS ? 3 : 1, ...(terms ? { glossary: terms } : {}),
    };
  }

  function glossary(pair) {
    const terms = store.terms(pair).filter((one) => one.source.trim());
    return terms.length ? terms : null;
  }

  function busy(is) {
    result.setAttribute("aria-busy", String(is));
  }

  function show(found, error = null) {
    [answer, failure] = [found, error];
    parts = found ? partsOf(found, answered, choice.target) : [];
    if (!found) busy(false);
    page.say("");
    draw();
  }

  function draw() {
    const text = answer?.text ?? "";
    output.draw(text, parts, choice.target);
    at("empty").hidden = Boolean(text);
    at("empty").textContent = failure ? page.why(failure) : t("empty");
    at("empty").classList.toggle("wrong", Boolean(failure));
    at("copy").hidden = !text;
    at("copy").textContent = t("copy");
    facts();
    flags();
    also();
    clearTimeout(hearing);
    clearTimeout(remembering);
    if (!text) return;
    hearing = setTimeout(() => { heard.lang = choice.target; heard.textContent = text; }, HEARD_MS);
    remembering = setTimeout(() => {
      store.remember({ source: choice.spoken, target: choice.target, text: answered, output: text });
      page.historyChanged?.();
    }, REMEMBERED_MS);
  }

  function facts() {
    const root = at("facts");
    clear(root);
    if (!answer?.text) return;
    const { confidence } = answer;
    const kept = parts.filter((one) => one.kept > 0);
    if (typeof confidence === "number" && !kept.length) root.append(h("span", { class: "sure", title: t("sureTitle") },
      h("span", { class: "gauge", style: { "--share": confidence.toFixed(3) }, "aria-hidden": "true" }),
      t("sure", { percent: percent(confidence) })));
    const [name, code] = answer.origin.split(":");
    if (name !== "model") root.append(h("span", { class: "badge", "data-origin": name },
      origin(name, { language: code ? named(code) : "" })));
    if (kept.length) root.append(h("button", { type: "button", class: "plain", on: { click: translate } }, t("release")));
  }

  function flags() {
    clear(at("flags"));
    if (answer?.foreign) at("flags").append(h("li", {}, t("foreign", { languages: choice.sources.map(named).join(t("comma")) })));
    at("flags").append(...(answer?.flags ?? []).map(({ name, why }) =>
      h("li", {}, h("b", {}, flagged(name)), " ", reason(why))));
  }

  function also() {
    const root = at("also");
    clear(root);
    const some = (answer?.alternatives ?? []).filter((one) => one.text !== answer.text);
    if (!some.length || parts.length !== 1 || parts[0].kept) return;
    root.append(h("p", { class: "soft small" }, t("also")), ...some.map((one) => h("button", {
      type: "button", class: "other", lang: choice.target, dir: "auto", on: { click: () => begin(parts[0], one.text) },
    }, one.text)));
  }

  /* Have a part begin with a text; the model goes on from there. */
  async function begin(old, beginning) {
    controller.abort();
    controller = new AbortController();
    const mine = controller;
    busy(true);
    try {
      const [found] = await api.translate({
        text: old.from, prefix: beginning, source: choice.spoken || choice.source, target: choice.target, ...choice.tag, details: true, memory: false,
      }, mine.signal);
      if (mine !== controller) return;
      const place = parts.indexOf(old);
      const grown = found.text.length - old.text.length;
      const text = answer.text.slice(0, old.start) + found.text + answer.text.slice(old.start + old.text.length);
      answer = { ...answer, text, flags: found.flags };
      parts = parts.map((one, i) => (i > place ? { ...one, start: one.start + grown } : one));
      const kept = found.text.startsWith(beginning) ? beginning.length : 0;
      parts[place] = part(found, old.from, old.start, old.sourceStart, choice.target, kept);
      draw();
      const before = parts.slice(0, place).flatMap((one) => one.words).filter((word) => word.isWord).length;
      output.focus(before + parts[place].words.filter((word) => word.isWord && word.isKept).length - 1);
    } catch (error) {
      if (mine === controller) page.fail(error);
    } finally {
      if (mine === controller) busy(false);
    }
  }

  async function copy() {
    const text = answer?.text ?? "";
    try {
      await navigator.clipboard.writeText(text);
    } catch { /* not allowed here: have it selected, to be copied by hand */
      window.getSelection().selectAllChildren(at("output"));
      return;
    }
    at("copy").textContent = t("copied");
    page.say(t("copied"));
  }

  source.addEventListener("input", typed);
  source.addEventListener("scroll", () => { at("mirror").scrollTop = source.scrollTop; });
  at("clear").addEventListener("click", () => { source.value = ""; typed(); source.focus(); });
  at("copy").addEventListener("click", copy);
  at("shade").checked = page.wishes.shade;
  at("shade").addEventListener("change", () => { page.prefer({ shade: at("shade").checked }); shade(); });
  const shade = () => at("panel-text").classList.toggle("unshaded", !at("shade").checked);
  shade();
  choice.onChange(({ swapped } = {}) => {
    if (swapped && answer?.text) source.value = answer.text;
    if (swapped) show(null);
    typed();
  });
  page.onRedraw(() => { draw(); counted(); });

  return {
    get value() { return source.value; },
    set(text) {
      source.value = text;
      typed();
    },
    again: () => { if (source.value.trim()) translate(); },
  };
}
