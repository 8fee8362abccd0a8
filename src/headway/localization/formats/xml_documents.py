"""What files of XML with texts at known places share when they are filled in."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from headway.localization.formats.xml_edits import Edit, edited
from headway.localization.formats.xml_encoding import Contents
from headway.localization.placeholders.segments import Counts, Gap, Segment, among, with_percents

Translations = Sequence[tuple[Segment | None, int | None]]
"""For each gap of a unit a translation, and the percentage of its match if a memory had it."""


class XmlUnit(NamedTuple):
    """A unit of a file of XML, and what translations of its gaps change in the file."""

    source: str
    gaps: Sequence[Gap] = ()
    reason: str = ""
    """Why it has no gaps."""
    edits: Callable[[Translations], list[Edit]] = lambda _: []


class XmlDocument:
    """A file of XML to be filled in; see `Document`."""

    def __init__(
        self,
        contents: Contents,
        units: Sequence[XmlUnit],
        languages: tuple[str | None, str | None],
    ) -> None:
        self.source_language, self.target_language = languages
        self._contents, self._units = contents, units
        numbers = [number for number, unit in enumerate(units) for _ in unit.gaps]
        gaps = [gap for unit in units for gap in unit.gaps]
        self.gaps: Sequence[Gap] = among(gaps, numbers, [unit.source for unit in units])
        left = Counter(unit.reason for unit in units if unit.reason)
        self.counts = Counts(len(units), dict(left))

    def can_hold(self, _translation: Segment) -> bool:
        """Always: XML writes by number what the encoding lacks."""
        return True

    def filled(
        self, translations: Sequence[Segment | None], percents: Sequence[int | None] = ()
    ) -> bytes:
        """See `Document.filled`."""
        edits: list[Edit] = []
        given = iter(with_percents(translations, percents))
        for unit in self._units:
            some = list(islice(given, len(unit.gaps)))
            if any(translation is not None for translation, _ in some):
                edits += unit.edits(some)
        return self._contents.restored(edited(self._contents.data, edits))
