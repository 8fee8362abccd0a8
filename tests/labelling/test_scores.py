"""Figures beside scikit-learn's, intervals beside scipy's, calibration by hand."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    precision_recall_fscore_support,
)

from headway.labelling.scores import (
    by_example,
    calibration,
    macro_f1,
    one_label_scores,
    several_labels_scores,
    share,
)
from headway.metrics.corpus_scores import with_interval

LABELS = ("a", "b", "c", "d", "e")


def examples(n: int = 200, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Labels and what a middling model holds of them; the last label is never there, nor said."""
    random = np.random.default_rng(seed)
    there = random.choice(4, size=n, p=(0.6, 0.2, 0.15, 0.05))
    probs = random.dirichlet(np.ones(5), size=n)
    probs[np.arange(n), there] += random.random(n)
    probs[:, 4] = 0
    return there, probs / probs.sum(1, keepdims=True)


def test_one_label_each_is_scored_as_scikit_learn_does():
    there, probs = examples()
    said = probs.argmax(1)
    found = one_label_scores(there, probs, LABELS)
    assert found.figures["accuracy"].score == pytest.approx(100 * accuracy_score(there, said))
    assert found.figures["f1"].score == pytest.approx(100 * f1_score(there, said, average="macro"))
    precision, recall, f1, support = precision_recall_fscore_support(there, said)
    assert [row.label for row in found.labels] == ["a", "b", "c", "d"]
    for i, row in enumerate(found.labels):
        expected = (100 * precision[i], 100 * recall[i], 100 * f1[i])
        assert (row.precision, row.recall, row.f1) == pytest.approx(expected)
        assert (row.support, row.predicted) == (support[i], (said == i).sum())
    assert found.confusion is not None
    matrix = confusion_matrix(there, said, labels=range(5))
    np.testing.assert_array_equal(found.confusion.counts, matrix)
    assert "always 'a', the most frequent label" in found.notes[0]


def test_several_labels_each_are_scored_as_scikit_learn_does():
    random = np.random.default_rng(5)
    there, probs = random.random((150, 5)) < 0.3, random.random((150, 5))
    said = probs > 0.5
    figures = several_labels_scores(there, probs, LABELS).figures
    assert figures["accuracy"].score == pytest.approx(100 * accuracy_score(there, said))
    for name, average in (("f1", "macro"), ("micro_f1", "micro")):
        assert figures[name].score == pytest.approx(100 * f1_score(there, said, average=average))


def test_a_share_has_wilsons_interval():
    for right, n in ((0, 10), (7, 10), (450, 500), (500, 500)):
        interval = binomtest(right, n).proportion_ci(method="wilson")
        found = share(right, n)
        assert (found.low, found.high) == pytest.approx((100 * interval.low, 100 * interval.high))
        assert "Wilson" in found.signature
    assert share(0, 0).high == 100


def test_an_f1_has_the_interval_of_a_bootstrap_over_examples():
    there, probs = examples()
    found = one_label_scores(there, probs, LABELS).figures["f1"]
    random, said = np.random.default_rng(0), probs.argmax(1)
    drawn = [random.integers(len(there), size=len(there)) for _ in range(300)]
    others = [100 * f1_score(there[i], said[i], average="macro") for i in drawn]
    low, high = np.quantile(others, (0.025, 0.975))
    assert (found.low, found.high) == pytest.approx((low, high), abs=2.0)
    assert "bootstrap" in found.signature


def test_what_is_resampled_is_an_example_not_a_label():
    """Two that are wholly right and two that are wholly wrong: F1 of a resample may be 0 or 100."""
    counts = np.array([[1.0, 1, 1], [1, 1, 1], [0, 1, 1], [0, 1, 1]])
    found = with_interval(by_example(counts, macro_f1))
    assert (found.low, found.score, found.high) == (0, 50, 100)


def test_calibration_by_hand():
    """Two answers at 0.8, of which one is right, and one at 1.0, which is: |0.8 - 0.5| of two
    thirds, and nothing of one third."""
    found = calibration(np.array([0.8, 0.8, 1.0]), np.array([True, False, True]))
    assert found.error == pytest.approx(100 * 0.3 * 2 / 3)
    assert [(one.n, round(one.low, 1)) for one in found.bins if one.n] == [(2, 0.7), (1, 0.9)]
    assert found.bins[7].accuracy == 0.5
    assert sum(one.n for one in found.bins) == 3


def test_the_dictionary_is_as_the_issue_has_it():
    there, probs = examples()
    told = one_label_scores(there, probs, LABELS).as_dict()
    assert {*told["accuracy"]} == {"score", "low", "high", "signature"}
    assert told["labels"][0]["label"] == "a"
    assert len(told["confusion"]["counts"]) == 5
    assert len(told["calibration"]["bins"]) == 10
