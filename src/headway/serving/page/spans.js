/* Where tokens and words stand in a text. */

const SLACK = 12; // characters that may lie between two tokens and belong to none

/* For each token its [start, end) in a text; null for one that is not found there. */
export function tokenSpans(text, tokens) {
  let cursor = 0;
  return tokens.map((token) => {
    const piece = token.replaceAll("▁", "");
    const start = piece ? text.indexOf(piece, cursor) : -1;
    if (start < 0 || start > cursor + SLACK) return null;
    cursor = start + piece.length;
    return [start, cursor];
  });
}

/* The pieces of a text: [{ start, end, isWord }], which joined are the text. */
export function wordsOf(text, language) {
  const found = [];
  let start = 0;
  for (const { segment, isWordLike } of segmenter(language).segment(text)) {
    const end = start + segment.length;
    const last = found.at(-1);
    if (last && !last.isWord && !isWordLike) last.end = end;
    else found.push({ start, end, isWord: Boolean(isWordLike) });
    start = end;
  }
  return found;
}

const made = new Map();
function segmenter(language) {
  if (!made.has(language)) {
    let one;
    try {
      one = new Intl.Segmenter(language || "en", { granularity: "word" });
    } catch { /* a code that is none */
      one = new Intl.Segmenter("en", { granularity: "word" });
    }
    made.set(language, one);
  }
  return made.get(language);
}

const meet = (span, start, end) => span !== null && span[0] < end && span[1] > start;

/* The parts of an answer, each a sentence or so that the model read at once, with where it stands
   in both texts and what is known of its words. */
export function partsOf(answer, sourceText, language) {
  const rows = answer.parts?.length ? answer.parts : [{ ...answer, from: sourceText }];
  let [at, sourceAt] = [0, 0];
  return rows.map((row) => {
    const start = answer.text.indexOf(row.text, at);
    const sourceStart = sourceText.indexOf(row.from, sourceAt);
    if (start >= 0) at = start + row.text.length;
    if (sourceStart >= 0) sourceAt = sourceStart + row.from.length;
    return part(row, row.from, start < 0 ? at : start, sourceStart, language);
  });
}

export function part(row, from, start, sourceStart, language, kept = 0) {
  const text = row.text;
  const [spans, sourceSpans] = [tokenSpans(text, row.tokens ?? []), tokenSpans(from, row.source_tokens ?? [])];
  const looksAt = new Map((row.alignment ?? []).map(([source, target]) => [target, source]));
  const words = wordsOf(text, language).map((word) => {
    const tokens = spans.flatMap((span, i) => (meet(span, word.start, word.end) ? [i] : []));
    const shares = tokens.map((i) => Math.exp(row.token_log_probs?.[i] ?? 0));
    const sources = tokens.map((i) => sourceSpans[looksAt.get(i)]).filter(Boolean);
    return { ...word, share: shares.length ? Math.min(...shares) : null, sources, isKept: word.end <= kept };
  });
  return { from, text, start, sourceStart, words, kept };
}
