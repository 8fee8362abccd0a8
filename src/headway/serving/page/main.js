/* The page: tabs, languages, colours; each tab is a module of its own.

   Rules: every text of a user, a model or the service goes through h() or textContent, which make
   text nodes; styles stand in style.css, and what must be computed is set by the object model; all
   that a mouse can do a keyboard can; what is remembered is remembered in this browser. */

import { clear, h, svg } from "./dom.js";
import * as api from "./api.js";
import * as store from "./store.js";
import { fileTab } from "./files.js";
import { languageChoice } from "./choice.js";
import { panels } from "./panels.js";
import { textTab } from "./text.js";
import { thinkTab } from "./think.js";
import { LANGUAGES, reason, speak, t } from "./words.js";

const at = (id) => document.getElementById(id);
const TABS = ["text", "file", "think"];
const THEMES = {
  auto: { path: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16" },
  light: { path: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2m0 16v2M2 12h2m16 0h2M5 5l1.4 1.4m11.2 11.2L19 19M19 5l-1.4 1.4M6.4 17.6 5 19" },
  dark: { path: "M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5z" },
};
const SAID_MS = 4000;
const redrawn = [];
let hushing = 0;
let wishes = store.preferences();

/* What the tabs share. */
const page = {
  at,
  keepsCorrections: false,
  mostCharacters: 0, // of a request; 0: without limit
  get wishes() { return wishes; },
  prefer(change) {
    store.prefer(change);
    wishes = store.preferences();
  },
  onRedraw: (f) => redrawn.push(f),
  say(text, lasts = false) {
    clearTimeout(hushing);
    at("said").textContent = text;
    if (text && !lasts) hushing = setTimeout(() => page.say(""), SAID_MS);
  },
  why: (error) => (error instanceof api.Refused ? t("failed", { why: reason(error.message) }) : t("gone")),
  fail(error) {
    if (error.name === "AbortError") return;
    page.say(page.why(error), true);
    if (!(error instanceof api.Refused) && !(error instanceof TypeError)) throw error;
  },
  show: (name) => select(name),
};

/* `elsewhere`: it was another page that changed how they look. */
function look({ elsewhere = false } = {}) {
  if (wishes.theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wishes.theme;
  speak(wishes.language);
  choose("choose-language", LANGUAGES, wishes.language, "language", (name) => LANGUAGES[name].short);
  choose("choose-theme", THEMES, wishes.theme, "theme",
    (name) => svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: THEMES[name].path })));
  for (const f of redrawn) f({ elsewhere });
}

function choose(id, options, current, wish, shown) {
  const root = at(id);
  const here = [...root.children].indexOf(document.activeElement);
  clear(root);
  root.append(...Object.keys(options).map((name) => h("button", {
    type: "button", "aria-pressed": String(name === current), class: `is-${name}`,
    title: options[name].name ?? t(name), "aria-label": options[name].name ?? t(name), lang: options[name].tag, on: { click: () => { page.prefer({ [wish]: name }); look(); } },
  }, shown(name))));
  root.children[here]?.focus();
}

function select(name, focus = false) {
  for (const one of TABS) {
    const chosen = one === name;
    at(`tab-${one}`).setAttribute("aria-selected", String(chosen));
    at(`tab-${one}`).tabIndex = chosen ? 0 : -1;
    at(`panel-${one}`).hidden = !chosen;
    if (chosen && focus) at(`tab-${one}`).focus();
  }
  document.body.dataset.tab = name;
  if (name === "think") think.shown();
}

function keysOfTabs(event) {
  const here = TABS.findIndex((name) => at(`tab-${name}`) === event.target);
  const to = { ArrowRight: here + 1, ArrowLeft: here - 1 + TABS.length, Home: 0, End: TABS.length - 1 }[event.key];
  if (here < 0 || to === undefined) return;
  event.preventDefault();
  select(TABS[to % TABS.length], true);
}

/* Ask for a key; null where none is given. Several that wait share one question. */
let asked = null;
function askForKey() {
  asked ??= new Promise((resolve) => {
    const dialog = at("key");
    at("key-field").value = "";
    const end = (value) => {
      asked = null;
      resolve(value);
    };
    at("key-form").onsubmit = () => {
      store.keepKey(at("key-field").value.trim());
      dialog.onclose = null;
      end(true);
    };
    dialog.onclose = () => end(null);
    dialog.showModal();
  });
  return asked;
}

for (const button of document.querySelectorAll("[data-close]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}
for (const name of TABS) at(`tab-${name}`).addEventListener("click", () => select(name));
document.querySelector(".tabs").addEventListener("keydown", keysOfTabs);
api.onKeyWanted(askForKey);
store.onLooks(() => { wishes = store.preferences(); look({ elsewhere: true }); });

const choice = languageChoice(page);
const text = textTab(page, choice);
panels(page, choice, text);
fileTab(page, choice);
const think = thinkTab(page, choice, text);
look();
select("text");
api.languages().then(({ pairs, corrections, characters }) => {
  page.keepsCorrections = corrections;
  page.mostCharacters = characters;
  choice.know(pairs);
  if (!pairs.length) page.say(t("noPairs"), true);
}, page.fail);
window.addEventListener("unhandledrejection", (event) => {
  if (event.reason?.name === "AbortError") event.preventDefault();
});
