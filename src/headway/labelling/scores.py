"""What `headway evaluate` tells of a run that labels: figures, each label, confusions, calibration.

Shares have Wilson's interval, which is right for 0 % and 100 % too; F1 has that of a bootstrap over
examples, as nothing else is known of it. A figure's `signature` says which.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

from headway.core.bleu import SentenceStatistics
from headway.metrics.corpus_scores import Score, with_interval

N_BINS = 10
"""Of confidence, equally wide."""
STANDARD_ERRORS = 1.959964
"""On either side: 95 %."""
Counted = NDArray[np.float64]


class LabelRow(NamedTuple):
    """How well one label is known, in percent."""

    label: str
    precision: float
    """Of those that are said to have it, so many have it; 0 where none is said to."""
    recall: float
    f1: float
    support: int
    """How many have it."""
    predicted: int


class Confusion(NamedTuple):
    """`counts[i][j]`: how many that are labels[i] are said to be labels[j]."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


class ConfidenceBin(NamedTuple):
    """Those whose confidence is above `low` and at most `high` (both shares)."""

    low: float
    high: float
    n: int
    confidence: float
    """Its mean; 0 where there are none."""
    accuracy: float
    """The share that is right."""


class LabelCalibration(NamedTuple):
    """How far a probability of 80 % is right in 80 % of cases (Guo et al. 2017)."""

    error: float
    """Expected calibration error, in percent: |confidence - accuracy|, weighted by n."""
    bins: tuple[ConfidenceBin, ...]


@dataclass(frozen=True)
class LabelScores:
    """All that is told of one run on some labelled files."""

    figures: dict[str, Score]
    """In percent, the main one first: `accuracy`, `f1`, ..."""
    labels: tuple[LabelRow, ...]
    n: int
    unit: str = "examples"
    """What there are n of."""
    confusion: Confusion | None = None
    """None where an example has several labels, or spans have them."""
    calibration: LabelCalibration | None = None
    notes: tuple[str, ...] = ()
    """Whatever else should be known of these figures, a sentence each."""
    statistics: Mapping[str, SentenceStatistics] = field(default_factory=dict)
    """The counts of each example behind some figures, for paired tests."""

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON; the figures by their names."""
        calibration = self.calibration and {
            "error": self.calibration.error,
            "bins": [one._asdict() for one in self.calibration.bins],
        }
        return {
            **{name: asdict(score) for name, score in self.figures.items()},
            "labels": [row._asdict() for row in self.labels],
            "confusion": self.confusion and self.confusion._asdict(),
            "calibration": calibration,
            "n": self.n,
            "unit": self.unit,
            "notes": list(self.notes),
        }


# -- figures ----------------------------------------------------------------------------------


def share(n_right: int, n: int) -> Score:
    """In percent, with Wilson's interval (1927)."""
    if not n:
        return Score(0.0, 0.0, 100.0, "no examples")
    z2, p = STANDARD_ERRORS**2, n_right / n
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = STANDARD_ERRORS / (1 + z2 / n) * np.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Score(100 * p, 100 * float(low), 100 * float(high), "Wilson, 95 %")


@dataclass
class Resampling:
    """The signature of a bootstrap."""

    n_bootstrap: int | None = None
    seed: str | None = None

    def get_signature(self) -> str:
        """In words."""
        return f"bootstrap, 95 %, {self.n_bootstrap:,} resamples, seed {self.seed}"


def by_example(
    counts: Float[np.ndarray, "examples numbers"], formula: Callable[[Counted], Counted]
) -> SentenceStatistics:
    """A figure of summed counts; `formula` takes `[draws, numbers]`, and gives percent."""
    return SentenceStatistics(counts, formula, Resampling())


def mean_right(counts: Counted) -> Counted:
    """The share that is right, in percent, of how many are and how many there are."""
    return np.asarray(100.0 * counts[:, 0] / counts[:, 1])


def f1_of(right: NDArray[Any], said: NDArray[Any], there: NDArray[Any]) -> Counted:
    """F1 in percent of how many are right, were said to be, and are there; 0 where none is."""
    both = said + there
    return 200.0 * right / np.where(both > 0, both, 1)


def macro_f1(counts: Counted) -> Counted:
    """The mean F1 of the labels that are there, or said to be. A row: for each label right, said
    and there."""
    right, said, there = counts.reshape(len(counts), -1, 3).transpose(2, 0, 1)
    present = (said + there) > 0
    total = np.where(present, f1_of(right, said, there), 0.0).sum(1)
    return np.asarray(total / np.maximum(present.sum(1), 1))


