"""How far a translation is to be trusted: flags and confidences, measured where the truth is known.

Two things are measured. For each sign, how strong it is in good pairs: the rarer it is there, the
surer it is that a translation which shows it is wrong. And for what the model says of its own
translations, how often such a translation was good (logistic regression).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import ConfigError
from headway.localization.checks.output_checks import (
    FEATURES,
    NOT_WRITTEN,
    SOURCE_LANGUAGE,
    TOO_SHORT,
    UNKNOWN,
    CheckedPair,
    ModelEvidence,
    check_model,
    features,
)
from headway.localization.checks.training_stats import TrainingStats, from_checks
from headway.localization.formats.units import Flag
from headway.localization.placeholders.own_codes import OwnPattern

FIRST_BELIEF = 0.02
"""How many of all translations are wrong in each way that a sign shows, before one has looked."""
RAISED = 0.9
"""Confidence from which a sign is a flag."""
_MOST_DOUBT = {UNKNOWN: 0.9}
"""Words that training did not have may still be translated well."""
_NOTHING = 0.99
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

    def confidence(self, strength: float, n_sentences: int = 1) -> float:
        """That something is wrong, by Bayes' rule: `FIRST_BELIEF` against how rare it is.

        What one sentence in so many shows is so many times as common in texts of several.
        """
        if strength <= 0:
            return 0.0
        n = sum(one >= strength for one in self.strongest)
        if n == len(self.strongest) == _KEPT:
            n = self.texts  # no more is known than that it is common
        rare = min(1.0, (n * n_sentences + 0.5) / (self.texts + 1))
        return FIRST_BELIEF / (FIRST_BELIEF + (1 - FIRST_BELIEF) * rare)


LIMITS = {
    "too_short": 4.5, "too_long": 6.0, "sentences": 1.0, "loop": 3.0, "copy": 0.6, "number": 0.0,
    "code": 0.0, "script": 0.2, "language": 0.0,
    SOURCE_LANGUAGE: 0.0,
}  # fmt: skip
"""A stronger sign is a flag, where nothing was measured."""
USUAL = {
    name: CheckBaseline(1000, (limit, limit) if limit else ()) for name, limit in LIMITS.items()
}


@dataclass(frozen=True)
class Calibration:
    """Everything that flags and confidences of a run are computed from."""

    norms: Mapping[str, CheckBaseline] = field(default_factory=dict)
    """By the name of the sign."""
    least_chrf: float = 0.0
    """A translation is called good from this sentence chrF on."""
    weights: tuple[float, ...] = ()
    """Of each of `FEATURES`, standardized, and a constant; empty where nothing was measured."""
    centre: tuple[float, ...] = ()
    spread: tuple[float, ...] = ()
    sentences: int = 0
    """Of the validation text, translated to measure this."""
    good: float | None = None
    """Share of them that was good."""
    calibration_error: float | None = None
    """Expected difference between confidence and share of good ones, on held-out sentences."""

    def __post_init__(self) -> None:
        n, sizes = len(FEATURES), [len(row) for row in (self.centre, self.spread, self.weights)]
        if sizes not in ([0, 0, 0], [n, n, n + 1]) or min(self.spread, default=1) <= 0:
            raise ConfigError(f"there are {n} features")

    def confidence(self, features: Sequence[float]) -> float | None:
        """That a translation is good; None where nothing was measured."""
        if not self.weights:
            return None
        row = np.array([features])
        return float(_predicted(row, *map(np.array, (self.weights, self.centre, self.spread)))[0])

    def words(self) -> str:
        error = "not measured: too few sentences"
        if self.calibration_error is not None:
            error = f"{self.calibration_error:.3f}"
        return (
            f"Good ones (sentence chrF of {self.least_chrf:.0f} or more): {self.good or 0:.0%} of "
            f"{self.sentences:,} validation sentences; confidences are calibrated on them, "
            f"expected calibration error {error}."
        )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Calibration":
        # runs of earlier versions say how strong signs are in joined texts, too
        return from_checks(cls, {key: plain[key] for key in plain if key != "joined"})


def fitted(
    norms: Mapping[str, CheckBaseline], features: Features, good: Good, least_chrf: float
) -> Calibration:
    """What is learned from `features` [sentences, features], and which were translated well."""
    error = None
    if len(good) >= _FOLDS:
        held_out, folds = np.empty(len(good)), np.arange(len(good)) % _FOLDS
        for fold in range(_FOLDS):
            inside = folds != fold
            learned = _logistic(features[inside], good[inside])
            held_out[~inside] = _predicted(features[~inside], *learned)
        error = calibration_error(held_out, good)
    weights, centre, spread = (tuple(map(float, row)) for row in _logistic(features, good))
    share = float(good.mean())
    return Calibration(norms, least_chrf, weights, centre, spread, len(good), share, error)


def calibration_error(confidences: Features, good: Good) -> float:
    """Expected calibration error (Naeini et al. 2015): ten classes of confidence, as wide."""
    bins = np.minimum((confidences * _BINS).astype(int), _BINS - 1)
    gaps = np.bincount(bins, weights=confidences - good, minlength=_BINS)
    return float(np.abs(gaps).sum() / len(good))


def _logistic(features: Features, good: Good) -> tuple[Features, Features, Features]:
    """Weights and constant by Newton's method, with a penalty on the weights' squares."""
    centre, spread = features.mean(0), np.maximum(features.std(0), 1e-6)
    rows = _rows(features, centre, spread)
    # one good and one bad one more: the constant is finite where all were alike
    truth = (good + 1 / len(good)) / (1 + 2 / len(good))
    weights, penalty = np.zeros(rows.shape[1]), np.full(rows.shape[1], _PENALTY)
    penalty[-1] = 1e-3
    for _ in range(30):
        chance = _sigmoid(rows @ weights)
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


def _sigmoid(logits: Features) -> Features:
    chances: Features = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return chances


def _predicted(
    features: Features, weights: Features, centre: Features, spread: Features
) -> Features:
    return _sigmoid(_rows(features, centre, spread) @ weights)


class Verdict(NamedTuple):
    flags: Sequence[Flag]
    """The surest first; before them a source in another language, which is why others are there."""
    confidence: float | None
    """That it is good; None where nobody has measured how far its model is to be trusted."""


class Checker:
    """The checks of one run: any texts, in any order, each judged by itself."""

    def __init__(
        self, held: TrainingStats, trust: Calibration, own: Sequence[OwnPattern] = ()
    ) -> None:
        """`own`: patterns of codes besides those of every text."""
        self.held, self.trust, self.own = held, trust, own
        self.norms = trust.norms or USUAL

    def look(self, source: str, target: str, readings: Sequence[ModelEvidence] = ()) -> Verdict:
        """`readings` are what the model said of each part that it translated at once, in order;
        none for a translation that somebody else made, which gets flags only.

        A text is as sure as its least sure part, and no surer than each of its flags allows.
        """
        read = [one for one in readings if one.source_tokens]  # the others are a glossary's terms
        if not any(map(str.isalnum, source)) or (readings and not read):
            return Verdict((), None)
        if not target.strip():
            return Verdict((Flag(TOO_SHORT, _NOTHING, "nothing was written"),), 1 - _NOTHING)
        if any(tuple(one.log_probs) == NOT_WRITTEN for one in readings):
            why = "the source as it is, as the model wrote nothing but loops"
            return Verdict((Flag("copy", _NOTHING, why),), 1 - _NOTHING)
        pair = CheckedPair(source, target, self.held, self.own)
        signs, confidences = pair.signs(), []
        of_texts = dict(signs)
        for reading in read:
            of_model = check_model(reading)
            known = self.trust.confidence(features(reading, {**of_texts, **of_model}))
            confidences += [] if known is None else [known]
            for name, sign in of_model.items():
                signs[name] = max(sign, signs.get(name, sign), key=itemgetter(0))
        flags = []
        for name, sign in signs.items():
            norm = self.norms.get(name) or USUAL.get(name, CheckBaseline(0, ()))  # of earlier runs
            doubt = norm.confidence(sign.strength, len(pair.ours) or 1)
            if doubt >= RAISED:
                doubt = round(min(doubt, _MOST_DOUBT.get(name, 1.0)), 4)
                flags.append(Flag(name, doubt, sign.why))
        flags.sort(key=lambda flag: (flag.name != SOURCE_LANGUAGE, -flag.confidence))
        if confidences and flags:
            confidences.append(1 - max(flag.confidence for flag in flags))
        return Verdict(tuple(flags), min(confidences, default=None))
