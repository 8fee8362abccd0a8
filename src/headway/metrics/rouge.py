"""ROUGE, for summaries and titles (Lin 2004), as Google's `rouge-score` counts it: an extra."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.core.bleu import Counts, Scores, SentenceStatistics, check_pairs
from headway.core.errors import ConfigError

NAMES = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L"}
"""What the library calls them, and what people do."""


class _Characters:
    """Cuts text into characters, for languages without spaces."""

    def tokenize(self, text: str) -> list[str]:
        """All but white space."""
        return list("".join(text.lower().split()))


class _Signed:
    """What a figure depends on, as a metric of sacreBLEU's tells it."""

    n_bootstrap: int | None = None
    seed: str | None = None

    def __init__(self, what: str) -> None:
        self.what = what

    def get_signature(self) -> str:
        """In sacreBLEU's form."""
        resampled = f"|bs:{self.n_bootstrap}|rs:{self.seed}" if self.n_bootstrap else ""
        return f"{self.what}{resampled}"


def rouge_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, unspaced: bool = False
) -> dict[str, SentenceStatistics]:
    """By the names in `NAMES`: a row for each sentence, its F and 1; of several references the
    nearest counts. The figure of a corpus is the mean of its sentences, in percent.

    The library takes runs of the letters a to z and digits for words, in lower case, unstemmed;
    `unspaced` text is cut into characters.

    Raises:
        ConfigError: `rouge-score` is not installed.
        DataError: the numbers of sentences differ, or there are none.
    """
    try:
        from importlib.metadata import version

        from rouge_score.rouge_scorer import RougeScorer
    except ModuleNotFoundError:
        raise ConfigError(
            "--rouge needs the package rouge-score, which is not installed. "
            "Install it with: pip install 'headway[rouge]'"
        ) from None
    for lines in references:
        check_pairs(hypotheses, lines)
    scorer = RougeScorer([*NAMES], tokenizer=_Characters() if unspaced else None)
    rows: dict[str, list[float]] = {name: [] for name in NAMES}
    for output, *rights in zip(hypotheses, *references, strict=True):
        found: list[dict[str, Any]] = [scorer.score(right, output) for right in rights]
        for name, row in rows.items():
            row.append(max(one[name].fmeasure for one in found))
    cut = "char" if unspaced else "a-z0-9"
    signed = f"nrefs:{len(references)}|case:lc|tok:{cut}|rouge-score:{version('rouge-score')}"
    return {
        name: SentenceStatistics(
            np.column_stack([row, np.ones(len(row))]), mean_formula, _Signed(f"{name}|{signed}")
        )
        for name, row in rows.items()
    }


def mean_formula(counts: Counts) -> Scores:
    """The mean of sentences, in percent. A row of counts: a sum, and of how many."""
    return 100.0 * counts[:, 0] / np.maximum(counts[:, 1], 1.0)
