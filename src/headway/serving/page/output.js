/* The translation, word by word: how sure each is, what it looks at, and a way to others. */

import { clear, h, roving } from "./dom.js";

const SURE = 0.85; // a word with as much probability is not shaded

/* `open(part, word, element)` is called for a word that is chosen. */
export function outputView(page, { root, mirror, source, open }) {
  let parts = [];
  let drawn = []; // [{ part, word, element }]

  function draw(text, some, language) {
    parts = some;
    drawn = [];
    root.lang = language;
    clear(root);
    let at = 0;
    const nodes = [];
    for (const part of parts) {
      nodes.push(text.slice(at, part.start), ...part.words.map((word) => node(part, word)));
      at = part.start + part.text.length;
    }
    root.append(...nodes, text.slice(at));
    if (drawn.length) roving(root, ".word");
    point([]);
  }

  function node(part, word) {
    const text = part.text.slice(word.start, word.end);
    if (!word.isWord) return text;
    const doubt = word.share === null || word.share > SURE ? 0 : 1 - word.share;
    const element = h("span", {
      class: `word${doubt ? " doubt" : ""}${word.isKept ? " kept" : ""}`, role: "button", tabindex: "-1",
      "aria-haspopup": "listbox", style: { "--doubt": doubt.toFixed(3) },
      on: {
        click: () => open(part, word, element),
        keydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          open(part, word, element);
        },
        pointerenter: () => lookFrom(part, word, element), focus: () => lookFrom(part, word, element),
        pointerleave: () => point([]), blur: () => point([]),
      },
    }, text);
    drawn.push({ part, word, element });
    return element;
  }

  function lookFrom(part, word, element) {
    point([element], part.sourceStart < 0 ? []
      : word.sources.map(([start, end]) => [part.sourceStart + start, part.sourceStart + end]));
  }

  /* Mark words of the translation, and stretches of the source. */
  function point(elements, stretches = []) {
    for (const { element } of drawn) element.classList.toggle("looked", elements.includes(element));
    clear(mirror);
    let at = 0;
    for (const [start, end] of [...stretches].sort((one, other) => one[0] - other[0])) {
      if (start < at) continue;
      mirror.append(source.value.slice(at, start), h("mark", {}, source.value.slice(start, end)));
      at = end;
    }
    mirror.append(`${source.value.slice(at)}\n`);
  }

  /* The words that look at where the caret stands in the source. */
  function lookBack() {
    const caret = source.selectionStart;
    const at = (part, [start, end]) => part.sourceStart + start <= caret && caret <= part.sourceStart + end;
    const here = drawn.filter(({ part, word }) => part.sourceStart >= 0 && word.sources.some((span) => at(part, span)));
    const stretches = here.flatMap(({ part, word }) => word.sources.filter((span) => at(part, span))
      .map(([start, end]) => [part.sourceStart + start, part.sourceStart + end]));
    point(here.map(({ element }) => element), stretches);
  }

  source.addEventListener("keyup", (event) => { if (event.key.startsWith("Arrow")) lookBack(); });
  source.addEventListener("pointerup", lookBack);
  source.addEventListener("blur", () => point([]));

  return {
    draw,
    mirrored: () => point([]),
    focus: (number) => (drawn[Math.min(number, drawn.length - 1)]?.element ?? root).focus(),
    numberOf: (element) => drawn.findIndex((one) => one.element === element),
  };
}
