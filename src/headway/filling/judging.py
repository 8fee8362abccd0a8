"""What is asked of memories, terms and checks, and how a translation is judged and chosen."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from headway.localization.checks.calibration import Checker, Verdict
from headway.localization.checks.output_checks import ModelEvidence, evidence_of
from headway.localization.formats.branches import branches_of
from headway.localization.formats.piecewise import TranslatedPiece, may_branch
from headway.localization.formats.units import Flag, Match, Outcome, Unit
from headway.localization.placeholders.accelerators import bare, unmarked
from headway.localization.placeholders.segments import Segment

TOO_WIDE = "too_wide"
Pair = tuple[Segment, Segment]


@runtime_checkable
class MemoryLookup(Protocol):
    """A translation memory."""

    def exact(self, unit: Unit, /) -> Match | None:
        """The best match of 100%: in context if there is one; None if there is no match."""
        ...

    def near(self, unit: Unit, /) -> Sequence[Match]:
        """Matches below 100%, best first, only such as are worth being shown."""
        ...


@runtime_checkable
class TermChecker(Protocol):
    """Terms that hold. The translator was given them; this looks at what it made of them."""

    def lost(self, source: Segment, target: Segment, /) -> Sequence[Flag]:
        """A flag for each term of the source whose translation is not in the target."""
        ...


@runtime_checkable
class Checks(Protocol):
    """Looks at every translation, whoever made it."""

    def judge(self, outcome: Outcome, /) -> Verdict:
        """`outcome.segment` is there; `outcome.evidence` too where the model wrote it."""
        ...


class RunChecks:
    """Checks of a run, for the outcomes of a flow: a `Checks`.

    Coverage is looked at where the translator was asked for alignments.
    """

    def __init__(self, checker: Checker, target_language: str | None = None) -> None:
        """`target_language` is whose plural forms the branches of a choice have."""
        self.checker, self._target_language = checker, target_language

    def judge(self, outcome: Outcome) -> Verdict:
        """Flags of any translation; a confidence of what the model wrote."""
        if outcome.segment is None:
            return Verdict((), None)
        source, target = _whole(outcome.unit, outcome.segment)
        if not may_branch(source) or branches_of(source, None) is None:
            readings = _readings(outcome.evidence)
            return self.checker.look(source.text, target.text, readings)
        # names and keywords are no copies, and there may be more branches than in the source
        said = {
            (piece.source, piece.translated.segment): _readings([piece])
            for piece in outcome.evidence
        }
        pairs = side_by_side(outcome, outcome.segment, self._target_language)
        look = self.checker.look
        return _together([look(a.text, b.text, said.get((a, b), ())) for a, b in pairs])


def _readings(pieces: Sequence[Any]) -> list[ModelEvidence]:
    """What the model said of each part of some pieces that it translated at once."""
    return evidence_of(part for piece in pieces for part in piece.translated.parts)


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    """What is doubtful in any of several texts; they are as sure as the least sure of them."""
    flags = [flag for one in verdicts for flag in one.flags]
    surest: dict[str, Flag] = {}
    for flag in sorted(flags, key=lambda one: -one.confidence):
        surest.setdefault(flag.name, flag)
    known = [one.confidence for one in verdicts if one.confidence is not None]
    return Verdict(tuple(surest.values()), min(known, default=None))


def _whole(unit: Unit, segment: Segment) -> Pair:
    """A unit's text and its translation, without accelerators."""
    if not (sign := unit.accelerator):
        return unit.source, segment
    return bare(unit.source, sign).segment, unmarked(segment, sign)


def side_by_side(made: Outcome, segment: Segment, target_language: str | None) -> list[Pair]:
    """The texts of a unit, each with its translation in `segment`; every different pair once.

    They are what the translator was given; of what it did not make, the branches of a choice, or
    the whole.
    """
    if made.evidence:
        return list(dict.fromkeys((one.source, one.translated.segment) for one in made.evidence))
    both = _whole(made.unit, segment)
    ours, theirs = (branches_of(one, target_language) for one in both)
    if ours is None or theirs is None:
        return [both]
    sources, targets = ours.sources, theirs.sources
    if len(sources) != len(targets):  # `other`, or the part for many, stands last in both
        sources, targets = sources[-1:], targets[-1:]
    return list(dict.fromkeys(zip(sources, targets, strict=False)))


def scored(made: Outcome) -> Outcome:
    """With the sum of its pieces' scores, where the model read each of them at once."""
    scores = [_score(piece) for piece in made.evidence]
    known = [score for score in scores if score is not None]
    if made.segment is None or not known or len(known) < len(scores):
        return made
    return replace(made, score=sum(known))


def fitted(made: Outcome) -> Outcome:
    """With a flag where it has not the room that it needs. Codes of the file take none."""
    width, segment = made.unit.width, made.segment
    if width is None or segment is None:
        return made
    if width.fits(segment.outside_codes):
        return made
    n = len(segment.outside_codes)
    why = f"at most {width.most} ({width.unit}) are allowed, and it has {n} characters"
    return replace(made, flags=(*made.flags, Flag(TOO_WIDE, 1.0, why)))


def _score(piece: TranslatedPiece) -> float | None:
    parts: Any = getattr(piece.translated, "parts", ())
    return parts[0].n_best[0].score if len(parts) == 1 and parts[0].n_best else None
