/* The page: a bar at the top, one section a view, drawn when it comes near the screen.

   What a view is: a module with
     words     { en: {..}, zh: {..} }: every text that it shows, `title` and `lead` (a sentence
               below the title) among them; `{name}` in a text is filled in
     part      the name of the part of a sentence's document that it draws; undefined: it draws
               what `context.run` or `context.page` has
     shown(page, sentence)    whether there is anything to draw; may be left out
     draw(root, context)   fills the empty element `root`; called anew for another sentence,
               language or selection of runs. It listens by elements of its own only, so that
               nothing is left behind when they go.
   What it is given, `context`:
     page      the whole document: `runs`, `sentences`, and parts of the run such as `training`
     run       { name, task, type, model, .. } of the run that is looked at
     sentence  the document of the sentence that is looked at, with all its parts
     part      sentence[view.part]
     t(key, values)        a text in the reader's language, which is `language`
     chosen    { token, layer, head, .. }: what the views share; choose({token: 3}) changes it, and
     onChoose(element, f)  calls f(chosen) whenever it does, as long as element is on the page
     live      null, or { ask(change) }: asks the server for another document of the sentence, such
               as ask({text, target, off: [..]}), and shows it
   A part that a model has not got is { missing: { en, zh } }: draw is not called, and there is no
   section; what there is not stands together at the end of the page, with its reason.

   Rules: every text of a user goes through h(), which makes text nodes; styles stand in style.css,
   and what must be computed is set by the object model (h's `style`); handlers are added by h's
   `on`; all that a mouse can do a keyboard can. Numbers are written by numbers.js. */

import { h, clear, oneOf, onceNear } from "./dom.js";
import { whole } from "./numbers.js";
import { speak, LANGUAGES } from "./words.js";
import { connect } from "./live.js";
import { VIEWS } from "./views.js";

const page = JSON.parse(document.getElementById("document").textContent);
const state = { sentence: 0, chosen: {}, listeners: [], sentences: page.sentences };
const preferences = remembered();

function remembered() {
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem("headway-page")) ?? {};
  } catch { /* a page from a disk may have no storage: nothing is remembered then */ }
  const known = Object.keys(LANGUAGES);
  const own = navigator.language.startsWith("zh") ? "zh" : "en";
  return {
    language: known.includes(kept.language) ? kept.language : own,
    theme: ["auto", "light", "dark"].includes(kept.theme) ? kept.theme : "auto",
  };
}

function prefer(change) {
  Object.assign(preferences, change);
  try {
    localStorage.setItem("headway-page", JSON.stringify(preferences));
  } catch { /* as above */ }
  show();
}

function show() {
  const { language, theme } = preferences;
  document.documentElement.lang = LANGUAGES[language].tag;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const t = speak(language);
  const sections = [...document.querySelectorAll("main > section")];
  const heights = Object.fromEntries(sections.map((one) => [one.id, one.offsetHeight]));
  const read = sections.find((one) => one.getBoundingClientRect().bottom > window.innerHeight / 2);
  const [scrolled, top] = [window.scrollY, read?.getBoundingClientRect().top];
  state.focused = document.activeElement?.id ?? "";
  state.listeners = [];
  const drawn = views().map((view) => section(view, heights[view.id] ?? 0));
  const content = h("main", { id: "content" }, drawn, notThere(t));
  const parts = [bar(t), navigation(language), content, footer(t)];
  clear(document.body, (element) => element.tagName !== "SCRIPT");
  document.body.prepend(
    h("a", { class: "skip", href: "#content" }, t("skip")), ...parts, said,
  );
  window.scrollTo(0, scrolled);
  if (scrolled && read) window.scrollBy(0, document.getElementById(read.id).getBoundingClientRect().top - top);
}

const said = h("p", { class: "said", role: "status", "aria-live": "polite" });

/* Those that have something to draw; with `without` those that a model has not got. */
function views(without = false) {
  const sentence = state.sentences[state.sentence];
  return VIEWS.filter((view) => (view.shown?.(page, sentence) ?? true) && (!view.part || sentence?.[view.part]))
    .filter(({ part }) => without === Boolean(sentence?.[part]?.missing));
}

/* What a model has not got, in one place. */
function notThere(t) {
  const none = views(true);
  const sentence = state.sentences[state.sentence];
  return none.length > 0 && h("div", { id: "not-there" }, h("h2", {}, t("notThere")), h("dl", {}, none.map(({ part, words }) =>
    h("div", {}, h("dt", {}, words[preferences.language].title), h("dd", {}, sentence[part].missing[preferences.language])))));
}

