/* The units of a file: seen, filtered, edited in their place, accepted. */

import { clear, h } from "./dom.js";
import { flagged, number, origin, percent, reason, t } from "./words.js";

const AT_ONCE = 100; // rows that are drawn; more on demand
const MOST_EDITS = 1000; // of a request

const needsLook = (unit) => unit.state === "open" && (unit.flags.length > 0 || !unit.output);
const FILTERS = {
  all: () => true,
  check: needsLook,
  edited: (unit) => unit.state === "edited",
  accepted: (unit) => unit.state !== "open",
};

/* `told` is what the service says of the file, its units among it. */
export function reviewTable(page, told, service) {
  const { units, source, target } = told;
  const written = new Map(); // what stands in fields and is not accepted yet, by unit
  let filter = "all";
  let most = AT_ONCE;
  let rows = new Map();
  let body = null;
  let top = null;

  function draw(root) {
    top = h("div", { class: "reviewbar" });
    body = h("tbody", {});
    root.append(top, h("p", { class: "soft small" }, h("span", { class: "with-keys" }, `${t("reviewHint")} `), page.keepsCorrections && t("approved")),
      h("table", { class: "units" },
        h("thead", {}, h("tr", {}, ["number", "sourceColumn", "outputColumn", "about"].map((name) =>
          h("th", { scope: "col" }, t(name))))), body),
      h("div", { class: "more" }));
    fill();
  }

  function fill() {
    bar();
    const some = units.filter(FILTERS[filter]);
    rows = new Map();
    clear(body);
    body.append(...some.slice(0, most).map(row));
    if (!some.length) body.append(h("tr", {}, h("td", { colspan: "4", class: "soft" }, t("nothingHere"))));
    const more = body.parentElement.nextElementSibling;
    clear(more);
    const left = some.length - most;
    if (left > 0) more.append(h("button", { type: "button", on: { click: () => { most += AT_ONCE; fill(); } } },
      t("more", { n: number(Math.min(left, AT_ONCE)) })));
  }

  function bar() {
    const here = [...top.querySelectorAll("button")].indexOf(document.activeElement);
    const n = units.filter(FILTERS.accepted).length;
    clear(top);
    top.append(h("div", { class: "choose", role: "group", "aria-label": t("show") }, Object.keys(FILTERS).map((name) =>
      h("button", { type: "button", "aria-pressed": String(name === filter), on: { click: () => {
        filter = name;
        most = AT_ONCE;
        fill();
      } } }, t("filterCount", { name: t(name), n: number(units.filter(FILTERS[name]).length) })))),
    h("label", { class: "soft" }, h("progress", { max: String(units.length), value: String(n) }), " ",
      t("progress", { done: number(n), n: number(units.length) })));
    top.querySelectorAll("button")[here]?.focus();
  }

  function row(unit) {
    const name = number(unit.id + 1);
    const field = h("textarea", {
      dir: "auto", lang: target, rows: String(Math.min(8, 1 + Math.floor(unit.target.length / 40))),
      "aria-label": t("editUnit", { n: name }), spellcheck: "true", maxlength: "20000",
      on: {
        input: () => {
          written.set(unit.id, field.value);
          button.hidden = false;
        },
        keydown: (event) => keys(event, unit, field),
      },
    });
    field.value = written.get(unit.id) ?? unit.target;
    const button = h("button", { type: "button", class: "accept", title: t("acceptTitle"),
      hidden: unit.state !== "open" && !written.has(unit.id), on: { click: () => accept(unit) } }, t("accept"));
    const line = h("tr", { class: `${unit.state}${needsLook(unit) ? " check" : ""}`, "data-unit": String(unit.id) },
      h("th", { scope: "row" }, name),
      h("td", { class: "from", dir: "auto", lang: source }, unit.source, unit.key && h("span", { class: "soft small" }, unit.key)),
      h("td", { class: "into" }, field, suggestions(unit, (text) => {
        field.value = text;
        field.dispatchEvent(new Event("input"));
        field.focus();
      })),
      h("td", { class: "about" }, about(unit), h("div", { class: "does" },
        button,
        unit.state !== "open" && h("button", { type: "button", class: "plain", on: { click: () => takeBack(unit) } }, t("undo")))));
    rows.set(unit.id, line);
    return line;
  }

  /* What a memory has for texts that are alike. */
  function suggestions(unit, take) {
    return unit.near.length > 0 && h("ul", { class: "near", "aria-label": t("near") }, unit.near.map((match) => h("li", {},
      h("button", { type: "button", class: "plain", title: match.source, on: { click: () => take(match.target) } },
        h("span", { class: "badge" }, percent(match.percent / 100)), " ", h("span", { lang: target, dir: "auto" }, match.target)))));
  }

  function about(unit) {
    const from = unit.origin && h("span", { class: "badge", "data-origin": unit.origin },
      origin(unit.origin, { percent: unit.percent ?? "" }));
    const sure = typeof unit.confidence === "number" && !["edited", "left"].includes(unit.state) && h("span", { class: "sure", title: t("sureTitle") },
      h("span", { class: "gauge", style: { "--share": unit.confidence.toFixed(3) }, "aria-hidden": "true" }),
      t("sure", { percent: percent(unit.confidence) }));
    return [h("p", { class: "facts" },
      unit.state !== "open" && h("span", { class: `badge ${unit.state}` }, t(`state_${unit.state}`)), from, sure),
    unit.flags.length > 0 && h("ul", { class: "flags" }, unit.flags.map(({ name, why }) =>
      h("li", {}, h("b", {}, flagged(name)), " ", reason(why))))];
  }

  function keys(event, unit, field) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      accept(unit, true);
    } else if (event.key === "Escape") {
      field.value = unit.target;
      written.delete(unit.id);
    }
  }

  function editOf(unit) {
    const text = written.get(unit.id);
    if (!(text ?? unit.target).trim()) return { id: unit.id, target: "" };
    if (text === undefined) return unit.state === "edited" ? { id: unit.id, target: unit.target } : { id: unit.id };
    return text === unit.output ? { id: unit.id } : { id: unit.id, target: text };
  }

  async function accept(unit, goOn = false) {
    if (await send([editOf(unit)], () => t("saved", { n: number(unit.id + 1) })) && goOn) next(unit);
  }

  const takeBack = (unit) => send([{ id: unit.id, accepted: false }], () => t("takenBack", { n: number(unit.id + 1) }));

  /* Accept what was written into fields, so that the file that is fetched has it. */
  async function acceptWritten() {
    const some = [...written].filter(([id, text]) => text !== units[id].target).map(([id]) => editOf(units[id]));
    for (let n = 0; n < some.length; n += MOST_EDITS) {
      if (!await send(some.slice(n, n + MOST_EDITS), () => t("savedAll", { n: number(some.length) }))) return false;
    }
    return true;
  }

  async function send(edits, said) {
    try {
      (await service.edit(edits)).forEach(put);
      bar();
      page.say(said());
      return true;
    } catch (error) {
      page.fail(error);
      return false;
    }
  }

  /* A unit as the service has it now. */
  function put(changed) {
    units[changed.id] = changed;
    written.delete(changed.id);
    const [old, line] = [rows.get(changed.id), row(changed)];
    const hadFocus = old?.contains(document.activeElement);
    old?.replaceWith(line);
    if (hadFocus) line.querySelector("textarea").focus();
  }

  /* The field of the next unit that is shown and open. */
  function next(unit) {
    const shown = [...rows.keys()];
    const open = shown.slice(shown.indexOf(unit.id) + 1).find((id) => units[id].state === "open");
    if (open !== undefined) rows.get(open).querySelector("textarea").focus();
  }

  return { draw, acceptWritten };
}
