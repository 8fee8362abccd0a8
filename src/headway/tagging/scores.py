"""How well tags are known: strict F1 of spans, as seqeval's strict mode has it; accuracy."""

from collections.abc import Sequence

import numpy as np

from headway.labelling.scores import LabelScores, by_example, f1_of, mean_right, rows_of
from headway.metrics.corpus_scores import with_interval
from headway.tagging.schemes import LEARNED, spans_of


def tag_scores(
    there: Sequence[Sequence[str]],
    found: Sequence[Sequence[str]],
    scheme: str | None,
    notes: Sequence[str] = (),
) -> LabelScores:
    """Of the tags of each sentence, in `schemes.LEARNED` where their file had a `scheme`.

    A span is right where its type and both ends are. Intervals are of a bootstrap over sentences.
    """
    pairs = [*zip(there, found, strict=True)]
    spans = [[{*spans_of(tags, scheme and LEARNED)} for tags in pair] for pair in pairs]
    kinds = sorted({one.kind for pair in spans for some in pair for one in some})
    counts = np.zeros((len(pairs), len(kinds), 3))
    for row, (true, guessed) in zip(counts, spans, strict=True):
        for place, some in enumerate((true & guessed, guessed, true)):
            for one in some:
                row[kinds.index(one.kind), place] += 1
    n_right = [sum(a == b for a, b in zip(*pair, strict=True)) for pair in pairs]
    tokens = np.array([(n, len(pair[0])) for n, pair in zip(n_right, pairs, strict=True)], float)
    statistics = {"accuracy": by_example(tokens, mean_right)}
    how = "each tag is scored by itself"
    if scheme is not None:
        total = counts.sum(1)
        statistics = {
            "f1": by_example(total, lambda of: f1_of(*of.T)),
            "precision": by_example(total, lambda of: 100 * of[:, 0] / of[:, 1].clip(1)),
            "recall": by_example(total, lambda of: 100 * of[:, 0] / of[:, 2].clip(1)),
            **statistics,
        }
        how = f"strict: type and both ends are right ({scheme}); accuracy is of {LEARNED} tags"
    notes = (f"{int(tokens[:, 1].sum()):,} tokens; {how}", *notes)
    rows = rows_of(counts.reshape(len(pairs), -1), kinds)
    figures = {name: with_interval(one) for name, one in statistics.items()}
    return LabelScores(figures, rows, len(pairs), "sentences", notes=notes, statistics=statistics)
