"""Whole segments from a model that takes a line, or a sentence, at a time."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from headway.text.memories.segments import Segment
from headway.text.memories.splitting import joined, lines_of, sentences_of

AT_ONCE = 128
"""Pieces translated together: enough to be sorted by length, few enough to lose."""

CUT = "cut"
SILENT = "silent"
MISSING = "missing"
CHOICE = "choice"

_CHOICE = re.compile(r"\{\s*[\w.-]+\s*,\s*(?:plural|select|selectordinal)\s*,")
"""The beginning of an ICU message, whose branches are no text to be reordered."""


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


class Whole(NamedTuple):
    """A segment translated as a whole, or why it was not."""

    segment: Segment | None
    """None where it could not be translated."""
    complete: bool = True
    """Every code stands where the model put it."""
    why_not: str = ""
    """`CUT`: too long even sentence by sentence; `SILENT`: nothing came out; `MISSING`: not yet;
    `CHOICE`: an ICU message, whose keywords and braces a model does not know."""


class Piecewise:
    """Translates pieces, each different one once, and puts them together again."""

    def __init__(self, translate: Callable[[list[Segment]], Sequence[Translated]]) -> None:
        self._translate = translate
        self._known: dict[Segment, Translated] = {}

    def run(self, sources: Iterable[Segment]) -> Iterator[tuple[int, int]]:
        """Translate the lines of all sources, then the sentences of lines that were too long.

        Gives (pieces done, all pieces) each time that some are done; what is done by then is kept
        when it is not gone on with.
        """
        lines = self._unknown(
            piece for source in sources if not _chooses(source) for piece in lines_of(source)
        )
        yield from self._all(lines, 0)
        long = [line for line in lines if self._known[line].n_cut]
        sentences = self._unknown(piece for line in long for piece in sentences_of(line))
        yield from self._all(sentences, len(lines))

    def whole(self, source: Segment) -> Whole:
        """The translation of a source, white space and lines as they were."""
        if _chooses(source):
            return Whole(None, why_not=CHOICE)
        return self._joined(lines_of(source), sentences_of)

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
    ) -> Whole:
        found = [Whole(piece) if piece.blank else self._one(piece, split) for piece in pieces]
        failed = next((one for one in found if one.segment is None), None)
        return failed or Whole(
            joined(one.segment for one in found if one.segment is not None),
            all(one.complete for one in found),
        )

    def _one(self, piece: Segment, split: Callable[[Segment], list[Segment]] | None) -> Whole:
        translated = self._known.get(piece)
        if translated is None:
            return Whole(None, why_not=MISSING)
        if translated.n_cut:
            parts = split(piece) if split else [piece]
            return self._joined(parts, None) if len(parts) > 1 else Whole(None, why_not=CUT)
        if not translated.segment.text.strip():
            return Whole(None, why_not=SILENT)
        return Whole(translated.segment, translated.complete)


def _chooses(source: Segment) -> bool:
    return bool(_CHOICE.search(source.text))
