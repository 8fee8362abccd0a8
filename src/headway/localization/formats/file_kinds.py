"""The kinds of files that are read or filled in, by the suffix of their names."""

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.cleaning import Pair, Report
from headway.core.errors import DataError
from headway.languages.codes import Languages, suffix_of


class FileKind(NamedTuple):
    """What knows one kind of file: "module:name", imported when it is used; ".po" is po.py here."""

    document: str
    """Opens it to be filled in: an `Opener`. Empty for a kind that is only read."""
    pairs: str = ""
    """Of a kind that holds both sides, what reads its pairs."""
    languages: str = ""
    """Of such a kind, what it says of its languages."""
    keyed: bool = False
    """Whether it holds texts of one language by their keys: see `keyed.py`."""


_XLIFF = FileKind(".xliff:open_document", ".xliff:read_xliff", ".xliff:xliff_languages")
FILE_KINDS = {
    ".po": FileKind(".po:open_document", ".po:read_po", ".po:po_languages"),
    ".tmx": FileKind(".tmx:open_document", ".tmx:read_tmx", ".tmx:tmx_languages"),
    ".xlf": _XLIFF,
    ".xliff": _XLIFF,
    ".ts": FileKind(".qt:open_document", ".qt:read_qt", ".qt:qt_languages"),
    ".csv": FileKind(".csv_files:open_document", ".csv_files:read_csv", ".csv_files:csv_languages"),
    ".json": FileKind(".json_files:open_document", keyed=True),
    ".arb": FileKind(".json_files:open_arb", keyed=True),
    ".properties": FileKind(".key_values:open_properties", keyed=True),
    ".strings": FileKind(".key_values:open_strings", keyed=True),
    ".resx": FileKind(".resx:open_document", keyed=True),
    ".srt": FileKind(".subtitles:open_document", keyed=True),
    ".vtt": FileKind(".subtitles:open_document", keyed=True),
    ".xml": FileKind(".android:open_document", keyed=True),
    ".yml": FileKind(".yaml_files:open_document", keyed=True),
    ".yaml": FileKind(".yaml_files:open_document", keyed=True),
    ".html": FileKind(".html_files:open_document"),
    ".htm": FileKind(".html_files:open_document"),
    ".md": FileKind(".markdown_files:open_document"),
    ".docx": FileKind(".docx_files:open_document"),
    ".tsv": FileKind(".csv_files:open_tsv", ".tables:read_tsv", ".tables:tsv_languages"),
    ".jsonl": FileKind("", ".tables:read_jsonl", ".tables:jsonl_languages"),
}
"""Every kind that is read or filled in, by suffix; each may also end in `.gz`."""
NO_TEXT = frozenset(
    ".7z .adoc .css .dita .doc .docm .docx .epub .go .htm .html .idml .ini .ipynb .java .js .jsx "
    ".latex .md .mdx .mqxliff .odp .ods .odt .pdf .php .pot .ppt .pptx .py .rst .rtf "
    ".sdlxliff .sgm .sgml .sql .stringsdict .svg .tbx .tex .toml .tsx .vue .xcstrings .xhtml .xls "
    ".xlsx .zip".split()
)
"""Kinds of documents: as lines of plain text they would come out destroyed."""


def paired() -> list[str]:
    """Kinds that hold both sides of pairs."""
    return [suffix for suffix, kind in FILE_KINDS.items() if kind.pairs]


def keyed() -> list[str]:
    """Kinds that hold texts of one language by their keys."""
    return [suffix for suffix, kind in FILE_KINDS.items() if kind.keyed]


def is_plain_text(path: Path) -> bool:
    """Whether a file is of no kind that is known, and so translated line by line."""
    return suffix_of(path) not in {*FILE_KINDS, *NO_TEXT}


def no_plain_text(path: Path) -> DataError:
    """For a document among what is read line by line."""
    return DataError(
        "what is read line by line is plain text (.txt, no suffix, or a language's, as .de); got "
        f"{path}, whose markup would be taken for text. Take the text out of it; if it is plain "
        "text, give it a name that says so."
    )


class Reader(NamedTuple):
    """How one kind of file that holds both sides is read."""

    pairs: Callable[[Path, Languages, Report], Iterator[Pair]]
    """Counts every unit in `Report.read`, and every refusal by its reason."""
    languages: Callable[[Path, Languages], tuple[str | None, str | None]]
    """What a file says of its languages."""


def reader_of(path: Path, *, side: bool = False) -> Reader:
    """How a file of pairs is read.

    Raises DataError: its kind is not known; or it is to be one `side` of pairs, and holds both.
    """
    suffix = suffix_of(path)
    if side and suffix != ".ts":  # of a side, that may be the code of Tsonga
        if suffix not in paired():
            raise no_plain_text(path)
        raise DataError(
            f"--source and --target are files of one language each; {path} is of a kind that holds "
            "both. Give it as --pairs."
        )
    if suffix not in paired():
        raise DataError(
            f"a file of pairs is one of {', '.join(paired())} (or the same with .gz); got {path}. "
            "Two plain text files go to --source and --target, and so do two files of one language "
            f"each with the same keys ({', '.join(keyed())})."
        )
    return Reader(_found(FILE_KINDS[suffix].pairs), _found(FILE_KINDS[suffix].languages))


Opener = Callable[..., Any]
"""From a file, the languages that are asked for, and whether translations are to be replaced, to a
`headway.localization.formats.documents.Document`."""


def opener_of(path: Path) -> Opener:
    """How a file that is filled in is opened.

    Raises DataError for a template, and for a kind that is not known.
    """
    suffix = suffix_of(path)
    if suffix == ".pot":
        raise DataError(
            f"a template is not filled in, as it belongs to no language; got {path}. "
            "Make a PO file of it: msginit -l LANGUAGE -i F.pot -o F.po"
        )
    kinds = [name for name, kind in FILE_KINDS.items() if kind.document]
    if suffix not in kinds:
        raise DataError(
            f"a file that is filled in is one of {', '.join(kinds)} (or the same with .gz); "
            f"got {path}. Plain text (.txt, no suffix, or a language's, as .de) is translated line "
            "by line, one file at a time. If that is plain text, say so: --as text."
        )
    opener: Opener = _found(FILE_KINDS[suffix].document)
    return opener


def _found(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module, __package__), name)
