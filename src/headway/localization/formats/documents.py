"""A file in memory whose units are filled in by edits of its bytes: PO, TMX, XLIFF, Qt."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from headway.localization.placeholders.segments import Gap, Segment, gaps_and_counts, with_percents

Translations = Sequence[tuple[Segment | None, int | None]]
"""For each gap of a unit a translation, and the percentage of its match if a memory had it."""


class Edit(NamedTuple):
    """Bytes from `start` up to `end` become `written`."""

    start: int
    end: int
    written: bytes


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """All edits done; no two of them may overlap, and those at one place stay in order."""
    pieces, position = list[bytes](), 0
    for start, end, written in sorted(edits, key=lambda edit: edit[:2]):
        assert position <= start <= end, "edits overlap"
        pieces += data[position:start], written
        position = end
    return b"".join((*pieces, data[position:]))


class EditableUnit(NamedTuple):
    """A unit of a file, and what translations of its gaps change in the file."""

    source: str
    gaps: Sequence[Gap] = ()
    reason: str = ""
    """Why it has no gaps."""
    edits: Callable[[Translations], list[Edit]] = lambda _: []


class EditableDocument:
    def __init__(
        self,
        data: bytes,
        restored: Callable[[bytes], bytes],
        units: Sequence[EditableUnit],
        languages: tuple[str | None, str | None],
        *,
        also: Sequence[Edit] = (),
        can_hold: Callable[[Segment], bool] = lambda _: True,
    ) -> None:
        """`restored` makes the file's own bytes of `data`; with any translation come `also`.

        XML can hold everything: it writes by number what its encoding lacks.
        """
        self.source_language, self.target_language = languages
        self.can_hold = can_hold
        self._data, self._restored, self._units, self._also = data, restored, units, also
        self.gaps, self.counts = gaps_and_counts([unit[:3] for unit in units])

    def filled(
        self, translations: Sequence[Segment | None], percents: Sequence[int | None] = ()
    ) -> bytes:
        edits: list[Edit] = []
        given = iter(with_percents(translations, percents))
        for unit in self._units:
            some = list(islice(given, len(unit.gaps)))
            if any(translation is not None for translation, _ in some):
                edits += unit.edits(some)
        return self._restored(edited(self._data, [*edits, *(self._also if edits else ())]))
