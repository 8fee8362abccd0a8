"""What in a unit and its translation belongs together, and what a run's checks say of it."""

from collections.abc import Sequence
from typing import Any

from headway.filling.interfaces import Judgement
from headway.filling.ranking import chosen
from headway.localization.checks.calibration import Checker, Verdict
from headway.localization.checks.output_checks import ModelEvidence
from headway.localization.formats.branches import branches_of
from headway.localization.formats.piecewise import may_branch
from headway.localization.formats.units import Flag, Outcome
from headway.localization.placeholders.accelerators import bare, unmarked
from headway.localization.placeholders.segments import Segment

Pair = tuple[Segment, Segment]


class RunChecks:
    """Checks of a run, for the outcomes of a flow: a `headway.filling.interfaces.Checks`.

    Coverage is looked at where the translator was asked for alignments.
    """

    def __init__(self, checker: Checker, target_language: str | None = None) -> None:
        """`target_language` is whose plural forms the branches of a choice have."""
        self.checker, self._target_language = checker, target_language

    def judge(self, outcome: Outcome) -> Judgement:
        """Flags of any translation; a confidence of what the model wrote."""
        if outcome.segment is None:
            return Judgement((), None)
        source, target = _whole(outcome, outcome.segment)
        if not may_branch(source) or branches_of(source, None) is None:
            readings = _readings(outcome.evidence)
            return Judgement(*self.checker.look(source.text, target.text, readings))
        # names and keywords are no copies, and there may be more branches than in the source
        said = {(piece.source, chosen(piece)): _readings([piece]) for piece in outcome.evidence}
        pairs = side_by_side(outcome, outcome.segment, self._target_language)
        look = self.checker.look
        return _together([look(a.text, b.text, said.get((a, b), ())) for a, b in pairs])


def _readings(pieces: Sequence[Any]) -> list[ModelEvidence]:
    """What the model said of each part of some pieces that it translated at once."""
    return [
        ModelEvidence(part.source_tokens, taken.token_log_probs, taken.attended)
        for piece in pieces
        for part in piece.translated.parts
        for taken in part.n_best[piece.picked :][:1]
    ]


def _together(verdicts: Sequence[Verdict]) -> Judgement:
    """What is doubtful in any of several texts; they are as sure as the least sure of them."""
    flags = [flag for one in verdicts for flag in one.flags]
    surest: dict[str, Flag] = {}
    for flag in sorted(flags, key=lambda one: -one.confidence):
        surest.setdefault(flag.name, flag)
    known = [one.confidence for one in verdicts if one.confidence is not None]
    return Judgement(tuple(surest.values()), min(known, default=None))


def _whole(made: Outcome, segment: Segment) -> Pair:
    """A unit's text and its translation, without accelerators."""
    if not (sign := made.unit.accelerator):
        return made.unit.source, segment
    return bare(made.unit.source, sign).segment, unmarked(segment, sign)


def side_by_side(made: Outcome, segment: Segment, target_language: str | None) -> list[Pair]:
    """The texts of a unit, each with its translation in `segment`; every different pair once.

    They are what the translator was given; of what it did not make, the branches of a choice, or
    the whole.
    """
    if made.evidence:
        return list(dict.fromkeys((piece.source, chosen(piece)) for piece in made.evidence))
    both = _whole(made, segment)
    ours, theirs = (branches_of(one, target_language) for one in both)
    if ours is None or theirs is None:
        return [both]
    sources, targets = ours.sources, theirs.sources
    if len(sources) != len(targets):  # `other`, or the part for many, stands last in both
        sources, targets = sources[-1:], targets[-1:]
    return list(dict.fromkeys(zip(sources, targets, strict=False)))
