"""Scores and other translations of a unit, from what the model said of its pieces."""

from collections.abc import Sequence
from dataclasses import replace
from heapq import nlargest
from typing import Any, NamedTuple, Protocol, runtime_checkable

from headway.localization.formats.piecewise import TranslatedPiece
from headway.localization.formats.units import Flag, Outcome, SegmentAlternative, Unit
from headway.localization.placeholders.accelerators import bare, unmarked
from headway.localization.placeholders.codes import check, parsed
from headway.localization.placeholders.own_codes import OwnPattern
from headway.localization.placeholders.segments import Segment

TOO_WIDE = "too_wide"


@runtime_checkable
class PieceCandidate(Protocol):
    """A text that a model wrote for a piece."""

    @property
    def target(self) -> str:
        """The text."""

    @property
    def score(self) -> float:
        """Log-probability divided by the length penalty."""


class _Pick(NamedTuple):
    score: float
    picks: tuple[int, ...]


def ranked(made: Outcome) -> Outcome:
    """With its score and, where a model gave several, the n best by the sum of their scores.

    Of a piece whose codes were put back only the best is known.
    """
    pieces = [(piece.translated.segment.text, _alternatives(piece)) for piece in made.evidence]
    if made.segment is None or not pieces or not all(scored for _, scored in pieces):
        return made
    score = sum(scored[0].score for _, scored in pieces)
    n_best = max(len(scored) for _, scored in pieces)
    choices = [_Pick(0.0, ())]
    for best, scored in pieces:
        known = scored if scored[0].target.strip() == best.strip() else scored[:1]
        longer = [
            _Pick(choice.score + one.score, (*choice.picks, n))
            for choice in choices
            for n, one in enumerate(known)
        ]
        choices = nlargest(n_best, longer, key=lambda choice: choice.score)
    best_text = made.segment.text
    bests = [best for best, _ in pieces]
    found = [SegmentAlternative(made.segment, score)]
    for choice in choices:
        instead = [chosen(piece).text for piece in _picked(made, choice.picks)]
        text = _instead(best_text, bests, instead)
        if text is not None and text != best_text:
            found.append(SegmentAlternative(Segment((text,)), choice.score, choice.picks))
    return replace(made, score=score, n_best=tuple(found[:n_best]) if n_best > 1 else ())


def fitted(made: Outcome, own: Sequence[OwnPattern] = ()) -> Outcome:
    """The best translation that has the room it needs and all codes; a flag where none has.

    Codes of the file take no room. `own` are patterns of codes besides those of every text.
    """
    width, segment = made.unit.width, made.segment
    if width is None or segment is None or width.fits(text := _bare(segment)):
        return made
    for other in made.n_best[1:]:
        fits = width.fits(other.segment.text) and not segment.codes
        if fits and _keeps_codes(made.unit, other.segment, own):
            evidence = tuple(_picked(made, other.picks))
            return replace(made, segment=other.segment, score=other.score, evidence=evidence)
    why = f"at most {width.most} ({width.unit}) are allowed, and it has {len(text)} characters"
    return replace(made, flags=(*made.flags, Flag(TOO_WIDE, 1.0, why)))


def chosen(piece: TranslatedPiece) -> Segment:
    """What stands in the whole for a piece."""
    if not piece.picked:
        return piece.translated.segment
    return Segment((_alternatives(piece)[piece.picked].target,))


def _picked(made: Outcome, picks: Sequence[int]) -> list[TranslatedPiece]:
    return [piece._replace(picked=n) for piece, n in zip(made.evidence, picks, strict=True)]


def _keeps_codes(unit: Unit, target: Segment, own: Sequence[OwnPattern]) -> bool:
    """Whether just the codes that the source has in its text are in a translation."""
    both = bare(unit.source, unit.accelerator).segment, unmarked(target, unit.accelerator)
    return check(*(parsed(one, own) for one in both)).complete


def _bare(segment: Segment) -> str:
    return "".join(part for part in segment.parts if isinstance(part, str))


def _alternatives(piece: TranslatedPiece) -> Sequence[PieceCandidate]:
    """What the model wrote for a piece that it read at once; nothing where it does not say."""
    parts: Any = getattr(piece.translated, "parts", ())
    return parts[0].n_best if len(parts) == 1 else ()


def _instead(text: str, old: Sequence[str], new: Sequence[str]) -> str | None:
    """A text with other pieces in the place of some; None where they are not in it, in order."""
    written, start = "", 0
    for before, after in zip(old, new, strict=True):
        place = text.find(before, start)
        if place < 0:
            return None
        written += text[start:place] + after
        start = place + len(before)
    return written + text[start:]
