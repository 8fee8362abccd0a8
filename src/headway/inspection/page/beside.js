/* A view of one run, and below it the same view of the run beside it, where there is one. */

import { h } from "./dom.js";

/* Calls one(root, context) for each, with `id(name)`, which is another name in the other view. The
   other one chooses for itself, and the server is asked of the first run only. */
export function eachRun(root, context, one) {
  const { beside } = context;
  const own = { ...context, id: (name) => name };
  if (!beside?.part) {
    one(root, own);
    return;
  }
  const chosen = {};
  const other = { ...context, ...beside, chosen, choose: (change) => Object.assign(chosen, change),
    onChoose: () => {}, live: null, id: (name) => `${name}-beside` };
  for (const each of [own, other]) {
    const place = h("div", { class: "of-run" });
    root.append(h("h3", { class: "run-name" }, each.run.name, " ", h("span", { class: "soft" }, each.run.type)), place);
    if (each.part.missing) place.append(h("p", { class: "missing" }, each.part.missing[document.documentElement.lang.slice(0, 2)]));
    else one(place, each);
  }
}
