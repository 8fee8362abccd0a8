"""What is wrong with a line of text or a pair of lines: mended where possible, dropped where not.

Nothing happens silently: a `Report` counts every pair that was read, kept, mended or dropped, and
`read == kept + sum(dropped.values())` holds at every moment between two pairs.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.errors import ConfigError, DataError, refuse_below
from headway.core.lines import read_lines, shown

VERSION = 11
"""Raised whenever files are read or cleaned to another result: no cache of the old one is used."""
LEAST_PAIRS = 20
"""Fewer teach nothing and leave nothing to validate on."""
EXAMPLES = 3
"""How many pairs of each reason are shown."""
_EXAMPLE_CHARACTERS, _HALF = 120, 60
_MISSING = object()
_ODD = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]|  ")
_LINE_SEPARATORS = "\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_MENDING = (
    ("byte_order_mark", re.compile("\ufeff"), ""),
    ("nul", re.compile("\x00"), ""),
    ("line_separator", re.compile(f"[{_LINE_SEPARATORS}]"), " "),
    ("tab", re.compile("\t"), " "),
    ("control_character", re.compile("[\x00-\x1f\x7f-\x9f]"), ""),
    ("lone_surrogate", re.compile("[\ud800-\udfff]"), ""),
    ("doubled_space", re.compile(r"(?<=\S)  +(?=\S)"), " "),
)


class Pair(NamedTuple):
    """A source text, its translation, and where they stand."""

    source: str
    target: str
    file: str
    line: int
    """Line of the file, from 1."""
    remarks: tuple[str, ...] = ()
    """What the file says of it besides: notes, and `state: NAME` of its review; of a clean pair
    only what says that it is not good."""

    @property
    def origin(self) -> str:
        """The place as `file:line`."""
        return f"{self.file}:{self.line}"


class ShownExample(NamedTuple):
    """One dropped pair, to be shown: its text is cut to 120 characters."""

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class CleaningSettings:
    """Which pairs are refused."""

    max_ratio: float = 5.0
    """The most that a pair may differ in length: (longer + 20) / (shorter + 20), in UTF-8 bytes,
    which suit every script; 0 for any."""
    max_characters: int = 2_000
    """The longest side of a pair that is kept, in characters."""
    deduplicate: bool = True
    """Whether a pair that was there before is dropped."""

    def __post_init__(self) -> None:
        """Raise ConfigError for a value that no pair could satisfy."""
        if self.max_ratio and not self.max_ratio > 1:
            raise ConfigError(
                f"data.max_ratio is more than 1, or 0 for any ratio; got {self.max_ratio}. Try 5."
            )
        refuse_below(self, {"max_characters": 1}, above="data.")


@dataclass
class Report:
    """What was read, kept, dropped, mended and noticed, with examples of what was dropped."""

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    mended: Counter[str] = field(default_factory=Counter)
    noticed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[ShownExample]] = field(default_factory=dict)
    suspicions: list[str] = field(default_factory=list)
    """Where the two sides seem not to belong together."""

    def keep(self, pair: Pair) -> None:
        """Count one clean pair as kept."""
        self.kept += 1
        self.noticed["copy"] += pair.source == pair.target
        for doubted in pair.remarks:
            self.noticed["doubtful_note"] += 1
            text = f"{_shortened(pair)} ||| {doubted[:_HALF]}"
            self.show("doubtful_note", [ShownExample(pair.file, pair.line, text)])

    def drop(self, reason: str, file: str, line: int, text: str) -> None:
        """Count one unit that was read and is not kept."""
        self.dropped[reason] += 1
        self.show(reason, [ShownExample(file, line, text[:_EXAMPLE_CHARACTERS])])

    def drop_pair(self, reason: str, pair: Pair) -> None:
        """Count one pair, showing the beginning of both sides."""
        self.drop(reason, pair.file, pair.line, _shortened(pair))

    def show(self, kind: str, some: list[ShownExample]) -> None:
        """Keep the first of a kind as examples."""
        shown = self.examples.setdefault(kind, [])
        shown += some[: EXAMPLES - len(shown)]

    def drop_kept(self, reason: str, n: int, noticed: Counter[str], pairs: Iterable[Pair]) -> None:
        """Count `n` pairs as dropped that had been kept, and `noticed`; the first are shown."""
        self.kept -= n
        self.noticed -= noticed
        n_dropped = self.dropped[reason] + n
        for pair in islice(pairs, EXAMPLES - len(self.examples.get(reason, []))):
            self.drop_pair(reason, pair)
        self.dropped[reason] = n_dropped

    def dropped_words(self) -> str:
        """How many were dropped for each reason, most first."""
        counts = (f"{n:,} {reason.replace('_', ' ')}" for reason, n in self.dropped.most_common())
        return ", ".join(counts) or "none"

    def as_dict(self) -> dict[str, Any]:
        """Lists and dicts, ready for JSON."""
        shown = {kind: [one._asdict() for one in some] for kind, some in self.examples.items()}
        return {**vars(self), "noticed": dict(+self.noticed), "examples": shown}


def _shortened(pair: Pair) -> str:
    return f"{pair.source[:_HALF]} ||| {pair.target[:_HALF]}"


def clean(text: str, mended: Counter[str] | None = None) -> str:
    """One line of printable NFC text without outer white space or doubled spaces; idempotent.

    Line separators and tabs become spaces; NUL, other control characters, byte order marks and
    halves of surrogate pairs go. `mended` counts what was done, by kind, once a line.
    """
    before, mended = text, Counter() if mended is None else mended
    if _ODD.search(text):
        for kind, pattern, replacement in _MENDING:
            text, n_found = pattern.subn(replacement, text)
            if n_found:
                mended[kind] += 1
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
        mended["not_nfc"] += 1
    stripped = text.strip()
    if text is before and len(stripped) < len(text):
        mended["outer_space"] += 1
    return stripped


def unequal_lines(source: Path, target: Path, counts: tuple[int, int]) -> DataError:
    """For two files that cannot be parallel."""
    return DataError(
        f"line i of one file is the translation of line i of the other; {source} has "
        f"{counts[0]:,} lines, {target} has {counts[1]:,}. Give files of as many lines."
    )


def read_parallel(
    source: Path,
    target: Path,
    report: Report,
    unequal: Callable[[Path, Path, tuple[int, int]], DataError] = unequal_lines,
) -> Iterator[Pair]:
    """Line i of one file with line i of the other, uncleaned; `unequal` words what is refused.
    Raises DataError: a file cannot be read, or one has more lines than the other."""
    sides = (read_lines(path, report.mended) for path in (source, target))
    both = zip_longest(*sides, fillvalue=_MISSING)
    file = shown(source)
    for line, (left, right) in enumerate(both, start=1):
        if left is _MISSING or right is _MISSING:
            more = line + sum(1 for _ in both)
            counts = (more, line - 1) if right is _MISSING else (line - 1, more)
            raise unequal(source, target, counts)
        report.read += 1
        if left is None or right is None:
            long = target if right is None else source
            report.drop("line_too_long", shown(long), line, "")
            continue
        yield Pair(left, right, file, line)  # type: ignore[arg-type]


Judge = Callable[[Pair], tuple[Pair, str]]
"""Of a clean pair with remarks: the pair with those that say it is not good, and why to drop it."""


def clean_pairs(
    pairs: Iterable[Pair], settings: CleaningSettings, report: Report, judge: Judge | None = None
) -> Iterator[Pair]:
    """The pairs worth learning from, cleaned; every other one is counted in `report`.

    Without a `judge` what files remark of their pairs is passed over.
    """
    for source, target, file, line, remarks in pairs:
        left, right = clean(source, report.mended), clean(target, report.mended)
        pair = Pair(left, right, file, line)
        reason = _refusal(left, right, settings)
        if remarks and judge and not reason:
            pair, reason = judge(pair._replace(remarks=remarks))
        if reason:
            report.drop_pair(reason, pair)
        else:
            report.keep(pair)
            yield pair


def _refusal(source: str, target: str, settings: CleaningSettings) -> str:
    if not source or not target:
        return "blank_side"
    if max(len(source), len(target)) > settings.max_characters:
        return "too_long"
    if settings.max_ratio:
        lengths = len(source.encode()) + 20, len(target.encode()) + 20
        if max(lengths) > settings.max_ratio * min(lengths):
            return "length_ratio"
    return ""


def refuse_unusable(report: Report, *, least: int = LEAST_PAIRS) -> None:
    """Raise DataError, with the counts, for too few pairs, or the same text on both sides."""
    if report.kept < least:
        raise DataError(
            f"training needs at least {least} usable pairs; {report.kept} of {report.read} were "
            f"kept (dropped: {report.dropped_words()}). Give more text, or see `headway prepare`."
        )
    if report.noticed["copy"] > 0.9 * report.kept:
        raise DataError(
            f"source and target must differ; in {report.noticed['copy']:,} of {report.kept:,} "
            "pairs they are the same text. Was one file given twice?"
        )


def refuse_unvalidated(report: Report, n_left: int) -> None:
    """Raise DataError where no pair is left to validate on, with the counts that led to it."""
    if not n_left:
        raise DataError(
            f"validation needs a usable pair; none was left (dropped: {report.dropped_words()}). "
            "Give --valid-source and --valid-target whose pairs are kept, or more text."
        )
