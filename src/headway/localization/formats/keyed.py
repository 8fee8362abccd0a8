"""Two files of one language each: pairs of the texts that have the same key."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from headway.core.cleaning import Pair, Report
from headway.core.errors import DataError
from headway.core.lines import shown
from headway.localization.formats import (
    android,
    json_files,
    properties,
    resx,
    strings_files,
    subtitles,
    yaml_files,
)
from headway.localization.formats.file_kinds import KEYED, suffix_of
from headway.localization.formats.spans import Keyed, SpanDocument

Opener = Callable[[Path, str | None, str | None, bool], SpanDocument]
"""From a file, the languages that are asked for, and whether translations are to be replaced."""

KINDS: dict[str, Opener] = {
    ".json": json_files.open_document,
    ".arb": json_files.open_arb,
    ".properties": properties.open_document,
    ".strings": strings_files.open_document,
    ".resx": resx.open_document,
    ".srt": subtitles.open_document,
    ".vtt": subtitles.open_document,
    ".xml": android.open_document,
    ".yml": yaml_files.open_document,
    ".yaml": yaml_files.open_document,
}
"""By suffix; each may also end in `.gz`."""


def read_keyed(source: Path, target: Path, report: Report) -> Iterator[Pair]:
    """Each text of the source with the one of the same key, in the order of the source.

    Of subtitles the key is the time. A key that stands several times is paired in order.

    Raises:
        DataError: the target is of another kind, or as its reader.
    """
    of_target: dict[str, list[str]] = {}
    for key, text, *_ in texts_of(target):
        of_target.setdefault(key, []).append(text)
    file = shown(source)
    for key, text, line, remarks in texts_of(source):
        report.read += 1
        found = of_target.get(key)
        translation = found.pop(0) if found else None
        if translation is None or not translation.strip():
            reason = "missing_language" if translation is None else "untranslated"
            report.drop(reason if text.strip() else "blank_side", file, line, text)
        else:
            yield Pair(text, translation, file, line, remarks)


def language_of(path: Path) -> str | None:
    """The language that a file says it is in, else what its name says."""
    return _opened(path).source_language


def texts_of(path: Path) -> Sequence[Keyed]:
    """Every text of a file of one language; raises DataError for a kind that is none."""
    return _opened(path).texts


def _opened(path: Path) -> SpanDocument:
    suffix = suffix_of(path)
    if suffix not in KINDS:
        raise DataError(
            f"a file of one language goes with another of such a kind "
            f"({', '.join(KEYED)}); got {path}. Give both in the same format."
        )
    return KINDS[suffix](path, None, None, False)
