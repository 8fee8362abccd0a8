/* What this browser remembers, and nobody else: preferences, key, glossary, history. */

const LOOKS = "headway-page"; // language and colours, shared with the inspector's page
const CHOICES = "headway-choices";
const MOST_HISTORY = 50;
const MOST_TERMS = 2000;

function read(name, fallback) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? fallback;
  } catch { /* no storage, or not ours */
    return fallback;
  }
}

function write(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
  } catch { /* nothing is remembered then */ }
}

const isText = (value) => typeof value === "string";

export function preferences() {
  const [looks, choices] = [read(LOOKS, {}), read(CHOICES, {})];
  const own = navigator.language.startsWith("zh") ? "zh" : "en";
  return {
    language: ["en", "zh"].includes(looks.language) ? looks.language : own,
    theme: ["auto", "light", "dark"].includes(looks.theme) ? looks.theme : "auto",
    source: isText(choices.source) ? choices.source : "auto",
    target: isText(choices.target) ? choices.target : "",
    shade: choices.shade !== false,
  };
}

export function prefer(change) {
  const { language, theme, ...choices } = { ...preferences(), ...change };
  if ("language" in change || "theme" in change) write(LOOKS, { language, theme });
  else write(CHOICES, choices);
}

/* Called when another page, such as the inspector in a frame, changes the looks. */
export function onLooks(hear) {
  window.addEventListener("storage", (event) => { if (event.key === LOOKS) hear(); });
}

export const key = () => { const kept = read("headway-key", ""); return isText(kept) ? kept : ""; };
export const keepKey = (value) => write("headway-key", value);

/* Terms of a pair: [{ source, target }]. */
export function terms(pair) {
  const kept = read("headway-glossary", {})[pair];
  return Array.isArray(kept)
    ? kept.filter((one) => isText(one?.source) && isText(one?.target)).slice(0, MOST_TERMS) : [];
}

export function keepTerms(pair, some) {
  write("headway-glossary", { ...read("headway-glossary", {}), [pair]: some.slice(0, MOST_TERMS) });
}

/* Newest first: [{ source, target, text, output }]. */
export function history() {
  const kept = read("headway-history", []);
  const whole = (one) => ["source", "target", "text", "output"].every((name) => isText(one?.[name]));
  return Array.isArray(kept) ? kept.filter(whole) : [];
}

/* A text that was only typed further takes the place of its beginning. */
export function remember(entry) {
  const same = (one) => one.target === entry.target
    && (entry.text.startsWith(one.text) || one.text.startsWith(entry.text));
  const [newest, ...older] = history();
  const before = newest && same(newest) ? older : [newest, ...older].filter(Boolean);
  write("headway-history", [entry, ...before].slice(0, MOST_HISTORY));
}

export const forgetHistory = () => write("headway-history", null);
