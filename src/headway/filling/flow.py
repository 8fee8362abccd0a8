"""A unit's way: memory, then model (with terms), then checks, then what is left empty."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.filling.judging import (
    Checks,
    MemoryLookup,
    TermChecker,
    fitted,
    scored,
    side_by_side,
)
from headway.filling.report import NO_MATCH
from headway.languages.codes import suffix_of
from headway.localization.formats.piecewise import Piecewise, Translated
from headway.localization.formats.splitting import (
    lines_of,
    restored,
    stripped,
    with_codes_of_source,
)
from headway.localization.formats.units import (
    DOUBTFUL,
    FUZZY,
    MEMORY,
    MODEL,
    Flag,
    Match,
    Outcome,
    Unit,
)
from headway.localization.placeholders.accelerators import Bare, bare, with_accelerator
from headway.localization.placeholders.names import with_codes_of
from headway.localization.placeholders.segments import Segment

Translate = Callable[[list[Segment]], Sequence[Translated]]
"""A model, with the terms that it is to keep."""
Cut = Callable[[Segment], list[Segment]]

_REMEMBERED = 50_000
"""Pieces of text that are kept, so that they are not translated again in another file."""


@dataclass(frozen=True)
class Steps:
    """What a flow has besides its model; each step is left out where it is None."""

    memory: MemoryLookup | None = None
    fuzzy_from: int | None = None
    """Percentage from which a near match is taken instead of the model's translation."""
    glossary: TermChecker | None = None
    checks: Checks | None = None
    leave_below: float | None = None
    """Confidence below which nothing is filled in."""


class Flow:
    def __init__(
        self,
        translate: Translate | None,
        steps: Steps,
        target_language: str | None = None,
        cut: Cut = lines_of,
    ) -> None:
        """`cut` gives the pieces of a text that the model takes at once; without a model to
        `translate`, what no memory has is left."""
        self.steps, self._target_language = steps, target_language
        self._pieces = Piecewise(translate, target_language, cut) if translate else None
        self._exact: dict[Unit, Match | None] = {}
        self._near: dict[Unit, tuple[Match, ...]] = {}

    def run(self, units: Sequence[Unit]) -> Iterator[tuple[int, int]]:
        """Look units up, translate the others; each different piece of text once.

        Gives (pieces done, all pieces) now and then; what is done by then is kept when it is not
        gone on with.
        """
        self._look_up(units)
        if self._pieces is not None:
            yield from self._pieces.run(
                _bare(unit).segment for unit in units if self._taken(unit) is None
            )

    def outcome(self, unit: Unit) -> Outcome:
        """What became of a unit that was run; `MISSING` for one that was not reached."""
        match = self._taken(unit)
        made = scored(self._of_model(unit)) if match is None else _of_match(unit, match)
        made = fitted(replace(made, near=self._near.get(unit, ())))
        return made if made.segment is None else self._judged(made)

    def forget(self) -> None:
        """Let go of what was run, but for the newest texts, which may come again."""
        self._exact.clear()
        self._near.clear()
        if self._pieces is not None:
            self._pieces.forget(_REMEMBERED)

    def _look_up(self, units: Sequence[Unit]) -> None:
        memory = self.steps.memory
        for unit in units if memory is not None else ():
            if memory is not None and unit not in self._exact:
                self._exact[unit] = memory.exact(unit)
                if self._exact[unit] is None:
                    self._near[unit] = tuple(memory.near(unit))

    def _taken(self, unit: Unit) -> Match | None:
        """The match that makes a translation by the model needless."""
        if exact := self._exact.get(unit):
            return exact
        near, enough = self._near.get(unit, ()), self.steps.fuzzy_from
        return near[0] if near and enough is not None and near[0].percent >= enough else None

    def _of_model(self, unit: Unit) -> Outcome:
        if self._pieces is None:
            return Outcome(unit, None, why_not=NO_MATCH)
        without, letter = _bare(unit)
        whole = self._pieces.whole(without)
        made = whole.segment
        if letter and made is not None:
            made = with_accelerator(made, unit.accelerator, letter, self._target_language)
        if made is not None:
            made = with_codes_of_source(unit.source, made)
        return Outcome(
            unit,
            made,
            MODEL if made is not None else "",
            complete=whole.complete,
            why_not=whole.why_not,
            evidence=whole.pieces,
        )

    def _judged(self, made: Outcome) -> Outcome:
        flags: list[Flag] = list(made.flags)
        glossary = self.steps.glossary
        if glossary is not None and made.segment is not None:
            pairs = side_by_side(made, made.segment, self._target_language)
            flags += dict.fromkeys(flag for pair in pairs for flag in glossary.lost(*pair))
        if self.steps.checks is not None:
            found, confidence = self.steps.checks.judge(made)
            made = replace(made, flags=(*flags, *found), confidence=confidence)
        else:
            made = replace(made, flags=tuple(flags))
        enough = self.steps.leave_below
        if enough is None or made.confidence is None or made.confidence >= enough:
            return made
        return replace(made, segment=None, why_not=DOUBTFUL, rejected=made.segment)


def _bare(unit: Unit) -> Bare:
    plain = Bare(unit.source, "")
    segment, letter = bare(unit.source, unit.accelerator) if unit.accelerator else plain
    return Bare(with_codes_of(suffix_of(Path(unit.file)), segment), letter)


def _of_match(unit: Unit, match: Match) -> Outcome:
    """A memory knows no white space around its texts: the unit's own is put there."""
    origin = MEMORY if match.percent >= 100 else FUZZY
    made = restored(unit.source, stripped(unit.source), stripped(match.target).segment)
    return Outcome(unit, made, origin, match.percent)
