/* Other words for a place: what the model sees there, and how it would go on. */

import { clear, h } from "./dom.js";
import * as api from "./api.js";
import { t } from "./words.js";
import { wordsOf } from "./spans.js";

const MOST = 6;
const MOST_TRIED = 10;
const WORST = 3.5; // in nats over the length penalty, below the best: what is less likely is not offered
const SPACED = /^[\s\p{P}]|^$/u;
const NO_SPACES = /^(zh|ja|th|lo|km|my)\b/;

/* `choose(part, kept)` takes up a beginning; it ends with the word that was chosen. */
export function othersList(page, choice, { root, pane, choose }) {
  let opened = null; // { part, word, element, controller }

  function close(back = false) {
    if (!opened) return;
    const { element, controller } = opened;
    opened = null;
    controller.abort();
    element.removeAttribute("aria-expanded");
    root.hidden = true;
    if (back) element.focus();
  }

  async function open(part, word, element) {
    const again = opened?.element === element;
    close();
    if (again) return;
    const controller = new AbortController();
    opened = { part, word, element, controller };
    element.setAttribute("aria-expanded", "true");
    clear(root);
    root.append(h("p", { class: "soft", role: "status" }, t("asking")));
    root.hidden = false;
    place(element);
    try {
      const found = await others(choice, part, word, controller.signal);
      if (opened?.controller === controller) fill(found);
    } catch (error) {
      if (opened?.controller !== controller) return;
      clear(root);
      root.append(h("p", { class: "soft", role: "status" }, error instanceof api.Refused ? error.message : t("gone")));
    }
  }

  function fill(found) {
    const { part, word } = opened;
    const own = part.text.slice(word.start, word.end);
    const options = found.map(({ before, next, rest }) => h("li", {
      role: "option", tabindex: "-1", "aria-selected": String(next === own), dir: "auto",
      on: { click: () => { close(); choose(part, before + next); } },
    }, h("b", {}, next), h("span", { class: "soft" }, rest)));
    clear(root);
    if (found.every(({ next }) => next === own)) {
      root.append(h("p", { class: "soft", role: "status" }, t("noOthers")));
      place(opened.element);
      return;
    }
    root.append(h("ul", { role: "listbox", "aria-label": t("others"), lang: choice.target }, options));
    place(opened.element);
    (options.find((one, i) => found[i].next !== own) ?? options[0]).focus();
  }

  function place(element) {
    const [box, frame] = [element.getBoundingClientRect(), pane.getBoundingClientRect()];
    const left = Math.min(box.left - frame.left, Math.max(0, frame.width - root.offsetWidth - 8));
    root.style.setProperty("left", `${Math.max(8, left)}px`);
    root.style.setProperty("top", `${box.bottom - frame.top + 6}px`);
  }

  root.addEventListener("keydown", (event) => {
    const options = [...root.querySelectorAll("[role=option]")];
    const here = options.indexOf(document.activeElement);
    const to = { ArrowDown: here + 1, ArrowUp: here - 1 + options.length, Home: 0, End: options.length - 1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      close(true);
    } else if ((event.key === "Enter" || event.key === " ") && here >= 0) {
      event.preventDefault();
      options[here].click();
    } else if (to !== undefined && options.length) {
      event.preventDefault();
      options[to % options.length].focus();
    }
  });
  document.addEventListener("pointerdown", (event) => {
    if (opened && !root.contains(event.target) && !opened.element.contains(event.target)) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && opened) close(true);
  });
  return { open, close };
}

/* What may stand in the place of a word, the likeliest first: [{ before, next, rest }].

   Words are found by searching and by drawing; then the model goes on from each of them. */
async function others(choice, part, word, signal) {
  const before = part.text.slice(0, word.start);
  const own = part.text.slice(word.start, word.end);
  const asked = { source: choice.spoken || choice.source, target: choice.target, ...choice.tag, memory: false };
  const begun = { ...asked, text: part.from, ...(before.trim() ? { prefix: before.trimEnd() } : {}) };
  const [searched, drawn] = await Promise.all([
    api.translate({ ...begun, n_best: 8, beam: 8, method: "beam" }, signal),
    api.translate({ ...begun, n_best: 20, method: "sampling", temperature: 1.8, top_k: 40, seed: 1 }, signal),
  ]);
  const all = [...searched, ...drawn].flatMap((one) => [one, ...one.alternatives]);
  all.sort((one, other) => (other.score ?? -Infinity) - (one.score ?? -Infinity));
  const words = new Set(all.map(({ text }) => nextWord(text, before, choice.target)?.next).filter((next) => next && next !== own));
  const tried = [own, ...[...words].slice(0, MOST_TRIED)];
  const gone = await api.translate({
    ...asked, texts: tried.map(() => part.from), prefixes: tried.map((next) => before + next), n_best: 2,
  }, signal);
  const found = tried.flatMap((next, i) => {
    const text = gone[i].text;
    return text.startsWith(before + next) ? [{ before, next, rest: text.slice(before.length + next.length), score: gone[i].score ?? 0 }] : [];
  });
  const best = Math.max(...found.map((one) => one.score));
  const likely = found.filter(({ next, score }) => next === own || score > best - WORST);
  likely.sort((one, other) => (other.next === own) - (one.next === own) || other.score - one.score);
  return likely.slice(0, MOST);
}

function nextWord(text, before, language) {
  const beginning = before.trimEnd();
  if (!text.startsWith(beginning)) return null;
  const behind = text.slice(beginning.length);
  if (beginning && !NO_SPACES.test(language) && !SPACED.test(behind)) return null; // the last word, longer
  const rest = behind.trimStart();
  const word = wordsOf(rest, language).find((one) => one.isWord);
  return word ? { next: rest.slice(0, word.end), rest: rest.slice(word.end) } : null;
}
