"""What is wrong with a line of text or a pair of lines: mended where possible, dropped where not.

Nothing happens silently: a `Report` counts every pair that was read, kept, mended or dropped, and
`read == kept + sum(dropped.values())` holds at every moment between two pairs.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from headway.errors import ConfigError, DataError

VERSION = 1
"""Raised whenever cleaning gives another result, so that no cache of the old one is used."""

LEAST_PAIRS = 20
"""Nothing is learned from fewer."""

REASONS = {
    "blank_side": "nothing on one side or both",
    "line_too_long": "a line of more than 1 MiB, which was never read whole",
    "too_long": "more characters than data.max_characters",
    "length_ratio": "one side is absurdly longer than the other (data.max_ratio)",
    "duplicate": "the same source and target were there before",
    "leakage": "its source or target is in the validation set",
    "no_tokens": "no sub-word is left of one side",
    "too_many_tokens": "more sub-words than data.max_length",
    "held_out": "set aside for validation",
    "header": "a first row that names the columns",
    "one_column": "a TSV row without a tab",
    "not_json": "a JSONL line that is no JSON object",
    "missing_language": "nothing in one of the two languages",
    "untranslated": "no translation yet, or not of every plural form",
    "do_not_translate": "marked as not to be translated",
    "fuzzy": "a translation that nobody has gone over yet (fuzzy, machine-made, needs review)",
}
"""Why a pair is dropped, in words."""

MENDED = {
    "byte_order_mark": "a byte order mark removed",
    "crlf": "a Windows line end (CRLF) read as a line end",
    "nul": "NUL bytes removed",
    "line_separator": "an odd line separator (lone CR, VT, FF, NEL, U+2028, U+2029) made a space",
    "tab": "a tab made a space",
    "control_character": "control characters removed",
    "lone_surrogate": "half a surrogate pair removed",
    "not_nfc": "characters composed (Unicode NFC)",
    "outer_space": "white space around the text removed",
}
"""What is put right in a line, in words."""

NOTICED = {
    "copy": "source and target are the same text",
    "extra_columns": "a TSV row with more than two columns, of which the first two are used",
}
"""What is counted and left as it is."""

_LINE_SEPARATORS = "\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_MENDING = (
    ("byte_order_mark", re.compile("\ufeff"), ""),
    ("nul", re.compile("\x00"), ""),
    ("line_separator", re.compile(f"[{_LINE_SEPARATORS}]"), " "),
    ("tab", re.compile("\t"), " "),
    ("control_character", re.compile("[\x00-\x1f\x7f-\x9f]"), ""),
    ("lone_surrogate", re.compile("[\ud800-\udfff]"), ""),
)
_ODD = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
EXAMPLES = 3
"""How many pairs of each reason are shown."""

_EXAMPLE_CHARACTERS = 120


class Pair(NamedTuple):
    """A source text, its translation, and where they stand."""

    source: str
    target: str
    file: str
    line: int
    """Line of the file, from 1."""

    @property
    def origin(self) -> str:
        """The place as `file:line`."""
        return f"{self.file}:{self.line}"


class Example(NamedTuple):
    """One dropped pair, to be shown: its text is cut to 120 characters."""

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class CleaningSettings:
    """Which pairs are refused."""

    max_ratio: float = 5.0
    """(longer + 20) / (shorter + 20), in UTF-8 bytes, which suit every script; 0 for any."""
    max_characters: int = 2_000
    """The longest side allowed."""
    deduplicate: bool = True
    """Whether a pair that was there before is dropped."""

    def __post_init__(self) -> None:
        """Raise ConfigError for a value that no pair could satisfy."""
        if self.max_ratio and not self.max_ratio > 1:
            raise ConfigError(
                f"data.max_ratio is more than 1, or 0 for any ratio; got {self.max_ratio}. Try 5."
            )
        if self.max_characters < 1:
            raise ConfigError(
                f"data.max_characters is at least 1; got {self.max_characters}. Try 2000."
            )


@dataclass
class Report:
    """What was read, kept, dropped, mended and noticed, with examples of what was dropped."""

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    mended: Counter[str] = field(default_factory=Counter)
    noticed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Example]] = field(default_factory=dict)
    suspicions: list[str] = field(default_factory=list)
    """Where the two sides seem not to belong together."""

    def keep(self, pair: Pair) -> None:
        """Count one pair as kept."""
        self.kept += 1
        self.noticed["copy"] += pair.source == pair.target

    def drop(self, reason: str, file: str, line: int, text: str) -> None:
        """Count one unit that was read and is not kept."""
        self.dropped[reason] += 1
        shown = self.examples.setdefault(reason, [])
        if len(shown) < EXAMPLES:
            shown.append(Example(file, line, text[:_EXAMPLE_CHARACTERS]))

    def drop_pair(self, reason: str, pair: Pair) -> None:
        """Count one pair, showing the beginning of both sides."""
        half = _EXAMPLE_CHARACTERS // 2
        self.drop(reason, pair.file, pair.line, f"{pair.source[:half]} ||| {pair.target[:half]}")

    def drop_kept(self, reason: str, pair: Pair) -> None:
        """Count a pair as dropped that had been counted as kept."""
        self.kept -= 1
        self.noticed["copy"] -= pair.source == pair.target
        self.drop_pair(reason, pair)

    def add(self, later: "Report") -> None:
        """Count in what was found in pairs that come after these."""
        self.read += later.read
        self.kept += later.kept
        self.dropped += later.dropped
        self.mended += later.mended
        self.noticed += later.noticed
        for reason, examples in later.examples.items():
            shown = self.examples.setdefault(reason, [])
            shown += examples[: EXAMPLES - len(shown)]
        self.suspicions += later.suspicions

    def move_to_dropped(self, later: "Report") -> None:
        """Count pairs as dropped, by `later`, that had been counted here as kept, and noticed."""
        self.kept -= later.dropped.total()
        self.noticed -= later.noticed
        self.add(replace(later, noticed=Counter()))

    def as_dict(self) -> dict[str, Any]:
        """Plain lists and dicts, ready for JSON."""
        return {
            "read": self.read,
            "kept": self.kept,
            "dropped": dict(self.dropped),
            "mended": dict(self.mended),
            "noticed": dict(+self.noticed),
            "examples": {
                reason: [example._asdict() for example in examples]
                for reason, examples in self.examples.items()
            },
            "suspicions": list(self.suspicions),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Self:
        """Undo `as_dict`."""
        counters = {name: Counter(plain[name]) for name in ("dropped", "mended", "noticed")}
        examples = {
            reason: [Example(**example) for example in examples]
            for reason, examples in plain["examples"].items()
        }
        return cls(**{**plain, **counters, "examples": examples})


def clean(text: str, mended: Counter[str] | None = None) -> str:
    """One line of printable NFC text without outer white space; idempotent.

    Line separators and tabs become spaces; NUL, other control characters, byte order marks and
    halves of surrogate pairs go. `mended` counts what was done, by kind, once a line.
    """
    before = text
    if _ODD.search(text):
        for kind, pattern, replacement in _MENDING:
            text, n_found = pattern.subn(replacement, text)
            if n_found and mended is not None:
                mended[kind] += 1
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
        if mended is not None:
            mended["not_nfc"] += 1
    stripped = text.strip()
    if mended is not None and text is before and len(stripped) < len(text):
        mended["outer_space"] += 1
    return stripped


def clean_pairs(
    pairs: Iterable[Pair], settings: CleaningSettings, report: Report
) -> Iterator[Pair]:
    """The pairs worth learning from, cleaned; every other one is counted in `report`."""
    for source, target, file, line in pairs:
        pair = Pair(clean(source, report.mended), clean(target, report.mended), file, line)
        reason = _refusal(pair, settings)
        if reason:
            report.drop_pair(reason, pair)
            continue
        report.keep(pair)
        yield pair


def _refusal(pair: Pair, settings: CleaningSettings) -> str:
    source, target, *_ = pair
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
    """Refuse to train on fewer than `least` pairs, or on text that is the same on both sides.

    Raises:
        DataError: with the counts that led to it.
    """
    if report.kept < least:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in report.dropped.most_common())
        raise DataError(
            f"training needs at least {least} usable pairs; {report.kept} of {report.read} were "
            f"kept (dropped: {reasons or 'none'}). Give more text, or see `headway prepare`."
        )
    if report.noticed["copy"] > 0.9 * report.kept:
        raise DataError(
            f"source and target must differ; in {report.noticed['copy']:,} of {report.kept:,} "
            "pairs they are the same text. Was one file given twice?"
        )
