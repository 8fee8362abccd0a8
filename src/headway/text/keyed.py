"""Two files of one language each: pairs of the texts that have the same key."""

from collections.abc import Callable, Iterator
from pathlib import Path

from headway.errors import DataError
from headway.text.cleaning import Pair, Report
from headway.text.formats import json_files, properties, resx, strings_files, subtitles
from headway.text.language_names import named_language
from headway.text.lines import KEYED, shown, suffix_of

Texts = Callable[[Path], Iterator[tuple[str, str, int, tuple[str, ...]]]]
"""Of a file: each text with its key, its line, and what is said of it."""

KINDS: dict[str, Texts] = {
    ".json": json_files.read_texts,
    ".arb": json_files.read_texts,
    ".properties": properties.read_texts,
    ".strings": strings_files.read_texts,
    ".resx": resx.read_texts,
    ".srt": subtitles.read_texts,
    ".vtt": subtitles.read_texts,
}
"""By suffix; each may also end in `.gz`."""


def read_keyed(source: Path, target: Path, report: Report) -> Iterator[Pair]:
    """Each text of the source with the one of the same key, in the order of the source.

    Of subtitles the key is the time. A key that stands several times is paired in order.

    Raises:
        DataError: the target is of another kind, or as its reader.
    """
    of_target: dict[str, list[str]] = {}
    for key, text, *_ in texts_of(target)(target):
        of_target.setdefault(key, []).append(text)
    file = shown(source)
    for key, text, line, remarks in texts_of(source)(source):
        report.read += 1
        found = of_target.get(key)
        translation = found.pop(0) if found else None
        if translation is None or not translation.strip():
            reason = "missing_language" if translation is None else "untranslated"
            report.drop(reason if text.strip() else "blank_side", file, line, text)
        else:
            yield Pair(text, translation, file, line, remarks)


def language_of(path: Path) -> str | None:
    """The language that an ARB file says it is in; of other kinds, what its name says."""
    return json_files.arb_language(path) if suffix_of(path) == ".arb" else named_language(path)


def texts_of(path: Path) -> Texts:
    """How a file of one language is read; raises DataError for a kind that is none."""
    suffix = suffix_of(path)
    if suffix not in KINDS:
        raise DataError(
            f"a file of one language goes with another of such a kind "
            f"({', '.join(KEYED)}); got {path}. Give both in the same format."
        )
    return KINDS[suffix]
