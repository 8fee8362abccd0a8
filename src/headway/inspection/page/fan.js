/* The encoder's output fanning out, as K and V, into every decoder layer. */

import { h, svg } from "./dom.js";

const [WIDE, HIGH, GAP] = [150, 34, 14];

export function fan({ nEncoder, held, shape, chosen, t, choose }) {
  const n = Math.max(nEncoder, held.length);
  const height = n * (HIGH + GAP) + 8;
  const up = (k, of) => height - (k + 1) * (HIGH + GAP) - ((n - of) * (HIGH + GAP)) / 2 + GAP;
  const box = (x, y, text, below, kind = "") => svg("g", { class: `fan-box ${kind}` },
    svg("rect", { x, y, width: WIDE, height: HIGH, rx: 5 }),
    svg("text", { x: x + WIDE / 2, y: y + (below ? 14 : 21), "text-anchor": "middle" }, text),
    below && svg("text", { x: x + WIDE / 2, y: y + 27, "text-anchor": "middle", class: "soft" }, below));
  const middle = height / 2 - HIGH / 2;
  const [left, centre, right] = [4, 220, 520];
  const encoder = [...Array(nEncoder).keys()].map((k) => box(left, up(k, nEncoder), t("beside", { a: t("encoder"), b: t("layerName", { layer: k }) })));
  const top = up(nEncoder - 1, nEncoder) + HIGH / 2;
  const rising = [...Array(Math.max(0, nEncoder - 1)).keys()].map((k) => svg("path", {
    class: "fan-line", d: `M ${left + WIDE / 2} ${up(k, nEncoder)} V ${up(k + 1, nEncoder) + HIGH}`,
  }));
  const decoder = held.map(({ layer, keys }, k) => {
    const y = up(k, held.length);
    const [from, to] = [centre + WIDE, right];
    const line = svg("path", {
      class: `fan-line${layer === chosen ? " chosen" : ""}`,
      d: `M ${from} ${middle + HIGH / 2} C ${from + 80} ${middle + HIGH / 2}, ${to - 80} ${y + HIGH / 2}, ${to} ${y + HIGH / 2}`,
    });
    const label = t("beside", { a: t("cross"), b: t("layerName", { layer }) });
    const pick = (event) => {
      if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(layer);
    };
    return [line, svg("g", { class: "fan-choice", tabindex: "0", role: "button", "aria-label": label,
      "aria-pressed": String(layer === chosen), on: { click: pick, keydown: pick } },
    box(right, y, label, keys ? `K, V [${keys.join(", ")}]` : "K, V", layer === chosen ? "chosen" : ""))];
  });
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("fan") },
    svg("svg", { class: "fan", viewBox: `0 0 ${right + WIDE + 4} ${height}`, role: "group", "aria-label": t("fan") },
      rising, encoder,
      svg("path", { class: "fan-line", d: `M ${left + WIDE} ${top} C ${left + WIDE + 40} ${top}, ${centre - 40} ${middle + HIGH / 2}, ${centre} ${middle + HIGH / 2}` }),
      decoder, box(centre, middle, t("named", { a: t("encoder"), b: t("outputName") }), shape && `[${shape.join(", ")}]`, "main")));
}
