"""Files of tagged sentences: a token and its tag on a line, a blank line between sentences.

Columns are parted by tabs, or else by spaces; the first is the token, the last its tag.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from headway.core.errors import DataError
from headway.core.lines import read_lines, shown

DOCUMENT = "-DOCSTART-"
"""A line that begins so stands between two documents, and is no token."""


class TaggedSentence(NamedTuple):
    """Some lines of a file that stand together."""

    tokens: list[str]
    tags: list[str]
    place: str
    """Of its first token, for messages: file and line."""


def columns(line: str) -> list[str]:
    """What a line has side by side: nothing of a blank one, nor between documents."""
    if not line.strip(" \t") or line.startswith(DOCUMENT):
        return []
    return line.split("\t") if "\t" in line else [one for one in line.split(" ") if one]


def read_tagged(files: Sequence[Path]) -> list[TaggedSentence]:
    """All sentences of some files.

    Raises DataError, with file and line, for a token without a tag, and for lines of other columns
    than the file's first.
    """
    return [sentence for path in files for sentence in _sentences(path)]


def _sentences(path: Path) -> Iterator[TaggedSentence]:
    one, width = TaggedSentence([], [], ""), 0
    for number, line in enumerate(read_lines(path), 1):
        row = ["a line of over a megabyte"] if line is None else columns(line)
        if row:
            width, place = width or len(row), f"line {number:,} of {shown(path)}"
            _refuse_damaged(row, width, place)
            one = one if one.tokens else one._replace(place=place)
            one.tokens.append(row[0])
            one.tags.append(row[-1])
        elif one.tokens:
            yield one
            one = TaggedSentence([], [], "")
    if one.tokens:
        yield one
    if not width:
        raise DataError(f"a file of tags has tokens; {shown(path)} has blank lines. Name another.")


def _refuse_damaged(row: Sequence[str], width: int, place: str) -> None:
    if len(row) < 2:
        raise DataError(
            f"a line is a token and its tag, parted by a tab or spaces; {place} has {row[0][:60]!r}"
            " alone. Give each token its tag (O for none)."
        )
    if len(row) != width:
        raise DataError(
            f"all lines of a file have as many columns as its first, {width}; {place} has "
            f"{len(row)}: {' '.join(row)[:60]!r}. Part them by tabs where tokens have spaces."
        )
    if not (row[0].strip() and row[-1].strip()):
        missing = "tag" if row[0].strip() else "token"
        raise DataError(f"no token and no tag is empty; {place} has no {missing}. Put one there.")
