/* How numbers are written. */

/* A probability in per cent: 97.3 %, 0.04 %, < 0.01 %. */
export function percent(share) {
  if (share > 0 && share < 0.0001) return "< 0.01 %";
  const digits = share >= 0.0995 && share < 0.9995 ? 1 : share >= 0.9995 ? 0 : 2;
  return `${(100 * share).toFixed(digits)} %`;
}

/* Three digits that matter, minus as a minus. */
export function short(value, digits = 3) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "–";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 0.001 || size >= 1e5)
    ? value.toExponential(digits - 1) : value.toFixed(Math.max(0, digits - (size >= 100 ? 3 : size >= 10 ? 2 : 1)));
  return text.replace("-", "−");
}
