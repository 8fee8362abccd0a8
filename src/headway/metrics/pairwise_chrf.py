"""chrF of many short texts, each against each: what a minimum Bayes risk is computed from."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headway.metrics.corpus_scores import chrf_formula

LONGEST = 6
"""Characters of the longest n-grams, as in sacreBLEU's chrF2."""


def pairwise_chrf(texts: Sequence[str]) -> Float[np.ndarray, "texts texts"]:
    """In row i, column j the sentence chrF2 of text i with text j as its reference, in percent
    (Popovic 2015): what sacreBLEU's `sentence_chrf` gives, for all pairs at once."""
    n = len(texts)
    unspaced = ["".join(text.split()) for text in texts]
    statistics = np.zeros((n, n, LONGEST, 3))  # n-grams in the output, in the reference, in both
    for order in range(1, LONGEST + 1):
        found = [
            Counter(text[i : i + order] for i in range(len(text) - order + 1)) for text in unspaced
        ]
        columns = {ngram: number for number, ngram in enumerate(set().union(*found))}
        counts = np.zeros((len(columns), n), np.int64)
        for text, ngrams in enumerate(found):
            counts[[columns[ngram] for ngram in ngrams], text] = [*ngrams.values()]
        total = counts.sum(0)
        statistics[:, :, order - 1, 0], statistics[:, :, order - 1, 1] = total[:, None], total
        for text, ngrams in enumerate(found):
            its = counts[[columns[ngram] for ngram in ngrams]]
            statistics[text, :, order - 1, 2] = np.minimum(its[:, text, None], its).sum(0)
    return chrf_formula(statistics.reshape(n * n, -1)).reshape(n, n)
