"""Glossaries from files: tables (.tsv, .csv), and TBX, term base exchange, of versions 2 and 3."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from headway.core.disk import write_text
from headway.core.errors import DataError
from headway.core.lines import read_lines, shown
from headway.corpora.corpus import Corpus, languages
from headway.languages.codes import LanguagePair, is_language, same_language, suffix_of
from headway.localization.formats.xml_encoding import utf8_chunks
from headway.localization.formats.xml_events import XmlUnits
from headway.localization.terms.glossary import SAME, Glossary, GlossaryRow

_COLUMNS = ("source", "target", "comment", "forms")
_OTHER_NAMES = {
    "term": "source", "translation": "target",
    **dict.fromkeys(("comments", "note", "notes", "description"), "comment"),
}  # fmt: skip
_CONCEPTS = ("termEntry", "conceptEntry")
_NOTES = ("note", "descrip")
_REFUSED = ("deprecatedTerm", "supersededTerm")
"""Statuses of terms that are not to be used: `administrativeStatus`, `normativeAuthorization`."""


def read_terms(corpus: Corpus, files: Sequence[Path]) -> Glossary:
    """The glossary of a corpus, in its languages; raises DataError where it cannot be read."""
    own = corpus.source_language, corpus.target_language
    return read_glossary(files, *(languages(corpus, *own) if corpus.parts else own))


def read_glossary(
    paths: Sequence[Path], source_language: str | None, target_language: str | None
) -> Glossary:
    """The terms of some files (.tsv, .csv, .tbx; each also .gz), taken together.

    The languages say which column, or which terms of a TBX, are meant, where the file names them.

    Raises DataError: a file is of another kind or cannot be read, is for other languages, has
    no terms, or contradicts itself or another one.
    """
    readers: dict[str, Callable[[Path, LanguagePair], Iterator[GlossaryRow]]]
    readers = {".tsv": _read_tsv, ".csv": _read_csv, ".tbx": _read_tbx}
    wanted, rows = LanguagePair(source_language, target_language), list[GlossaryRow]()
    for path in paths:
        suffix = suffix_of(path)
        if suffix not in readers:
            raise DataError(
                f"a glossary is a .tsv, .csv or .tbx file; got {shown(path)}. "
                "Write one term a line: source, a tab, target; and name it .tsv."
            )
        found = list(readers[suffix](path, wanted))
        if not found:
            raise DataError(f"a glossary has at least one term; {shown(path)} has none.")
        rows += found
    return Glossary.of(rows, ", ".join(shown(path) for path in paths))


def write_tsv(path: Path, glossary: Glossary) -> None:
    lines = ["\t".join(_COLUMNS)]
    for term in glossary.terms:
        target, forms = _cell(term.targets) or SAME, _cell(term.forms)
        lines.append("\t".join((term.source, target, term.comment, forms)))
    write_text(path, "".join(f"{line}\n" for line in lines))


def _cell(variants: Iterable[str]) -> str:
    return "|".join(one.replace("|", "\\|") for one in variants)


# -- tables ------------------------------------------------------------------------------------


def _read_tsv(path: Path, wanted: LanguagePair) -> Iterator[GlossaryRow]:
    """Rows of `source TAB target TAB comment TAB forms`; nothing is quoted."""
    cells = ((n, line.split("\t")) for n, line in _lines(path))
    return _read_rows(path, cells, wanted, "tab")


def _read_csv(path: Path, wanted: LanguagePair) -> Iterator[GlossaryRow]:
    """The same with commas, or with semicolons where the first row has more of them; a cell may be
    quoted."""
    first = next((line for _, line in _lines(path) if line.strip()), "")
    delimiter = ";" if first.count(";") > first.count(",") else ","
    reader = csv.reader((line for _, line in _lines(path)), delimiter=delimiter, strict=True)

    def cells() -> Iterator[tuple[int, list[str]]]:
        line = 1
        try:
            for row in reader:
                yield line, row
                line = reader.line_num + 1
        except csv.Error as error:
            raise DataError(
                f"a .csv file quotes a cell as a whole; {shown(path)}:{line} does not ({error}). "
                'Write "" for a quotation mark inside quotes.'
            ) from None

    return _read_rows(path, cells(), wanted, "comma or semicolon")


def _read_rows(
    path: Path,
    cells: Iterable[tuple[int, Sequence[str]]],
    wanted: LanguagePair,
    delimiter: str,
) -> Iterator[GlossaryRow]:
    """Terms by column; a first row of names (`source`, `target`, .., or languages) is a header.

    A row of one cell is a term that is not translated.

    Raises DataError: the header lacks the languages asked for, or nothing seems to part the
    columns.
    """
    columns: dict[str, int] = {name: n for n, name in enumerate(_COLUMNS)}
    rows = [(line, row) for line, row in cells if any(cell.strip() for cell in row)]
    alone = [row[0] for _, row in rows if len(row) == 1]
    if rows and (named := _header(rows[0][1])):
        columns = _by_name(named, wanted, f"{shown(path)}:{rows[0][0]}")
        del rows[0]
    elif len(alone) == len(rows) < 2 * sum(any(sign in one for sign in ",;\t") for one in alone):
        raise DataError(
            f"the columns of a glossary are parted by a {delimiter}; {shown(path)} has none. "
            "Name it by what parts them: .tsv for tabs, .csv for commas and semicolons."
        )
    for line, row in rows:
        values = {name: row[n] for name, n in columns.items() if n < len(row)}
        cells_of = {name: values.get(name, "") for name in _COLUMNS}
        yield GlossaryRow(**cells_of, place=f"{shown(path)}:{line}")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    for n, line in enumerate(read_lines(path), start=1):
        if line is None:
            raise DataError(
                f"a line of a glossary has a few words; line {n:,} of {shown(path)} is longer than "
                "a megabyte. Is it a glossary?"
            )
        yield n, line


def _header(row: Sequence[str]) -> list[str] | None:
    names = [cell.strip().lower() for cell in row]
    names = [_OTHER_NAMES.get(name, name) for name in names]
    if "source" in names and ("target" in names or len(names) == 1):
        return names
    codes = [name for name in names[:2] if is_language(name) and len(name.split("-")[0]) == 2]
    others = all(name in _COLUMNS for name in names[2:])
    return names if len(codes) == 2 and others and codes[0] != codes[1] else None


def _by_name(names: Sequence[str], wanted: LanguagePair, place: str) -> dict[str, int]:
    """Which column holds what; languages in the header are asked for by name."""
    found = {name: n for n, name in enumerate(names) if name in _COLUMNS}
    if "source" in found:
        return found
    for n, (side, language) in enumerate(zip(("source", "target"), wanted, strict=True)):
        fits = [at for at, name in enumerate(names[:2]) if same_language(name, language)]
        if language and not fits:
            raise DataError(
                f"a glossary is for the languages of the run; {place} names "
                f"{names[0]} and {names[1]}, and the run's {side} language is {language}. "
                "Give another glossary."
            )
        found[side] = fits[0] if fits else n
    if found["source"] == found["target"]:
        found["source"] = 1 - found["target"]
    return found


# -- TBX ---------------------------------------------------------------------------------------


class _Concept(NamedTuple):
    line: int
    terms: list[tuple[str, str]]
    """Language and term."""
    notes: list[str]


def _read_tbx(path: Path, wanted: LanguagePair) -> Iterator[GlossaryRow]:
    """The terms of each concept in the two languages; several of one language are variants.

    Without languages they are the first two that the file has. Deprecated and superseded terms are
    left out.

    Raises DataError: it is no TBX, or has no terms in one of the languages.
    """
    concepts = list(_concepts(path))
    names = list(dict.fromkeys(name for concept in concepts for name, _ in concept.terms))
    chosen: list[list[str]] = []
    for side, language in zip(("source", "target"), wanted, strict=True):
        free = [name for name in names if not any(name in one for one in chosen)]
        found = [name for name in free if language is None or same_language(name, language)]
        if not found:
            raise DataError(
                f"a glossary has terms in both languages of the run; {shown(path)} has "
                f"{', '.join(names) or 'none'} for its {side} side, and {language or 'some'} is "
                "asked for. Give another glossary."
            )
        chosen.append(found if language else found[:1])
    for concept in concepts:
        sources, targets = ([text for name, text in concept.terms if name in of] for of in chosen)
        if sources and targets:
            notes, place = "; ".join(concept.notes), f"{shown(path)}:{concept.line}"
            yield GlossaryRow(sources[0], _cell(targets), notes, _cell(sources[1:]), place)


def _concepts(path: Path) -> Iterator[_Concept]:
    head = next(iter(utf8_chunks(path)), b"")[:4096]
    root, texts = "tbx" if b"<tbx" in head else "martif", ("term", "termNote", *_NOTES)
    for concept in XmlUnits(path, root, _CONCEPTS, texts).read(utf8_chunks(path)):
        terms: list[tuple[str, str]] = []
        for side in concept.inner("langSet", "langSec"):
            for one in side.below():
                if one.name == "term" and one.note:
                    terms.append((side.attributes.get("xml:lang", ""), one.note))
                elif one.name == "termNote" and one.note.startswith(_REFUSED):
                    del terms[-1:]
        around = concept.inner("descripGrp", *_NOTES)
        notes = [one.note for top in around for one in (top, *top.below()) if one.name in _NOTES]
        yield _Concept(concept.line, terms, [note for note in notes if note])
