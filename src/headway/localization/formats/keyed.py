"""Two files of one language each: pairs of the texts that have the same key."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from headway.core.cleaning import Pair, Report
from headway.core.errors import ConfigError, DataError
from headway.core.lines import shown
from headway.languages.codes import suffix_of
from headway.localization.formats.documents import Document, KeyedText
from headway.localization.formats.file_kinds import keyed, opener_of

OF_DEVELOPERS = "source comment: "
"""What a note begins with that says nothing of the translation."""


def read_keyed(source: Path, target: Path, report: Report) -> Iterator[Pair]:
    """Each text of the source with the one of the same key, in the order of the source.

    Of subtitles the key is the time. A key that stands several times is paired in order. Raises
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
            notes = tuple(OF_DEVELOPERS + remark for remark in remarks)
            yield Pair(text, translation, file, line, notes)


def language_of(path: Path) -> str | None:
    """The language that a file says it is in, else what its name says."""
    return _opened(path).source_language


def texts_of(path: Path) -> Sequence[KeyedText]:
    """Every text of a file of one language; raises DataError for a kind that is none."""
    return _opened(path).texts


def _opened(path: Path, target_language: str | None = None, *more: Any) -> Document:
    if suffix_of(path) not in keyed():
        raise DataError(
            f"a file of one language goes with another of such a kind "
            f"({', '.join(keyed())}); got {path}. Give both in the same format."
        )
    opened: Document = opener_of(path)(path, None, target_language, False, *more)
    return opened


def completed(document: Document, file: Path, onto: Path) -> Document:
    """The source file `file`, opened as `document`, with the texts of `onto` by their keys.

    A text that is the source's own is not known: files are often begun as copies.

    Raises:
        ConfigError: `file` is not of one language, or `onto` is of another kind.
        DataError: `onto` cannot be read.
    """
    kinds = [suffix_of(path) for path in (file, onto)]
    if kinds[0] not in keyed() or kinds[0] != kinds[1]:
        raise ConfigError(
            f"--onto completes the target file of a source file of the same kind "
            f"({', '.join(keyed())}); got {file} and {onto}. Other kinds hold both sides, "
            "and what is empty in them is filled in without it."
        )
    own = {key: text for key, text, *_ in document.texts}
    of_onto = {key: text for key, text, *_ in texts_of(onto)}
    known = {key: text for key, text in of_onto.items() if text.strip() and text != own.get(key)}
    if kinds[0] in (".srt", ".vtt"):  # sentences go over cues, of which some are known
        document = _opened(file, document.target_language, known)
    return document.completed(known)
