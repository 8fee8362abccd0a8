/* Glossary and history: kept in this browser alone. */

import { clear, h } from "./dom.js";
import * as store from "./store.js";
import { named, number, t } from "./words.js";

export function panels(page, choice, text) {
  const { at } = page;
  const [glossary, form] = [at("glossary"), at("glossary-form")];

  function labels() {
    at("open-glossary").textContent = t("glossaryCount", { n: number(store.terms(choice.pair).length) });
    at("open-history").textContent = t("historyCount", { n: number(store.history().length) });
  }

  /* -- glossary */

  function row({ source, target }) {
    const field = (name, value, label) => h("input", {
      name, value, type: "text", maxlength: "200", "aria-label": label, placeholder: label, autocomplete: "off",
    });
    const line = h("div", { class: "term" }, field("source", source, t("term")), h("span", { "aria-hidden": "true" }, "→"),
      field("target", target, t("translation")),
      h("button", { type: "button", class: "plain", "aria-label": t("removeTerm", { term: source }), on: { click: () => {
        line.remove();
        at("add-term").focus();
      } } }, "×"));
    return line;
  }

  function openGlossary() {
    clear(form);
    const some = store.terms(choice.pair);
    form.append(...(some.length ? some : [{ source: "", target: "" }]).map(row));
    glossary.showModal();
    form.querySelector("input").focus();
  }

  function keepGlossary() {
    const lines = [...form.querySelectorAll(".term")];
    const value = (line, name) => line.querySelector(`[name=${name}]`).value.trim();
    const some = lines.map((line) => ({ source: value(line, "source"), target: value(line, "target") }))
      .filter((one) => one.source);
    const before = JSON.stringify(store.terms(choice.pair));
    store.keepTerms(choice.pair, some);
    labels();
    if (JSON.stringify(some) !== before) text.again();
  }

  at("open-glossary").addEventListener("click", openGlossary);
  glossary.addEventListener("close", keepGlossary);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    add();
  });
  const add = () => {
    const line = row({ source: "", target: "" });
    form.append(line);
    line.querySelector("input").focus();
  };
  at("add-term").addEventListener("click", add);

  /* -- history */

  function openHistory() {
    const some = store.history();
    clear(at("history-list"));
    at("history-list").append(...some.map((one) => h("li", {}, h("button", { type: "button", on: { click: () => {
      at("history").close();
      choice.set(one.source, one.target);
      text.set(one.text);
    } } }, h("span", { class: "soft small" }, `${named(one.source)} → ${named(one.target)}`),
    h("span", { dir: "auto", class: "line" }, one.text), h("span", { dir: "auto", class: "line soft" }, one.output)))));
    if (!some.length) at("history-list").append(h("li", { class: "soft" }, t("noHistory")));
    at("clear-history").hidden = !some.length;
    if (!at("history").open) at("history").showModal();
  }

  at("open-history").addEventListener("click", openHistory);
  at("clear-history").addEventListener("click", () => {
    store.forgetHistory();
    openHistory();
    labels();
  });
  page.historyChanged = labels;
  page.onRedraw(labels);
  choice.onChange(labels);
}
