"""Glossaries as tables: tab- and comma-separated columns."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from headway.core.disk import write_text
from headway.core.errors import DataError
from headway.core.lines import read_lines, shown
from headway.languages.codes import same_language
from headway.localization.formats.file_kinds import is_language
from headway.localization.terms.glossary import SAME, Glossary, GlossaryRow

_COLUMNS = ("source", "target", "comment", "forms")
_OTHER_NAMES = {
    "comments": "comment",
    "note": "comment",
    "notes": "comment",
    "description": "comment",
    "term": "source",
    "translation": "target",
}


def read_tsv(
    path: Path, source_language: str | None, target_language: str | None
) -> Iterator[GlossaryRow]:
    """Rows of `source TAB target TAB comment TAB forms`; nothing is quoted. See `read_rows`."""
    cells = ((n, line.split("\t")) for n, line in _lines(path))
    return read_rows(path, cells, source_language, target_language, "tab")


def write_tsv(path: Path, glossary: Glossary) -> None:
    def cell(variants: Iterable[str]) -> str:
        return "|".join(one.replace("|", "\\|") for one in variants)

    lines = ["\t".join(_COLUMNS)]
    for term in glossary.terms:
        target, forms = cell(term.targets) or SAME, cell(term.forms)
        lines.append("\t".join((term.source, target, term.comment, forms)))
    write_text(path, "".join(f"{line}\n" for line in lines))


def read_csv(
    path: Path, source_language: str | None, target_language: str | None
) -> Iterator[GlossaryRow]:
    """The same with commas, or with semicolons where the first row has more of them; a cell may be
    quoted. See `read_rows`."""
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

    return read_rows(path, cells(), source_language, target_language, "comma or semicolon")


def read_rows(
    path: Path,
    cells: Iterable[tuple[int, Sequence[str]]],
    source_language: str | None,
    target_language: str | None,
    delimiter: str,
) -> Iterator[GlossaryRow]:
    """Terms by column; a first row of names (`source`, `target`, .., or languages) is a header.

    A row of one cell is a term that is not translated.

    Raises:
        DataError: the header lacks the languages asked for, or nothing seems to part the columns.
    """
    columns: dict[str, int] = {name: n for n, name in enumerate(_COLUMNS)}
    n_rows = n_alone = n_other = 0
    for line, row in cells:
        if not any(cell.strip() for cell in row):
            continue
        if n_rows == 0 and (named := _header(row)):
            columns = _by_name(named, source_language, target_language, f"{shown(path)}:{line}")
            n_rows += 1
            continue
        n_rows += 1
        n_alone += len(row) == 1
        n_other += len(row) == 1 and any(sign in row[0] for sign in ",;\t")
        values = dict.fromkeys(_COLUMNS, "")
        values |= {name: row[n] for name, n in columns.items() if n < len(row)}
        cells_of = {name: values[name] for name in _COLUMNS}
        yield GlossaryRow(**cells_of, place=f"{shown(path)}:{line}")
    if n_alone == n_rows and n_other > n_rows / 2:
        raise DataError(
            f"the columns of a glossary are parted by a {delimiter}; {shown(path)} has none. "
            "Name it by what parts them: .tsv for tabs, .csv for commas and semicolons."
        )


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


def _by_name(
    names: Sequence[str], source_language: str | None, target_language: str | None, place: str
) -> dict[str, int]:
    """Which column holds what; languages in the header are asked for by name."""
    found = {name: n for n, name in enumerate(names) if name in _COLUMNS}
    if "source" in found:
        return found
    sides = {"source": source_language, "target": target_language}
    for n, (side, wanted) in enumerate(sides.items()):
        fits = [at for at, name in enumerate(names[:2]) if same_language(name, wanted)]
        if wanted and not fits:
            raise DataError(
                f"a glossary is for the languages of the run; {place} names "
                f"{names[0]} and {names[1]}, and the run's {side} language is {wanted}. "
                "Give another glossary."
            )
        found[side] = fits[0] if fits else n
    if found["source"] == found["target"]:
        found["source"] = 1 - found["target"]
    return found