function bar(t) {
  const live = page.live && state.sentences.length ? typing(t) : null;
  return h("header", { class: "bar" },
    h("h1", {}, h("span", { class: "brand" }, "headway"), " ", h("span", { class: "run" }, page.run.name)),
    h("div", { class: "tools" },
      oneOf(t("language"), Object.entries(LANGUAGES).map(([tag, { name }]) => [tag, name]), preferences.language,
        (language) => prefer({ language })),
      oneOf(t("theme"), ["auto", "light", "dark"].map((name) => [name, t(name)]), preferences.theme,
        (theme) => prefer({ theme }))),
    sentences(t), live);
}

function sentences(t) {
  if (state.sentences.length < 2) return null;
  const select = h("select", {
    id: "sentence-choice", on: { change: (event) => look(Number(event.target.value)) },
  }, state.sentences.map((one, i) => h("option", { value: String(i) }, one.text)));
  select.value = String(state.sentence);
  return h("label", { class: "sentences", for: "sentence-choice" }, t("sentence"), " ", select);
}

function look(number) {
  state.sentence = number;
  state.chosen = {};
  show();
}

/* Typing, on the live page. */
function typing(t) {
  const now = state.sentences[state.sentence];
  const text = h("textarea", { id: "text", rows: "2", required: true, maxlength: "100000" });
  text.value = now.text;
  const target = h("input", { id: "target", type: "text", maxlength: "100000" });
  target.value = now.forced ? now.translation : "";
  const send = (event) => {
    event.preventDefault();
    live.ask({ text: text.value, target: target.value || null });
  };
  return h("form", { class: "typing", on: { submit: send } },
    h("label", { for: "text" }, t("text")), text,
    page.run.task === "translation" && [h("label", { for: "target" }, t("target")), target],
    h("button", { type: "submit" }, t("go")));
}

const live = page.live ? connect({
  sentence: () => state.sentences[state.sentence],
  arrived: (sentence) => {
    state.sentences = [sentence, ...page.sentences];
    look(0);
  },
  say: (text) => { said.textContent = text; },
  t: (key, values) => speak(preferences.language)(key, values),
}) : null;

function navigation(language) {
  const links = views().map((view) =>
    h("li", {}, h("a", { href: `#${view.id}` }, speak(language, view.words)("title"))));
  return h("nav", { "aria-label": speak(language)("views") }, h("ul", {}, links));
}

/* A section is as high as it was until it is drawn anew: a reader stays at the place, and at the
   field, that they were at. */
function section(view, height) {
  const t = speak(preferences.language, view.words);
  const root = h("div", { class: "view" });
  const element = h("section", { id: view.id, "aria-labelledby": `${view.id}-title` },
    h("h2", { id: `${view.id}-title` }, t("title")),
    h("p", { class: "lead" }, t("lead")), root);
  const sentence = state.sentences[state.sentence];
  const part = view.part ? sentence?.[view.part] : undefined;
  if (part?.missing) {
    root.append(h("p", { class: "missing" }, part.missing[preferences.language]));
    return element;
  }
  element.style.setProperty("min-height", `${height}px`);
  onceNear(element, () => {
    try {
      view.draw(root, context(view, t, sentence, part));
      element.style.removeProperty("min-height");
      if (state.focused) root.querySelector(`#${CSS.escape(state.focused)}`)?.focus({ preventScroll: true });
    } catch (error) {
      root.append(h("p", { class: "missing" }, t("broken")));
      throw error;
    }
  });
  return element;
}

function context(view, t, sentence, part) {
  return {
    page, run: page.run, sentence, part, t, live, language: preferences.language,
    chosen: state.chosen,
    choose: (change) => {
      Object.assign(state.chosen, change);
      state.listeners = state.listeners.filter(({ element }) => element.isConnected);
      for (const { hear } of state.listeners) hear(state.chosen);
    },
    onChoose: (element, hear) => state.listeners.push({ element, hear }),
  };
}

function footer(t) {
  const { n_parameters, version, type } = page.run;
  const parameters = n_parameters && whole(n_parameters);
  return h("footer", {}, h("p", {}, t(parameters ? "made" : "madeEarly", { version, type, parameters })),
    h("p", {}, t("counted")));
}

show();
