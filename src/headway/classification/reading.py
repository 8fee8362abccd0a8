"""Labelled texts: files to rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from headway.core.errors import DataError
from headway.core.lines import read_lines


class LabelledText(NamedTuple):
    """A line of a file."""

    text: str
    labels: tuple[str, ...]


def read_labelled(files: Sequence[Path]) -> list[LabelledText]:
    """Label TAB text."""
    found = []
    for path in files:
        for number, line in enumerate(read_lines(path), 1):
            if not line:
                continue
            label, tab, text = line.partition("\t")
            if not (label and tab and text):
                raise DataError(
                    f"a line is label TAB text; line {number:,} of {path} is {line[:60]!r}. Put "
                    "a tab between them."
                )
            found.append(LabelledText(text, (label,)))
    return found