def micro_f1(counts: Counted) -> Counted:
    """F1 of all labels together, from such rows."""
    right, said, there = counts.reshape(len(counts), -1, 3).sum(1).T
    return f1_of(right, said, there)


def rows_of(counts: Counted, labels: Sequence[str]) -> tuple[LabelRow, ...]:
    """Each label that is there, or said to be, from such rows of counts."""
    found = []
    for label, (right, said, there) in zip(labels, counts.sum(0).reshape(-1, 3), strict=True):
        if said + there:
            precision, recall = 100 * right / max(said, 1), 100 * right / max(there, 1)
            f1 = 200 * right / (said + there)
            row = LabelRow(label, float(precision), float(recall), float(f1), int(there), int(said))
            found.append(row)
    return tuple(found)


def calibration(
    confidence: Float[np.ndarray, " examples"], right: Bool[np.ndarray, " examples"]
) -> LabelCalibration:
    """Of the probability that each answer was given, and whether it was right."""
    place = np.clip(np.ceil(confidence * N_BINS).astype(int) - 1, 0, N_BINS - 1)
    bins, error = [], 0.0
    for i in range(N_BINS):
        chosen = place == i
        n = int(chosen.sum())
        mean, accuracy = (
            (float(confidence[chosen].mean()), float(right[chosen].mean())) if n else (0.0, 0.0)
        )
        bins.append(ConfidenceBin(i / N_BINS, (i + 1) / N_BINS, n, mean, accuracy))
        error += n * abs(mean - accuracy) / max(len(confidence), 1)
    return LabelCalibration(100 * error, tuple(bins))


# -- examples that have a label each, or several ----------------------------------------------


def one_label_scores(
    there: Int[np.ndarray, " examples"],
    probs: Float[np.ndarray, "examples labels"],
    labels: Sequence[str],
) -> LabelScores:
    """Of examples with one label each, by their numbers, and what a model holds of all labels."""
    said = probs.argmax(1)
    marked = np.eye(len(labels))
    counts = _counts(marked[there], marked[said])
    matrix = np.zeros((len(labels), len(labels)), int)
    np.add.at(matrix, (there, said), 1)
    right, often = there == said, np.bincount(there, minlength=len(labels))
    return _scores(
        right,
        counts,
        labels,
        {"f1": macro_f1},
        confusion=Confusion((*labels,), tuple(tuple(row) for row in matrix.tolist())),
        calibration=calibration(probs.max(1), right),
        notes=(
            f"always {labels[int(often.argmax())]!r}, the most frequent label, would be right in "
            f"{100 * often.max() / max(len(there), 1):.2f} % of cases",
        ),
    )


def several_labels_scores(
    there: Bool[np.ndarray, "examples labels"],
    probs: Float[np.ndarray, "examples labels"],
    labels: Sequence[str],
) -> LabelScores:
    """Of examples with any number of labels; one is said where it is held for likelier than not.

    `accuracy` is the share of examples of which all labels are right; calibration is over every
    decision, of each label and example.
    """
    said = probs > 0.5
    right = there == said
    counts = _counts(there.astype(float), said.astype(float))
    sure = np.where(said, probs, 1 - probs).ravel()
    sureness = calibration(sure, right.ravel())
    formulas = {"f1": macro_f1, "micro_f1": micro_f1}
    return _scores(right.all(1), counts, labels, formulas, calibration=sureness)


def _scores(
    right: Bool[np.ndarray, " examples"],
    counts: Counted,
    labels: Sequence[str],
    formulas: Mapping[str, Callable[[Counted], Counted]],
    *,
    calibration: LabelCalibration,
    confusion: Confusion | None = None,
    notes: tuple[str, ...] = (),
) -> LabelScores:
    """Of the examples that are right as a whole, and each label's counts; `formulas` beside
    accuracy."""
    n = len(right)
    tested = {name: by_example(counts, formula) for name, formula in formulas.items()}
    figures = {name: with_interval(one) for name, one in tested.items()}
    return LabelScores(
        {"accuracy": share(int(right.sum()), n), **figures},
        rows_of(counts, labels),
        n,
        confusion=confusion,
        calibration=calibration,
        notes=notes,
        statistics={"accuracy": by_example(np.stack([right, np.ones(n)], 1), mean_right), **tested},
    )


def _counts(there: Counted, said: Counted) -> Counted:
    """For each example and label: right, said, there; `[examples, 3 * labels]`."""
    return np.stack([there * said, said, there], 2).reshape(len(there), -1)
