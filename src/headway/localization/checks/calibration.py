"""How far a translation is to be trusted: flags and confidences, measured where the truth is known.

Two things are measured. For each sign, how strong it is in good pairs: the rarer it is there, the
surer it is that a translation which shows it is wrong. And for what the model says of its own
translations, how often such a translation was good (logistic regression).
"""

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import RunError
from headway.languages.sentences import space_between
from headway.localization.checks.output_checks import (
    FEATURES,
    OF_TEXTS,
    check_texts,
    n_sentences,
)
from headway.localization.checks.training_stats import TrainingStats
from headway.localization.placeholders.own_codes import OwnPattern

FIRST_BELIEF = 0.02
"""How many of all translations are wrong in each way that a sign shows, before one has looked."""
RAISED = 0.9
"""Confidence from which a sign is a flag."""
_KEPT = 32
_FOLDS = 5
_PENALTY = 1.0
_BINS = 10

Features = NDArray[np.float64]
Good = NDArray[np.bool_]


@dataclass(frozen=True)
class CheckBaseline:
    """How strong a sign is where nothing is wrong."""

    texts: int
    strongest: tuple[float, ...]
    """The highest strengths that were found, highest first."""

    @classmethod
    def of(cls, strengths: Sequence[float]) -> "CheckBaseline":
        highest = sorted((round(float(one), 4) for one in strengths if one > 0), reverse=True)
        return cls(len(strengths), tuple(highest[:_KEPT]))

    def confidence(self, strength: float) -> float:
        """That something is wrong, by Bayes' rule: `FIRST_BELIEF` against how rare it is."""
        if strength <= 0:
            return 0.0
        n = sum(one >= strength for one in self.strongest)
        if n == len(self.strongest) == _KEPT:
            n = self.texts  # no more is known than that it is common
        rare = (n + 0.5) / (self.texts + 1)
        return FIRST_BELIEF / (FIRST_BELIEF + (1 - FIRST_BELIEF) * rare)


@dataclass(frozen=True)
class Calibration:
    """Everything that flags and confidences of a run are computed from."""

    norms: Mapping[str, CheckBaseline] = field(default_factory=dict)
    """By the name of the sign."""
    joined: Mapping[str, CheckBaseline] = field(default_factory=dict)
    """The same in texts of several sentences, where training held single ones."""
    least_chrf: float = 0.0
    """A translation is called good from this sentence chrF on."""
    weights: tuple[float, ...] = ()
    """Of each of `FEATURES`, standardized, and a constant; empty where nothing was measured."""
    centre: tuple[float, ...] = ()
    spread: tuple[float, ...] = ()
    sentences: int = 0
    """Of the validation text, translated to measure this."""
    good: float = math.nan
    """Share of them that was good."""
    calibration_error: float = math.nan
    """Expected difference between confidence and share of good ones, on held-out sentences."""

    def confidence(self, features: Sequence[float]) -> float | None:
        """That a translation is good; None where nothing was measured."""
        if not self.weights:
            return None
        *weights, constant = self.weights
        logit = constant
        for value, weight, centre, spread in zip(
            features, weights, self.centre, self.spread, strict=True
        ):
            logit += weight * max(-4.0, min(4.0, (value - centre) / spread))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))

    def words(self) -> str:
        error = "not measured: too few sentences"
        if not math.isnan(self.calibration_error):
            error = f"{self.calibration_error:.3f}"
        return (
            f"Good ones (sentence chrF of {self.least_chrf:.0f} or more): {self.good:.0%} of "
            f"{self.sentences:,} validation sentences; confidences are calibrated on them, "
            f"expected calibration error {error}."
        )

    def as_dict(self) -> dict[str, Any]:
        plain = asdict(self)
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in plain.items()
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Calibration":
        """Undo `as_dict`; of nothing, what trusts nothing and doubts nothing.

        Raises:
            RunError: it is something else.
        """
        try:
            values: dict[str, Any] = {k: math.nan if v is None else v for k, v in plain.items()}
            values |= {
                k: tuple(map(float, plain.get(k, ()))) for k in ("weights", "centre", "spread")
            }
            for key in ("norms", "joined"):
                values[key] = {
                    name: CheckBaseline(int(one["texts"]), tuple(map(float, one["strongest"])))
                    for name, one in plain.get(key, {}).items()
                }
            found = cls(**values)
            n = len(found.weights)
            sound = n in (0, len(FEATURES) + 1) and all(spread > 0 for spread in found.spread)
            sound = sound and (not n or len(found.centre) == len(found.spread) == n - 1)
            sound = sound and all(map(math.isfinite, (*found.weights, *found.centre)))
        except (TypeError, ValueError, AttributeError, LookupError):
            sound = False
        if not sound:
            raise RunError(
                "checks.json of a run says how far its translations are to be trusted; this one "
                "says something else. Take it from a copy of the run, or delete it."
            ) from None
        return found


