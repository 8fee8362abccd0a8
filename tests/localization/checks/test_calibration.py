"""Confidences are probabilities: by Bayes' rule, and by regression on what was right."""

import json
import math

import numpy as np
import pytest

from headway.core.errors import RunError
from headway.localization.checks.calibration import (
    FIRST_BELIEF,
    RAISED,
    Calibration,
    CheckBaseline,
    _logistic,
    calibration_error,
    fitted,
)
from headway.localization.checks.output_checks import FEATURES
from headway.translation.measuring import ENOUGH


def simulated(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, chances that follow from them, and what came out."""
    draw = np.random.default_rng(seed)
    features = draw.normal(size=(n, len(FEATURES)))
    chance = 1 / (1 + np.exp(-(1.0 + 1.5 * features[:, 0] - 0.7 * features[:, 5])))
    return features, chance, draw.random(n) < chance


def test_a_sign_is_doubted_by_bayes_rule():
    norm = CheckBaseline.of([0.0] * 996 + [1.0, 2.0, 2.0, 5.0])
    for strength, n in ((0.5, 4), (1.0, 4), (1.5, 3), (2.0, 3), (5.0, 1), (6.0, 0)):
        rare = (n + 0.5) / 1001
        expected = FIRST_BELIEF / (FIRST_BELIEF + (1 - FIRST_BELIEF) * rare)
        assert norm.confidence(strength) == pytest.approx(expected)
    assert norm.confidence(0.0) == 0.0


def test_what_is_stronger_is_doubted_no_less():
    norm = CheckBaseline.of(list(np.random.default_rng(1).exponential(size=500)))
    doubts = [norm.confidence(one) for one in np.linspace(0.01, 12, 300)]
    assert doubts == sorted(doubts)


def test_what_good_texts_show_is_no_flag():
    """Fewer than one in 400 of the very texts that were measured."""
    strengths = list(np.random.default_rng(2).exponential(size=4000))
    norm = CheckBaseline.of(strengths)
    n_raised = sum(norm.confidence(one) >= RAISED for one in strengths)
    assert n_raised <= 10


def test_too_few_texts_raise_no_flag():
    assert CheckBaseline.of([0.0] * 10).confidence(100.0) < RAISED


def test_of_enough_good_texts_a_sign_that_none_shows_is_a_flag() -> None:
    assert CheckBaseline.of([0.0] * ENOUGH).confidence(1.0) >= RAISED
    assert CheckBaseline.of([0.0] * (ENOUGH - 1)).confidence(1.0) < RAISED


def test_the_weights_are_where_the_penalized_likelihood_is_flat():
    features, _, good = simulated(400, 1)
    weights, centre, spread = _logistic(features, good)
    rows = np.column_stack([np.clip((features - centre) / spread, -4, 4), np.ones(400)])
    truth = (good + 1 / 400) / (1 + 2 / 400)

    def loss(at: np.ndarray) -> float:
        logit = rows @ at
        penalty = np.r_[np.ones(len(at) - 1), 1e-3]
        return float((np.logaddexp(0, logit) - truth * logit).sum() + 0.5 * (penalty * at**2).sum())

    for place in range(len(weights)):
        for step in (1e-3, -1e-3):
            moved = weights.copy()
            moved[place] += step
            assert loss(moved) > loss(weights)


def test_confidences_are_near_the_true_chances():
    features, _, good = simulated(2000, 1)
    trust = fitted({}, features, good, 50.0)
    assert trust.calibration_error < 0.05
    new, chance, _ = simulated(500, 2)
    found = [trust.confidence(list(row)) for row in new]
    assert np.abs(np.array(found) - chance).mean() < 0.05


@pytest.mark.parametrize("outcome", [True, False])
def test_where_all_were_alike_confidence_is_sure_but_finite(outcome):
    features, *_ = simulated(60, 3)
    trust = fitted({}, features, np.full(60, outcome), 50.0)
    found = trust.confidence([0.0] * len(FEATURES))
    assert 0 < found < 1
    assert (found > 0.9) == outcome


def test_the_calibration_error_by_hand():
    confidences, good = np.array([0.05, 0.15, 0.15, 0.95]), np.array([False, True, False, True])
    # classes 0, 1, 9: gaps 0.05, |0.15 - 0.5|, 0.05
    assert calibration_error(confidences, good) == pytest.approx((0.05 + 2 * 0.35 + 0.05) / 4)


def test_what_was_written_is_read_back():
    features, _, good = simulated(50, 4)
    trust = fitted({"loop": CheckBaseline.of([1.0, 0.0])}, features, good, 50.0)
    again = Calibration.from_dict(json.loads(json.dumps(trust.as_dict())))
    assert again == trust
    assert Calibration.from_dict({}).confidence([0.0] * len(FEATURES)) is None
    earlier = {**trust.as_dict(), "joined": {"loop": {"texts": 2000, "strongest": []}}}
    assert Calibration.from_dict(json.loads(json.dumps(earlier))) == trust
    assert Calibration.from_dict(json.loads(json.dumps(Calibration().as_dict()))).good is None


@pytest.mark.parametrize(
    "damage",
    [
        {"weights": [1.0]},
        {"weights": [math.inf] * (len(FEATURES) + 1)},
        {"spread": [0.0] * len(FEATURES)},
        {"norms": {"loop": 3}},
        {"norms": []},
        {"unknown": 1},
        {"centre": "abc"},
    ],
)
def test_anything_else_is_refused(damage):
    features, _, good = simulated(50, 4)
    plain = fitted({}, features, good, 50.0).as_dict()
    with pytest.raises(RunError, match=r"checks\.json"):
        Calibration.from_dict({**plain, **damage})
