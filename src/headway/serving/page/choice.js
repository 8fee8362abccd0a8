/* Which language into which: two lists, what was detected, and a swap. */

import { clear, h } from "./dom.js";
import { named, percent, t } from "./words.js";

export const AUTO = "auto";

export function languageChoice(page) {
  const [source, target, swap, tag] = ["source-language", "target-language", "swap", "tag"].map(page.at);
  let pairs = [];
  let found = null; // { language, sureness } of the text at hand
  const hearers = [];

  const sources = () => [...new Set(pairs.map((pair) => pair.source))];
  const targets = (of) => [...new Set(pairs.filter((pair) => of === AUTO || pair.source === of).map((pair) => pair.target))];
  const has = (from, to) => pairs.some((pair) => pair.source === from && pair.target === to);
  const option = (code) => h("option", { value: code }, named(code));
  const spoken = () => (source.value === AUTO ? found?.language ?? "" : source.value);
  /* What terms are of: where a text tells nothing of a pair, the one that there is. */
  const from = () => {
    const some = pairs.filter((pair) => pair.target === target.value);
    return some.length === 1 && source.value === AUTO ? some[0].source : spoken();
  };
  /* What a swap translates into: of a text that is in the target language already, whatever there is. */
  const back = () => (spoken() === target.value ? targets(target.value)[0] ?? "" : spoken());

  function draw() {
    const [from, to] = [source.value || page.wishes.source, target.value || page.wishes.target];
    const detected = found && (from === AUTO || !from)
      ? t("detected", { language: named(found.language), sure: percent(found.sureness ?? 1) }) : t("detect");
    clear(source);
    source.append(h("option", { value: AUTO }, detected), ...sources().map(option));
    source.value = sources().includes(from) ? from : AUTO;
    clear(target);
    target.append(...targets(source.value).map(option));
    target.value = targets(source.value).includes(to) ? to : targets(source.value)[0] ?? "";
    swap.disabled = !has(target.value, back());
    drawTags();
  }

  /* Those of the run; an empty one is text without a tag. */
  function drawTags() {
    const fit = pairs.filter((pair) => pair.target === target.value && (!spoken() || pair.source === spoken()));
    const [chosenTag, tags] = [tag.value, fit.length === 1 ? fit[0].tags ?? [] : []];
    clear(tag);
    tag.append(...tags.map((name) => h("option", { value: name }, name || t("noTag"))));
    tag.value = tags.includes(chosenTag) ? chosenTag : tags[0] ?? "";
    tag.hidden = tags.length < 2;
  }

  function chosen() {
    page.prefer({ source: source.value, target: target.value });
    found = null;
    draw();
    for (const hear of hearers) hear();
  }

  source.addEventListener("change", chosen);
  target.addEventListener("change", chosen);
  tag.addEventListener("change", () => { for (const hear of hearers) hear(); });
  swap.addEventListener("click", () => {
    const [from, to] = [target.value, back()];
    if (!has(from, to)) return;
    source.value = from;
    clear(target);
    target.append(option(to));
    for (const hear of hearers) hear({ swapped: true });
    chosen();
  });
  page.onRedraw(draw);

  return {
    know(some) {
      pairs = some;
      draw();
      for (const hear of hearers) hear();
    },
    get source() { return source.value; },
    get target() { return target.value; },
    /* As a part of a request. */
    get tag() { return tag.value && !tag.hidden ? { tag: tag.value } : {}; },
    get spoken() { return spoken(); },
    get pair() { return `${from()}-${target.value}`; },
    /* From which languages there is a way into the target. */
    get sources() { return sources().filter((code) => has(code, target.value)); },
    /* Told what a text was found to be in. */
    heard(language, sureness) {
      if (source.value !== AUTO || (found?.language === language && found?.sureness === sureness)) return;
      found = language ? { language, sureness } : null;
      draw();
    },
    set(from, to) {
      source.value = sources().includes(from) ? from : AUTO;
      draw();
      if (targets(source.value).includes(to)) target.value = to;
      chosen();
    },
    onChange: (hear) => hearers.push(hear),
  };
}
