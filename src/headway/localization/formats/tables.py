"""Tables of pairs, TSV and JSON lines, read for training line by line."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from headway.core.cleaning import Pair, Report, clean
from headway.core.errors import DataError
from headway.core.lines import read_lines, shown
from headway.languages.codes import Languages, is_language, same_language, suffix_of
from headway.languages.detection import two_letters
from headway.languages.path_languages import is_code


def read_tsv(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """Rows of `source TAB target`; further columns are left out, and nothing is quoted.

    A first row of column names (`source target ..`, or two language codes) is a header; with
    language codes the languages that the user gave decide which is the source.
    """
    source, target, begun = 0, 1, False
    for line, text in enumerate(read_lines(path, report.mended), start=1):
        report.read += 1
        if text is None:
            report.drop("line_too_long", shown(path), line, "")
            continue
        cells = text.split("\t")
        if len(cells) < 2:
            report.drop("one_column" if text.strip() else "blank_side", shown(path), line, text)
            continue
        names, begun = None if begun else header_of(text), begun or bool(text.strip())
        if names:
            source, target = (1, 0) if turned_round(*names, languages) else (0, 1)
            report.drop("header", shown(path), line, text)
            continue
        if len(cells) > 2:
            report.noticed["extra_columns"] += 1
        yield Pair(cells[source], cells[target], shown(path), line)


def read_jsonl(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """One object a line: `{"source": .., "target": ..}`, or exactly two language codes as keys.

    With language codes the languages that the user gave decide which is the source; without them it
    is the first key of the first object. Raises DataError: the first object has other keys.
    """
    keys: tuple[str, str] | None = None
    for line, text in enumerate(read_lines(path, report.mended), start=1):
        report.read += 1
        if text is None:
            report.drop("line_too_long", shown(path), line, "")
            continue
        if not text.strip():
            report.drop("blank_side", shown(path), line, text)
            continue
        entry = json_object(text)
        if entry is None:
            report.drop("not_json", shown(path), line, text)
            continue
        keys = keys or keys_of(entry, path, line, languages)
        source, target = entry.get(keys[0]), entry.get(keys[1])
        if not isinstance(source, str) or not isinstance(target, str):
            report.drop("missing_language", shown(path), line, text)
            continue
        yield Pair(source, target, shown(path), line)


def tsv_languages(path: Path, languages: Languages) -> tuple[str | None, str | None]:
    """Source and target by the header, if it names them."""
    names = header_of(first_line(path)) or ("source", "target")
    return _named(names[::-1] if turned_round(*names, languages) else names)


def jsonl_languages(path: Path, languages: Languages) -> tuple[str | None, str | None]:
    """Source and target by the keys of the first object, if they name them."""
    entry = json_object(first_line(path))
    return _named(keys_of(entry, path, 1, languages) if entry else ("source", "target"))


def json_object(text: str) -> dict[str, object] | None:
    """The object that a line is, if it is one."""
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def keys_of(
    entry: dict[str, object], path: Path, line: int, languages: Languages
) -> tuple[str, str]:
    """The keys of source and target; raises DataError where an object has others."""
    names = list(entry)
    if "source" in names and "target" in names:
        return "source", "target"
    codes = [name for name in names if is_language(name)]
    if len(codes) != 2 or len(names) != 2:
        raise DataError(
            'a JSONL line is {"source": .., "target": ..} or has exactly two language codes as '
            f"keys; {path}:{line} has {', '.join(map(repr, names[:6])) or 'none'}. Rename them."
        )
    first, second = codes
    return (second, first) if turned_round(first, second, languages) else (first, second)


def turned_round(first: str, second: str, languages: Languages) -> bool:
    """Whether the second of two languages in a file is to be translated into the first."""
    return same_language(second, languages.source_language) or same_language(
        first, languages.target_language
    )


def before_of(paths: Iterable[Path]) -> dict[tuple[str, str], str]:
    """What stood there before each pair, by the third column of tables that call it so."""
    found = {}
    for path in paths:
        if suffix_of(path) == ".tsv" and first_line(path).split("\t")[2:3] == ["before"]:
            for text in read_lines(path):
                source, target, before, *_ = (*(text or "").split("\t"), "", "")
                found[clean(source), clean(target)] = clean(before)
    return found


def header_of(row: str) -> tuple[str, str] | None:
    """The two column names, if a TSV row is a header."""
    names = [cell.strip() for cell in row.split("\t")]
    if [name.lower() for name in names[:2]] == ["source", "target"]:
        return "source", "target"
    named = [*map(names_language, names[:2]), *(name.isidentifier() for name in names[2:])]
    differ = len(names) > 1 and names[0].lower() != names[1].lower()
    return (names[0], names[1]) if differ and all(named) else None


def names_language(name: str) -> bool:
    """Whether a column's name is a language: two small letters, or a code that is known, in one
    case (`EN`, `pt-BR`, `deu_Latn`); `Go` and `OK` are words."""
    bare = re.split("[-_]", name)[0]
    known = bare in (bare.lower(), bare.upper()) and is_code(two_letters(bare))
    return known or bool(re.fullmatch(r"[a-z]{2}([-_]\w+)?", name))


def first_line(path: Path) -> str:
    """The first line that is not blank; empty where none is."""
    return next((line for line in read_lines(path) if line and line.strip()), "")


def _named(columns: tuple[str, str]) -> tuple[str | None, str | None]:
    return columns if columns != ("source", "target") else (None, None)
