"""Looks at a source and its translation: what is doubtful, and how sure it is that all is well."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from headway.localization.checks.calibration import RAISED, Calibration, CheckBaseline
from headway.localization.checks.output_checks import (
    TOO_SHORT,
    UNKNOWN,
    CheckResult,
    ModelEvidence,
    check_model,
    check_texts,
    features,
    n_sentences,
)
from headway.localization.checks.training_stats import TrainingStats
from headway.localization.formats.units import Flag
from headway.localization.placeholders.own_codes import OwnPattern

_MOST_DOUBT = {UNKNOWN: 0.9}
"""Words that training did not have may still be translated well."""
_NOTHING = 0.99


class Verdict(NamedTuple):
    flags: tuple[Flag, ...]
    """The surest first."""
    confidence: float | None
    """That it is good; None where nobody has measured how far its model is to be trusted."""


class Checker:
    """The checks of one run: any texts, in any order, each judged by itself."""

    def __init__(
        self, held: TrainingStats, trust: Calibration, own: Sequence[OwnPattern] = ()
    ) -> None:
        """`own`: patterns of codes besides those of every text."""
        self.held, self.trust, self.own = held, trust, own
        self.norms = trust.norms
        if not self.norms:
            from headway.localization.checks.calibration import USUAL  # a side room

            self.norms = USUAL
        self.joined = {**self.norms, **trust.joined}

    def look(self, source: str, target: str, readings: Sequence[ModelEvidence] = ()) -> Verdict:
        """`readings` are what the model said of each part that it translated at once, in order;
        none for a translation that somebody else made, which gets flags only.

        A text is as sure as its least sure part, and no surer than each of its flags allows.
        """
        if not any(map(str.isalnum, source)):
            return Verdict((), None)
        if not target.strip():
            return Verdict((Flag(TOO_SHORT, _NOTHING, "nothing was written"),), 1 - _NOTHING)
        signs = check_texts(source, target, self.held, self.own)
        confidence = None
        for reading in readings:
            of_model = check_model(reading)
            known = self.trust.confidence(features(reading, {**signs, **of_model}))
            if known is not None:
                confidence = known if confidence is None else min(known, confidence)
            for name, sign in of_model.items():
                signs[name] = max(sign, signs.get(name, sign), key=lambda one: one.strength)
        flags = self._flags(signs, self.joined if n_sentences(source) > 1 else self.norms)
        if confidence is not None and flags:
            confidence = min(confidence, 1 - flags[0].confidence)
        return Verdict(flags, confidence)

    def _flags(
        self, signs: dict[str, CheckResult], norms: Mapping[str, CheckBaseline]
    ) -> tuple[Flag, ...]:
        found = []
        for name, sign in signs.items():
            if name in norms:
                doubt = norms[name].confidence(sign.strength)
                if doubt >= RAISED:
                    doubt = round(min(doubt, _MOST_DOUBT.get(name, 1.0)), 4)
                    found.append(Flag(name, doubt, sign.why))
        return tuple(sorted(found, key=lambda flag: -flag.confidence))
