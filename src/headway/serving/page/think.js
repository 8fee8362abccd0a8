/* The inspector of the text at hand, live: a page of its own, from the same address. */

import * as api from "./api.js";
import { t } from "./words.js";

const MOST = 300; // characters: of more a picture shows nothing

export function thinkTab(page, choice, text) {
  const [frame, said] = [page.at("inspector"), page.at("think-said")];
  let shown = "";

  const wanted = () => text.value.trim().slice(0, MOST);

  async function open() {
    const looked = wanted();
    const mine = JSON.stringify([looked, choice.pair]);
    if (!looked) {
      frame.hidden = true;
      shown = "";
      said.textContent = t("thinkEmpty");
      return;
    }
    if (mine === shown) return;
    shown = mine;
    frame.hidden = true;
    said.textContent = t("thinkLoading");
    try {
      const { address } = await api.inspector({ text: looked, source: choice.source, target: choice.target });
      if (mine !== shown) return;
      frame.onload = () => { frame.hidden = false; said.textContent = t("thinkText", { text: looked }); };
      frame.src = address;
      frame.hidden = false;
    } catch (error) {
      shown = "";
      said.textContent = error instanceof api.Refused ? page.why(error) : "";
      page.fail(error);
    }
  }

  page.onRedraw(({ elsewhere }) => {
    if (!elsewhere) shown = ""; // the inspector looks as this page does
    if (document.body.dataset.tab === "think" && !elsewhere) open();
  });
  choice.onChange(() => { if (document.body.dataset.tab === "think") open(); });
  return { shown: open };
}
