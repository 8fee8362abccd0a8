/* A file: dropped, translated, and its units reviewed. */

import { clear, h } from "./dom.js";
import * as api from "./api.js";
import * as store from "./store.js";
import { reviewTable } from "./review.js";
import { named, number, t } from "./words.js";

const ASKED_MS = 400;

export function fileTab(page, choice) {
  const { at } = page;
  const [drop, root, input] = [at("drop"), at("review"), at("file")];
  let current = null; // { file, service, table, status }

  const pause = () => new Promise((done) => { setTimeout(done, ASKED_MS); });

  async function take(file) {
    if (!file) return;
    leave();
    page.show("file");
    const mine = { file, service: null, table: null, key: "sending", values: {} };
    current = mine;
    draw();
    try {
      const fields = { source: choice.source, target: choice.target, ...choice.tag, overwrite: String(at("overwrite").checked) };
      const terms = store.terms(choice.pair);
      if (terms.length) fields.glossary = JSON.stringify(terms);
      let told = await api.sendFile(file, fields);
      mine.service = api.reviewed(told);
      while (mine === current && !told.units?.map) {
        if (told.status === "error") throw new api.Refused(told.error, 400);
        mine.key = told.status === "queued" ? "queued" : "translating";
        mine.values = { done: number(told.done), units: number(told.units) };
        mine.share = told.units ? told.done / told.units : 0;
        draw();
        await pause();
        told = await mine.service.units();
      }
      if (mine !== current) return;
      mine.key = "ready";
      mine.told = told;
      mine.table = reviewTable(page, told, mine.service);
      draw();
      page.say(t("ready", { name: file.name }));
      root.querySelector("textarea")?.focus();
    } catch (error) {
      if (mine !== current) return;
      leave();
      page.fail(error);
    }
  }

  /* Back to the place where a file is dropped; the service forgets the one that was there. */
  function leave() {
    current?.service?.forget().catch(() => { /* it goes by itself after a while */ });
    current = null;
    input.value = "";
    draw();
  }

  function draw() {
    at("kinds").textContent = t("kinds");
    drop.hidden = current !== null;
    root.hidden = current === null;
    clear(root);
    if (!current) return;
    const { file, table, key, values, share } = current;
    if (!table) {
      root.append(h("div", { class: "waiting" }, h("p", { class: "big", role: "status" }, t(key, { name: file.name, ...values })),
        h("progress", { max: "1", value: share === undefined ? null : String(share), "aria-label": t(key, { name: file.name, ...values }) }),
        h("button", { type: "button", on: { click: leave } }, t("another"))));
      return;
    }
    root.append(h("div", { class: "filebar" }, h("h2", { dir: "auto" }, file.name),
      h("p", { class: "soft pair" }, `${named(current.told.source)} → ${named(current.told.target)}`),
      h("button", { type: "button", on: { click: leave } }, t("another")),
      h("button", { type: "button", class: "main", id: "download", title: t("downloadTitle"), on: { click: download } }, t("download"))));
    table.draw(root);
  }

  async function download() {
    if (!await current.table.acceptWritten()) return;
    try {
      const url = URL.createObjectURL(await current.service.file());
      const link = h("a", { href: url, download: resultName(current.file.name, current.told.target) });
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch (error) {
      page.fail(error);
    }
  }

  input.addEventListener("change", () => take(input.files[0]));
  const isFile = (event) => [...event.dataTransfer?.types ?? []].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dragging");
  });
  document.addEventListener("drop", (event) => {
    document.body.classList.remove("dragging");
    if (!isFile(event)) return;
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
  page.onRedraw(draw);
}

/* `menu.po` becomes `menu.de.po`. */
function resultName(name, target) {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? `${name.slice(0, dot)}.${target}${name.slice(dot)}` : `${name}.${target}`;
}
