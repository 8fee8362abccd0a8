"""Pairs of a text and its translation, from whatever files the user has."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

from headway.errors import ConfigError, DataError
from headway.text.alignment import ShiftDetector
from headway.text.cleaning import Pair, Report
from headway.text.lines import check_file, read_lines

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_NOT_LANGUAGES = frozenset(
    "txt tsv tok raw src tgt trg ref hyp bpe out low lc gz bz xz zip csv tab json".split()
)
_MISSING = object()


@dataclass(frozen=True)
class Corpus:
    """The files that were named: `source[i]` goes with `target[i]`, line by line."""

    source: tuple[Path, ...] = ()
    target: tuple[Path, ...] = ()
    pairs: tuple[Path, ...] = ()
    """Files that hold both sides: see `READERS`."""
    source_language: str | None = None
    target_language: str | None = None
    """As the user gave them; they choose among the keys of a JSONL file."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file, in the order in which they are read."""
        interleaved = chain.from_iterable(zip(self.source, self.target, strict=False))
        return (*interleaved, *self.pairs)

    def check(self) -> None:
        """Refuse what cannot be read, before anything is.

        Raises:
            ConfigError: nothing is named, or one side has more files than the other.
            DataError: a file is missing, empty, a directory, or of an unknown kind.
        """
        if not self.source and not self.target and not self.pairs:
            raise ConfigError(
                "pairs of texts are needed. Give --source F --target F, or --pairs F."
            )
        if len(self.source) != len(self.target):
            raise ConfigError(
                f"each --source file needs its --target file; got {len(self.source)} and "
                f"{len(self.target)}. Name them in the same order."
            )
        for path in self.files:
            check_file(path)
        for path in self.pairs:
            _reader(path)


Reader = Callable[[Path, Corpus, Report], Iterator[Pair]]


def read_pairs(corpus: Corpus, report: Report) -> Iterator[Pair]:
    """Every pair of the corpus as it stands in the files, uncleaned, in order.

    `report.read` counts units (lines) before any choice; what cannot be a pair is counted as
    dropped. Nothing is ever held but the line at hand.

    Raises:
        ConfigError, DataError: as `Corpus.check` and `read_lines`, or the two files of a pair have
            unequal numbers of lines.
    """
    corpus.check()
    for source, target in zip(corpus.source, corpus.target, strict=True):
        yield from _read_parallel(source, target, report)
    for path in corpus.pairs:
        yield from _reader(path)(path, corpus, report)


def _read_parallel(source: Path, target: Path, report: Report) -> Iterator[Pair]:
    both = zip_longest(
        read_lines(source, report.mended), read_lines(target, report.mended), fillvalue=_MISSING
    )
    file = _shown(source)
    for line, (left, right) in enumerate(both, start=1):
        if left is _MISSING or right is _MISSING:
            more = line + sum(1 for _ in both)
            counts = (more, line - 1) if right is _MISSING else (line - 1, more)
            raise DataError(
                f"line n of one file must translate line n of the other; {source} has "
                f"{counts[0]:,} lines and {target} has {counts[1]:,}. Find the line that is "
                f"missing or split{_break(source, target)}, or give the files that belong together."
            )
        report.read += 1
        if left is None or right is None:
            long = target if right is None else source
            report.drop("line_too_long", _shown(long), line, "")
            continue
        yield Pair(left, right, file, line)  # type: ignore[arg-type]


def _break(source: Path, target: Path) -> str:
    """Where the lengths of two files cease to go together, in words, if that can be told."""
    detector = ShiftDetector()
    both = zip(read_lines(source), read_lines(target), strict=False)
    for line, (left, right) in enumerate(both, start=1):
        if left and right:
            detector.add(Pair(left, right, _shown(source), line))
    found = detector.break_between()
    return f" (probably between lines {found[0]:,} and {found[1]:,})" if found else ""


def read_tsv(path: Path, _corpus: Corpus, report: Report) -> Iterator[Pair]:
    """Rows of `source TAB target`; further columns are left out, and nothing is quoted.

    A first row of two column names (`source target`, or two language codes) is a header.
    """
    for line, text in enumerate(read_lines(path, report.mended), start=1):
        report.read += 1
        if text is None:
            report.drop("line_too_long", _shown(path), line, "")
            continue
        cells = text.split("\t")
        if len(cells) < 2:
            report.drop("one_column" if text.strip() else "blank_side", _shown(path), line, text)
            continue
        if line == 1 and _header(text):
            report.drop("header", _shown(path), line, text)
            continue
        if len(cells) > 2:
            report.noticed["extra_columns"] += 1
        yield Pair(cells[0], cells[1], _shown(path), line)