def fitted(
    norms: Mapping[str, CheckBaseline], features: Features, good: Good, least_chrf: float
) -> Calibration:
    """What is learned from validation sentences: their `features` [sentences, features], and which
    were translated well."""
    weights, centre, spread = _logistic(features, good)
    held_out = np.empty(len(good))
    folds = np.arange(len(good)) % _FOLDS
    for fold in range(_FOLDS if len(good) >= _FOLDS else 0):
        inside = folds != fold
        held_out[~inside] = _predicted(
            features[~inside], *_logistic(features[inside], good[inside])
        )
    return Calibration(
        norms=norms,
        least_chrf=least_chrf,
        weights=tuple(map(float, weights)),
        centre=tuple(map(float, centre)),
        spread=tuple(map(float, spread)),
        sentences=len(good),
        good=float(good.mean()),
        calibration_error=(calibration_error(held_out, good) if len(good) >= _FOLDS else math.nan),
    )


def calibration_error(confidences: Features, good: Good) -> float:
    """Expected calibration error (Naeini et al. 2015): ten classes of confidence, as wide."""
    bins = np.minimum((confidences * _BINS).astype(int), _BINS - 1)
    error = 0.0
    for number in range(_BINS):
        inside = bins == number
        if inside.any():
            gap = abs(float(confidences[inside].mean()) - float(good[inside].mean()))
            error += gap * float(inside.mean())
    return error


def _logistic(features: Features, good: Good) -> tuple[Features, Features, Features]:
    """Weights and constant by Newton's method, with a penalty on the weights' squares."""
    centre, spread = features.mean(0), np.maximum(features.std(0), 1e-6)
    rows = _rows(features, centre, spread)
    # one good and one bad one more: the constant is finite where all were alike
    truth = (good + 1 / len(good)) / (1 + 2 / len(good))
    weights = np.zeros(rows.shape[1])
    penalty = np.full(rows.shape[1], _PENALTY)
    penalty[-1] = 1e-3
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (chance - truth) + penalty * weights
        curve = (rows * (chance * (1 - chance))[:, None]).T @ rows + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return weights, centre, spread


def _rows(features: Features, centre: Features, spread: Features) -> Features:
    scaled = np.clip((features - centre) / spread, -4, 4)
    return np.column_stack([scaled, np.ones(len(features))])


def _predicted(
    features: Features, weights: Features, centre: Features, spread: Features
) -> Features:
    found: Features = 1 / (1 + np.exp(-np.clip(_rows(features, centre, spread) @ weights, -30, 30)))
    return found


def _up_to(strength: float) -> CheckBaseline:
    """Two in a thousand are as strong: that is no flag yet, and what is stronger is one."""
    return CheckBaseline(1000, (strength, strength))


USUAL: dict[str, CheckBaseline] = {
    "too_short": _up_to(4.5),
    "too_long": _up_to(6.0),
    "sentences": _up_to(1.0),
    "loop": _up_to(3.0),
    "copy": _up_to(0.6),
    "number": CheckBaseline(1000, (1.0,)),  # one that is lost is a flag, if not as sure as two
    "code": CheckBaseline(1000, ()),
    "tag_in_word": CheckBaseline(1000, ()),
    "script": _up_to(0.2),
    "language": CheckBaseline(1000, ()),
}
"""A sign that is stronger is a flag."""


TEXTS = 2_000
MOST_SENTENCES = 5
_LEAST_SINGLE = 500
_ENDED = re.compile(r"[.?!。？！]\Z")

Pairs = Sequence[tuple[str, str]]


def joined_norms(
    pairs: Pairs, held: TrainingStats, own: Sequence[OwnPattern]
) -> dict[str, CheckBaseline]:
    """Of each sign of texts; none where too few pairs are a single sentence on both sides."""
    single = [pair for pair in pairs if all(_ENDED.search(text) for text in pair)]
    single = [pair for pair in single if n_sentences(pair[0]) == n_sentences(pair[1]) == 1]
    if len(single) < _LEAST_SINGLE:
        return {}
    draw = random.Random(1)
    units = [draw.sample(single, draw.randint(2, MOST_SENTENCES)) for _ in range(TEXTS)]
    sides = [zip(*unit, strict=True) for unit in units]
    found = [check_texts(together(read), together(written), held, own) for read, written in sides]
    return {
        name: CheckBaseline.of([signs[name].strength if name in signs else 0.0 for signs in found])
        for name in OF_TEXTS
    }


def together(texts: Sequence[str]) -> str:
    """Sentences as their language writes them, one behind the other."""
    return reduce(lambda text, one: text + space_between(" ", text, one) + one, texts)
