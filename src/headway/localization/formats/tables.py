"""Tables of pairs, TSV and JSON lines: read for training, and filled in line by line."""

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report, clean
from headway.core.errors import DataError
from headway.core.lines import damage_told, open_bytes, read_lines, shown
from headway.languages.codes import LanguagePair, Languages, same_language
from headway.localization.formats.file_kinds import is_language, suffix_of
from headway.localization.placeholders.segments import Counts, Gap, Segment, among

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_BREAKS = re.compile(r"[\t\r\n]+")
_LINE_END = re.compile(rb"\r?\n?\Z")


def read_tsv(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """Rows of `source TAB target`; further columns are left out, and nothing is quoted.

    A first row of column names (`source target ..`, or two language codes) is a header; with
    language codes the languages that the user gave decide which is the source.
    """
    source, target = 0, 1
    for line, text in enumerate(read_lines(path, report.mended), start=1):
        report.read += 1
        if text is None:
            report.drop("line_too_long", shown(path), line, "")
            continue
        cells = text.split("\t")
        if len(cells) < 2:
            report.drop("one_column" if text.strip() else "blank_side", shown(path), line, text)
            continue
        if line == 1 and (names := header_of(text)):
            source, target = (1, 0) if turned_round(*names, languages) else (0, 1)
            report.drop("header", shown(path), line, text)
            continue
        if len(cells) > 2:
            report.noticed["extra_columns"] += 1
        yield Pair(cells[source], cells[target], shown(path), line)


def read_jsonl(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """One object a line: `{"source": .., "target": ..}`, or exactly two language codes as keys.

    With language codes the languages that the user gave decide which is the source; without them
    it is the first key of the first object.

    Raises:
        DataError: the first object has other keys.
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


class _CellPlace(NamedTuple):
    """Where a translation belongs in a line."""

    line: int
    source: str
    before: str
    """What stands in front of it and behind it."""
    after: str
    there: str
    """The translation that stands there already."""

    @property
    def filled(self) -> bool:
        return bool(self.there.strip())


class TableDocument:
    """A table that can be filled in; see `Document`. There is no mark for what a machine wrote."""

    def __init__(
        self,
        path: Path,
        rows: Iterable[_CellPlace | str],
        written: Callable[[str], str],
        languages: tuple[str | None, str | None],
        *,
        overwrite: bool,
    ) -> None:
        self.source_language, self.target_language = languages
        self._path, self._written = path, written
        self._places: list[_CellPlace] = []
        left: Counter[str] = Counter()
        sources, units = list[str](), list[int]()
        for row in rows:
            sources.append("" if isinstance(row, str) else row.source)
            if isinstance(row, str):
                left[row] += 1
            elif Segment((row.source,)).blank:
                left["blank_side"] += 1
            elif row.filled and not overwrite:
                left["translated"] += 1
            else:
                self._places.append(row)
                units.append(len(sources) - 1)
        self.counts = Counts(len(sources), dict(left))
        gaps = [
            Gap(
                Segment((place.source,)),
                place.line,
                place.filled,
                there=Segment((place.there,)) if place.there.strip() else None,
            )
            for place in self._places
        ]
        self.gaps: Sequence[Gap] = among(gaps, units, sources)

    def can_hold(self, translation: Segment) -> bool:
        """Whether UTF-8 has all of its characters, which are all but halves of surrogate pairs."""
        return translation.text == translation.text.encode(errors="ignore").decode()

    def filled(
        self, translations: Sequence[Segment | None], _percents: Sequence[int | None] = ()
    ) -> bytes:
        """The file with a translation in each gap; see `Document`."""
        with damage_told(self._path), open_bytes(self._path) as file:
            data = file.read()
        mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        lines = _LINE.findall(data.removeprefix(mark))
        for place, translation in zip(self._places, translations, strict=True):
            if translation is not None:
                text = place.before + self._written(translation.text) + place.after
                end = _LINE_END.findall(lines[place.line - 1])[0]
                lines[place.line - 1] = text.encode() + end
        return mark + b"".join(lines)


def open_tsv(
    path: Path, source_language: str | None, target_language: str | None, overwrite: bool
) -> TableDocument:
    """A TSV whose second column is to be filled in, or the one that its header says.

    Raises:
        DataError: as `read_lines`.
    """
    given = LanguagePair(source_language, target_language)
    header = header_of(first_line(path))
    turned = header is not None and turned_round(*header, given)

    def rows() -> Iterator[_CellPlace | str]:
        for line, text in enumerate(read_lines(path), start=1):
            if text is None:
                yield "line_too_long"
            elif line == 1 and header:
                yield "header"
            elif turned:
                target, tab, rest = text.partition("\t")
                source = rest.partition("\t")[0]
                yield _CellPlace(line, source, "", tab + rest, target)
            else:
                source, tab, rest = text.partition("\t")
                target, next_tab, others = rest.partition("\t")
                after = next_tab + others
                yield _CellPlace(line, source, source + "\t", after, target)

    return TableDocument(
        path,
        rows(),
        lambda text: _BREAKS.sub(" ", text),
        tsv_languages(path, given),
        overwrite=overwrite,
    )


def open_jsonl(
    path: Path, source_language: str | None, target_language: str | None, overwrite: bool
) -> TableDocument:
    """JSON lines whose target is to be filled in where it is missing, null or empty.

    Raises:
        DataError: as `read_lines`, or the keys do not tell which text is the source.
    """
    given = LanguagePair(source_language, target_language)
    keys = _keys_to_fill(path, given)

    def rows() -> Iterator[_CellPlace | str]:
        for line, text in enumerate(read_lines(path), start=1):
            if text is None:
                yield "line_too_long"
            elif not text.strip():
                yield "blank_side"
            elif (entry := json_object(text)) is None:
                yield "not_json"
            elif not isinstance(source := entry.get(keys[0]), str):
                yield "missing_language"
            else:
                yield _json_place(line, text, source, keys[1], entry.get(keys[1]))

    return TableDocument(
        path,
        rows(),
        lambda text: json.dumps(text, ensure_ascii=False),
        _named(keys),
        overwrite=overwrite,
    )


def _keys_to_fill(path: Path, given: LanguagePair) -> tuple[str, str]:
    """As `keys_of`, but the object may lack its target."""
    first = ((n, json_object(text or "")) for n, text in enumerate(read_lines(path), start=1))
    line, entry = next(((n, entry) for n, entry in first if entry is not None), (1, {}))
    if "source" in entry or not entry:
        return "source", "target"
    sources = [name for name in entry if same_language(name, given.source_language)]
    targets = [name for name in entry if same_language(name, given.target_language)]
    if len(sources) == 1 and given.target_language and len(targets) < 2:
        return sources[0], (*targets, given.target_language)[0]
    return keys_of(entry, path, line, given)


def _json_place(line: int, text: str, source: str, key: str, target: object) -> _CellPlace:
    """Where the value of a key stands in an object, or where it can be added."""
    spans = json_spans(text)
    if key in spans:
        start, end = spans[key]
        there = "" if target is None else target if isinstance(target, str) else text[start:end]
        return _CellPlace(line, source, text[:start], text[end:], there)
    end = max(end for _, end in spans.values())
    return _CellPlace(line, source, f"{text[:end]}, {json.dumps(key)}: ", text[end:], "")


def json_spans(text: str) -> dict[str, tuple[int, int]]:
    """Beginning and end of each value of a JSON object that has some."""
    spans: dict[str, tuple[int, int]] = {}
    decoder = json.JSONDecoder()

    def behind_space(position: int) -> int:
        while text[position] in " \t\r":
            position += 1
        return position

    position = text.index("{")
    while text[position] != "}":
        name, position = decoder.raw_decode(text, behind_space(position + 1))
        start = behind_space(behind_space(position) + 1)  # behind the colon
        _, end = decoder.raw_decode(text, start)
        spans[name] = start, end
        position = behind_space(end)
    return spans


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
    codes = len(names) == 2 and all(re.fullmatch(r"[a-z]{2}([-_]\w+)?", name) for name in names)
    return (names[0], names[1]) if codes and names[0] != names[1] else None


def first_line(path: Path) -> str:
    """The first line that is not blank; empty where none is."""
    return next((line for line in read_lines(path) if line and line.strip()), "")


def _named(columns: tuple[str, str]) -> tuple[str | None, str | None]:
    return columns if columns != ("source", "target") else (None, None)
