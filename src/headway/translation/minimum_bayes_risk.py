"""Of many candidates the translation that is most like all the others: minimum Bayes risk."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from headway.core.errors import ConfigError
from headway.core.hypothesis import Decode, Hypothesis, Ids, SearchRequest
from headway.core.interfaces import StepDecoder
from headway.core.subwords import Subwords
from headway.core.translate import TextTranslator
from headway.metrics.corpus_scores import chrf_formula

LONGEST = 6
"""Characters of the longest n-grams, as in sacreBLEU's chrF2."""
MOST = 200
"""Candidates, as of a beam."""
SCALE = 0.5
"""The exponent of the probabilities of a beam's candidates, which are too sharp as they are
(Tromble et al. 2008 scale them, too); found on validation pairs, see docs/lab-notes.md."""


def decide_by_mbr(translator: TextTranslator, n_candidates: int) -> None:
    """Have a translator decide by `MinimumBayesRisk` from now on.

    Raises ConfigError for a number of candidates that is none.
    """
    if not 2 <= n_candidates <= MOST:
        raise ConfigError(
            f"--mbr chooses among 2 to {MOST} candidates; got {n_candidates}. Try --mbr 30."
        )
    translator.decode = MinimumBayesRisk(translator.decode, translator.subwords, n_candidates)


class MinimumBayesRisk:
    """A `Decode` that finds candidates by another, and ranks them by their expected chrF (Kumar and
    Byrne 2004 with BLEU; Eikema and Aziz 2022 with utilities as this one).

    Each candidate is scored with each of them as its reference. Samples count alike, as they are
    drawn (those authors' estimate); those of a beam by probability ** SCALE, made to sum to 1.
    Scores of hypotheses stay the model's.
    """

    def __init__(self, decode: Decode, subwords: Subwords, n_candidates: int) -> None:
        self.decode, self.subwords, self.n_candidates = decode, subwords, n_candidates

    def __call__(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
    ) -> list[list[Hypothesis]]:
        """See `headway.core.hypothesis.Decode`. Raises ConfigError for greedy search."""
        settings = request.settings
        if settings.method == "greedy":
            raise ConfigError(
                "--mbr chooses among several translations; greedy search finds one. Take --method "
                "beam or --method sampling."
            )
        n = max(self.n_candidates, settings.n_best)
        wider = replace(settings, n_best=n, beam=max(settings.beam, n))
        found = self.decode(decoder, sources, request._replace(settings=wider, want_scores=True))
        by_probability = settings.method == "beam"
        return [self._ranked(one, by_probability)[: settings.n_best] for one in found]

    def _ranked(self, candidates: list[Hypothesis], by_probability: bool) -> list[Hypothesis]:
        """Highest expected chrF first; among equals as they were."""
        texts = self.subwords.decode_batch([one.ids for one in candidates])
        log_probs = np.array([one.log_prob for one in candidates])
        weights = np.ones(len(texts))
        if by_probability:
            weights = np.exp(SCALE * (log_probs - log_probs.max()))
        order = np.argsort(-expected_chrf(texts, weights), kind="stable")
        return [candidates[i] for i in order]


def expected_chrf(texts: Sequence[str], weights: np.ndarray) -> np.ndarray:
    """Of each text the mean of its chrF with all of them as references, by their weights."""
    found: np.ndarray = pairwise_chrf(texts) @ (weights / weights.sum())
    return found


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
