"""Files that can be filled in: what opens each kind, by its suffix."""

from collections.abc import Callable
from pathlib import Path

from headway.core.errors import DataError
from headway.localization.formats import (
    csv_files,
    docx_files,
    html_files,
    markdown_files,
    po,
    qt,
    tables,
    tmx,
    xliff,
)
from headway.localization.formats.file_kinds import suffix_of
from headway.localization.formats.keyed import KINDS
from headway.localization.placeholders.segments import Document

Opener = Callable[[Path, str | None, str | None, bool], Document]
"""From a file, the languages that are asked for, and whether translations are to be replaced."""

FILLERS: dict[str, Opener] = {
    ".po": po.open_document,
    ".tmx": tmx.open_document,
    ".xlf": xliff.open_document,
    ".xliff": xliff.open_document,
    ".sdlxliff": xliff.open_document,
    ".mqxliff": xliff.open_document,
    ".ts": qt.open_document,
    ".csv": csv_files.open_document,
    **KINDS,
    ".html": html_files.open_document,
    ".htm": html_files.open_document,
    ".md": markdown_files.open_document,
    ".docx": docx_files.open_document,
    ".tsv": tables.open_tsv,
    ".jsonl": tables.open_jsonl,
}
"""How each kind of file is opened, by suffix; each may also end in `.gz`."""


def filler_of(path: Path) -> Opener:
    """How a file is opened. Raises DataError for a template, and for a kind that is not known."""
    suffix = suffix_of(path)
    if suffix == ".pot":
        raise DataError(
            f"a template is not filled in, as it belongs to no language; got {path}. "
            "Make a PO file of it: msginit -l LANGUAGE -i F.pot -o F.po"
        )
    if suffix not in FILLERS:
        raise DataError(
            f"a file that is filled in is one of {', '.join(FILLERS)} (or the same with .gz); got "
            f"{path}. Plain text (.txt, no suffix, or a language's, as .de) is translated line by "
            "line, one file at a time. If that is plain text, say so: --as text."
        )
    return FILLERS[suffix]