def read_jsonl(path: Path, corpus: Corpus, report: Report) -> Iterator[Pair]:
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
            report.drop("line_too_long", _shown(path), line, "")
            continue
        if not text.strip():
            report.drop("blank_side", _shown(path), line, text)
            continue
        entry = _json_object(text)
        if entry is None:
            report.drop("not_json", _shown(path), line, text)
            continue
        keys = keys or _keys(entry, path, line, corpus)
        source, target = entry.get(keys[0]), entry.get(keys[1])
        if not isinstance(source, str) or not isinstance(target, str):
            report.drop("missing_language", _shown(path), line, text)
            continue
        yield Pair(source, target, _shown(path), line)


READERS: dict[str, Reader] = {".tsv": read_tsv, ".jsonl": read_jsonl}
"""The kinds of file that hold both sides, by suffix; each may also end in `.gz`."""


def _reader(path: Path) -> Reader:
    suffix = _unpacked(path).suffix.lower()
    if suffix not in READERS:
        raise DataError(
            f"a file of pairs is one of {', '.join(READERS)} (or the same with .gz); got {path}. "
            "Two plain text files go to --source and --target."
        )
    return READERS[suffix]


def _shown(path: Path) -> str:
    """A name that can be written as UTF-8, whatever bytes it holds."""
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8")


def _unpacked(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def _json_object(text: str) -> dict[str, object] | None:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _keys(entry: dict[str, object], path: Path, line: int, corpus: Corpus) -> tuple[str, str]:
    names = list(entry)
    if "source" in names and "target" in names:
        return "source", "target"
    codes = [name for name in names if _is_language(name)]
    if len(codes) != 2 or len(names) != 2:
        raise DataError(
            'a JSONL line is {"source": .., "target": ..} or has exactly two language codes as '
            f"keys; {path}:{line} has {', '.join(map(repr, names[:6])) or 'none'}. Rename them."
        )
    first, second = codes
    if _same_language(second, corpus.source_language) or _same_language(
        first, corpus.target_language
    ):
        return second, first
    return first, second


def _header(row: str) -> tuple[str, str] | None:
    """The two column names, if a TSV row is a header."""
    names = [cell.strip() for cell in row.split("\t")]
    if [name.lower() for name in names] == ["source", "target"]:
        return "source", "target"
    codes = len(names) == 2 and all(re.fullmatch(r"[a-z]{2}([-_]\w+)?", name) for name in names)
    return (names[0], names[1]) if codes and names[0] != names[1] else None


def _is_language(name: str) -> bool:
    return bool(_LANGUAGE.fullmatch(name)) and name.lower() not in _NOT_LANGUAGES


def _same_language(code: str, wanted: str | None) -> bool:
    """Case does not matter, and `zh-Hans` answers to `zh`."""
    if wanted is None:
        return False
    one, other = (re.split("[-_]", name.lower()) for name in (code, wanted))
    return one == other or (one[0] == other[0] and 1 in (len(one), len(other)))


def languages(
    corpus: Corpus, source_language: str | None = None, target_language: str | None = None
) -> tuple[str | None, str | None]:
    """What is translated into what: as given, else as the files say, else None.

    Two text files say it by suffix (`a.en`, `train.de.gz`), a TSV by its header, a JSONL by its
    keys.
    """
    named = _languages_by_name(corpus)
    return (
        source_language or corpus.source_language or named[0],
        target_language or corpus.target_language or named[1],
    )


def _languages_by_name(corpus: Corpus) -> tuple[str | None, str | None]:
    if corpus.source and corpus.target:
        suffixes = (_unpacked(side[0]).suffix[1:] for side in (corpus.source, corpus.target))
        source, target = (suffix if _is_language(suffix) else None for suffix in suffixes)
        return source, target
    names: tuple[str, str] | None = None
    if corpus.pairs:
        path = corpus.pairs[0]
        first = next((line for line in read_lines(path) if line and line.strip()), "")
        if _reader(path) is read_tsv:
            names = _header(first)
        elif entry := _json_object(first):
            names = _keys(entry, path, 1, corpus)
    if names is None or names[0] == "source":
        return None, None
    return names
