"""The kinds of file that a cleaned corpus can be written in."""

from pathlib import Path

from headway.core.errors import DataError
from headway.localization.formats.file_kinds import keyed, suffix_of
from headway.localization.places.held import Places, mended_text
from headway.localization.places.line_places import (
    jsonl_units,
    mended_json,
    mended_row,
    parallel_units,
    tsv_units,
)
from headway.localization.places.tmx_places import mended_xml, restored, tmx_units

TWO_FILES = Places(parallel_units, mended_text)
PLACES = {
    ".tsv": Places(tsv_units, mended_row),
    ".jsonl": Places(jsonl_units, mended_json),
    ".tmx": Places(tmx_units, mended_xml, whole=False, restored=restored),
}
"""By suffix; each may also end in `.gz`."""


def places_of(files: tuple[Path, ...]) -> Places:
    """How a part of a corpus is taken apart; raises DataError for a kind that is only read."""
    suffix = suffix_of(files[0])
    if len(files) == 2 and suffix not in keyed():
        return TWO_FILES
    if len(files) == 2 or suffix not in PLACES:
        raise DataError(
            f"--drop and --fix write two text files or one of {', '.join(PLACES)}; got "
            f"{files[0]}. Convert it to one of these, or leave them out."
        )
    return PLACES[suffix]
