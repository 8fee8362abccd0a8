"""Files that hold both sides of pairs: what reads each kind, by its suffix."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from headway.errors import DataError
from headway.text.cleaning import Pair, Report
from headway.text.languages import Languages
from headway.text.memories.po import po_languages, read_po
from headway.text.memories.tables import jsonl_languages, read_jsonl, read_tsv, tsv_languages
from headway.text.memories.tmx import read_tmx, tmx_languages
from headway.text.memories.xliff import read_xliff, xliff_languages


class Reader(NamedTuple):
    """How one kind of file is read."""

    pairs: Callable[[Path, Languages, Report], Iterator[Pair]]
    """Counts every unit in `Report.read`, and every refusal by its reason."""
    languages: Callable[[Path, Languages], tuple[str | None, str | None]]
    """What a file says of its languages."""


READERS = {
    ".tsv": Reader(read_tsv, tsv_languages),
    ".jsonl": Reader(read_jsonl, jsonl_languages),
    ".po": Reader(read_po, po_languages),
    ".tmx": Reader(read_tmx, tmx_languages),
    ".xlf": Reader(read_xliff, xliff_languages),
    ".xliff": Reader(read_xliff, xliff_languages),
}
"""The kinds of file that hold both sides, by suffix; each may also end in `.gz`."""


def reader_of(path: Path) -> Reader:
    """How a file is read; raises DataError for a kind that is not known."""
    unpacked = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    suffix = unpacked.suffix.lower()
    if suffix not in READERS:
        raise DataError(
            f"a file of pairs is one of {', '.join(READERS)} (or the same with .gz); got {path}. "
            "Two plain text files go to --source and --target."
        )
    return READERS[suffix]
