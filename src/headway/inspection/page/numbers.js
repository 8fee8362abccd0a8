/* How numbers are written. */

/* A probability in per cent: 97.3 %, 0.04 %, < 0.01 %. */
export function percent(share) {
  if (share > 0 && share < 0.0001) return "< 0.01 %";
  const digits = share >= 0.0995 && share < 0.9995 ? 1 : share >= 0.9995 ? 0 : 2;
  return `${(100 * share).toFixed(digits)} %`;
}

/* A count: commas between the thousands, as both languages write it. */
export function whole(value) {
  return Math.round(value).toLocaleString("en");
}

/* Three digits that matter, minus as a minus. */
export function short(value, digits = 3) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "–";
  const size = Math.abs(value);
  const written = () => {
    if (size !== 0 && (size < 0.001 || size >= 1e5)) return value.toExponential(digits - 1);
    if (size !== 0 && size < 1) return value.toPrecision(digits);
    return value.toFixed(Math.max(0, digits - (size >= 100 ? 3 : size >= 10 ? 2 : 1)));
  };
  return written().replaceAll("-", "−");
}
