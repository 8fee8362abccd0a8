"""Whole segments from a model that takes a line, or a sentence, at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from headway.localization.formats.branches import branches_of, is_choice
from headway.localization.formats.splitting import joined_translations, lines_of, sentences_of
from headway.localization.placeholders.segments import Segment

AT_ONCE = 128
"""Pieces translated together: enough to be sorted by length, few enough to lose."""

CUT = "cut"
SILENT = "silent"
MISSING = "missing"
CHOICE = "choice"


@runtime_checkable
class Translated(Protocol):
    """What a translator makes of a segment."""

    @property
    def segment(self) -> Segment:
        """The translation, with every code of the source."""

    @property
    def complete(self) -> bool:
        """Every code stands where the model put it."""

    @property
    def n_cut(self) -> int:
        """Sub-words at the end that were too many and were left out."""


class TranslatedPiece(NamedTuple):
    """A line or a sentence, and what the translator made of it."""

    source: Segment
    translated: Translated


class WholeSegment(NamedTuple):
    """A segment translated as a whole, or why it was not."""

    segment: Segment | None
    """None where it could not be translated."""
    complete: bool = True
    """Every code stands where the model put it."""
    why_not: str = ""
    """`CUT`: too long even sentence by sentence; `SILENT`: nothing came out; `MISSING`: not yet;
    `CHOICE`: a message of ICU that cannot be taken apart."""
    pieces: tuple[TranslatedPiece, ...] = ()
    """What the translator was asked for, in order; without blank pieces."""


def may_branch(source: Segment) -> bool:
    """False where `headway.localization.formats.branches` is sure to find no choice; quick."""
    text = source.text
    return "{" in text or "|" in text


class Piecewise:
    """Translates pieces, each different one once, and puts them together again."""

    def __init__(
        self,
        translate: Callable[[list[Segment]], Sequence[Translated]],
        target_language: str | None = None,
        cut: Callable[[Segment], list[Segment]] = lines_of,
    ) -> None:
        """`target_language` is whose plural forms the branches of a choice are to have; `cut` gives
        the pieces of a text, which joined are it, and of which blank ones stay as they are."""
        self._translate, self._target_language = translate, target_language
        self._cut = cut
        self._known: dict[Segment, Translated] = {}

    def run(self, sources: Iterable[Segment]) -> Iterator[tuple[int, int]]:
        """Translate the pieces of all sources, then the sentences of those that were too long.

        Gives (pieces done, all pieces) each time that some are done; what is done by then is kept
        when it is not gone on with.
        """
        lines = self._unknown(
            piece for source in sources for text in self._texts(source) for piece in self._cut(text)
        )
        yield from self._all(lines, 0)
        long = [line for line in lines if self._known[line].n_cut]
        sentences = self._unknown(piece for line in long for piece in sentences_of(line))
        yield from self._all(sentences, len(lines))

    def forget(self, kept: int) -> None:
        """Let go of all pieces but the newest `kept`."""
        for piece in list(self._known)[: max(0, len(self._known) - kept)]:
            del self._known[piece]

    def whole(self, source: Segment) -> WholeSegment:
        """The translation of a source, white space and lines as they were."""
        branches = None
        if may_branch(source):
            branches = branches_of(source, self._target_language)
            if branches is None and is_choice(source):
                return WholeSegment(None, why_not=CHOICE)
        if branches is None:
            return self._joined(self._cut(source), sentences_of)
        found = [self._joined(self._cut(one), sentences_of) for one in branches.sources]
        known = [one.segment for one in found if one.segment is not None]
        if len(known) < len(found):
            return next(one for one in found if one.segment is None)
        segment = branches.together(known)
        if segment is None:
            return WholeSegment(None, why_not=CHOICE)
        pieces = tuple(piece for one in found for piece in one.pieces)
        return WholeSegment(segment, all(one.complete for one in found), pieces=pieces)

    def _texts(self, source: Segment) -> Sequence[Segment]:
        """What of a source is translated: it itself, or the branches of a choice."""
        if not may_branch(source):
            return (source,)
        branches = branches_of(source, self._target_language)
        if branches is None:
            return () if is_choice(source) else (source,)
        return branches.sources

    def _unknown(self, pieces: Iterable[Segment]) -> list[Segment]:
        found = dict.fromkeys(piece for piece in pieces if not piece.blank)
        return [piece for piece in found if piece not in self._known]

    def _all(self, pieces: list[Segment], n_before: int) -> Iterator[tuple[int, int]]:
        for start in range(0, len(pieces), AT_ONCE):
            some = pieces[start : start + AT_ONCE]
            self._known.update(zip(some, self._translate(some), strict=True))
            yield n_before + start + len(some), n_before + len(pieces)

    def _joined(
        self, pieces: list[Segment], split: Callable[[Segment], list[Segment]] | None
    ) -> WholeSegment:
        found = [
            WholeSegment(piece) if piece.blank else self._one(piece, split) for piece in pieces
        ]
        failed = next((one for one in found if one.segment is None), None)
        return failed or WholeSegment(
            joined_translations(
                [
                    (piece, one.segment)
                    for piece, one in zip(pieces, found, strict=True)
                    if one.segment is not None
                ]
            ),
            all(one.complete for one in found),
            pieces=tuple(piece for one in found for piece in one.pieces),
        )

    def _one(
        self, piece: Segment, split: Callable[[Segment], list[Segment]] | None
    ) -> WholeSegment:
        translated = self._known.get(piece)
        if translated is None:
            return WholeSegment(None, why_not=MISSING)
        if translated.n_cut:
            parts = split(piece) if split else [piece]
            return self._joined(parts, None) if len(parts) > 1 else WholeSegment(None, why_not=CUT)
        if not translated.segment.text.strip():
            return WholeSegment(None, why_not=SILENT)
        return WholeSegment(
            translated.segment, translated.complete, pieces=(TranslatedPiece(piece, translated),)
        )
