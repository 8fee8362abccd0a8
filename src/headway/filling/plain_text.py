"""Plain text as a file that is filled in: as many lines come out as go in."""

from collections.abc import Sequence
from itertools import starmap
from pathlib import Path

from headway.core.lines import read_lines
from headway.filling.rows import MADE_BLANK
from headway.localization.placeholders.segments import Gap, Segment, gaps_and_counts


class TextDocument:
    """Each line with words is a gap, which its translation takes the place of; see `Document`."""

    source_language: str | None = None
    target_language: str | None = None

    def __init__(self, path: Path) -> None:
        lines = list(read_lines(path))
        self._lines = [line or "" for line in lines]
        self.gaps, self.counts = gaps_and_counts(list(starmap(_unit, enumerate(lines, start=1))))

    def can_hold(self, translation: Segment) -> bool:
        """Whether UTF-8 has all of its characters, which are all but halves of surrogate pairs."""
        return translation.text == translation.text.encode(errors="ignore").decode()

    def filled(
        self, translations: Sequence[Segment | None], _percents: Sequence[int | None] = ()
    ) -> bytes:
        """The translated lines; one that is left is blank, one without words is as it was."""
        lines = list(self._lines)
        for gap, translation in zip(self.gaps, translations, strict=True):
            text = "" if translation is None else translation.text
            lines[gap.line - 1] = text.replace("\n", " ")
        return "".join(f"{line}\n" for line in lines).encode(errors="replace")


def _unit(number: int, line: str | None) -> tuple[str, Sequence[Gap], str]:
    text = Segment((line or "",))
    if line is None or text.blank:
        return line or "", (), MADE_BLANK if line is None else "blank_side"
    return line, (Gap(text, number),), ""


def open_text(
    path: Path, _source_language: str | None, _target_language: str | None, _overwrite: bool
) -> TextDocument:
    """A file of text, one sentence or more a line.

    Raises:
        DataError: as `read_lines`.
    """
    return TextDocument(path)
