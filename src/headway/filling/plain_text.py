"""Plain text as a file that is filled in: as many lines come out as go in."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from headway.core.lines import read_lines
from headway.filling.rows import MADE_BLANK
from headway.localization.placeholders.segments import Counts, Gap, Segment


class TextDocument:
    """Each line with words is a gap, which its translation takes the place of; see `Document`."""

    source_language: str | None = None
    target_language: str | None = None

    def __init__(self, path: Path) -> None:
        lines = list(read_lines(path))
        left = Counter(MADE_BLANK if line is None else "blank_side" for line in lines)
        self._lines = [line or "" for line in lines]
        texts = [Segment((line,)) for line in self._lines]
        self._numbers = [n for n, text in enumerate(texts, start=1) if not text.blank]
        left["blank_side"] -= len(self._numbers)
        self.counts = Counts(len(lines), {reason: n for reason, n in left.items() if n})
        self.gaps: Sequence[Gap] = [
            Gap(
                texts[n - 1],
                n,
                before=self._lines[n - 2] if n > 1 else "",
                after=self._lines[n] if n < len(lines) else "",
            )
            for n in self._numbers
        ]

    def can_hold(self, translation: Segment) -> bool:
        """Whether UTF-8 has all of its characters, which are all but halves of surrogate pairs."""
        return translation.text == translation.text.encode(errors="ignore").decode()

    def filled(
        self, translations: Sequence[Segment | None], _percents: Sequence[int | None] = ()
    ) -> bytes:
        """The translated lines; one that is left is blank, one without words is as it was."""
        lines = list(self._lines)
        for number, translation in zip(self._numbers, translations, strict=True):
            text = "" if translation is None else translation.text
            lines[number - 1] = text.replace("\n", " ")
        return "".join(f"{line}\n" for line in lines).encode(errors="replace")


def open_text(
    path: Path, _source_language: str | None, _target_language: str | None, _overwrite: bool
) -> TextDocument:
    """A file of text, one sentence or more a line.

    Raises:
        DataError: as `read_lines`.
    """
    return TextDocument(path)
