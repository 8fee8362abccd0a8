"""Files that hold both sides of pairs: what reads each kind, by its suffix."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report
from headway.core.errors import DataError
from headway.languages.codes import Languages
from headway.localization.formats.csv_files import csv_languages, read_csv
from headway.localization.formats.file_kinds import KEYED, no_plain_text, suffix_of
from headway.localization.formats.po import po_languages, read_po
from headway.localization.formats.qt import qt_languages, read_qt
from headway.localization.formats.tables import jsonl_languages, read_jsonl, read_tsv, tsv_languages
from headway.localization.formats.tmx import read_tmx, tmx_languages
from headway.localization.formats.xliff import read_xliff, xliff_languages


class Reader(NamedTuple):
    pairs: Callable[[Path, Languages, Report], Iterator[Pair]]
    """Counts every unit in `Report.read`, and every refusal by its reason."""
    languages: Callable[[Path, Languages], tuple[str | None, str | None]]
    """What a file says of its languages."""


READERS = {
    ".csv": Reader(read_csv, csv_languages),
    ".tsv": Reader(read_tsv, tsv_languages),
    ".jsonl": Reader(read_jsonl, jsonl_languages),
    ".po": Reader(read_po, po_languages),
    ".ts": Reader(read_qt, qt_languages),
    ".tmx": Reader(read_tmx, tmx_languages),
    ".xlf": Reader(read_xliff, xliff_languages),
    ".xliff": Reader(read_xliff, xliff_languages),
    ".sdlxliff": Reader(read_xliff, xliff_languages),
    ".mqxliff": Reader(read_xliff, xliff_languages),
}
"""The kinds of file that hold both sides, by suffix; each may also end in `.gz`."""


def reader_of(path: Path, *, side: bool = False) -> Reader:
    """How a file of pairs is read.

    Raises:
        DataError: its kind is not known; or it is to be one `side` of pairs, and holds both.
    """
    suffix = suffix_of(path)
    if side and suffix != ".ts":  # of a side, that may be the code of Tsonga
        if suffix not in READERS:
            raise no_plain_text(path)
        raise DataError(
            f"--source and --target are files of one language each; {path} is of a kind that holds "
            "both. Give it as --pairs."
        )
    if suffix not in READERS:
        raise DataError(
            f"a file of pairs is one of {', '.join(READERS)} (or the same with .gz); got {path}. "
            "Two plain text files go to --source and --target, and so do two files of one language "
            f"each with the same keys ({', '.join(KEYED)})."
        )
    return READERS[suffix]
