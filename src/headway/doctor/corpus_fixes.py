"""Write a corpus again with some pairs left out and others mended; every other byte stays.

What is written beside it, a table of changes, says all that was done.
"""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.entities import html5
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report, clean_pairs
from headway.core.dedup_split import text_hashes
from headway.corpora.corpus import Corpus, CorpusFiles, read_pairs
from headway.corpora.remarks import doubt
from headway.corpora.settings import NotedCleaning
from headway.corpora.shifts import NEAR, Shift
from headway.languages.mojibake import repaired
from headway.languages.scripts import UNSPACED_SCRIPTS
from headway.localization.placeholders.patterns import find
from headway.localization.places import LocatedUnit, Places

FIXES = {
    "mojibake": "UTF-8 that was read as Windows-1252 is put right",
    "entities": "HTML entities become the characters that they stand for",
    "white_space": "one space where there were several; in plain files none at the ends",
    "not_nfc": "characters are composed (Unicode NFC)",
    "invisible": "zero-width spaces that part no words, soft hyphens and byte order marks go",
}
"""What can be mended, in words."""

_WITHOUT_SPACES = "".join(UNSPACED_SCRIPTS[one] for one in ("THAI", "LAO", "MYANMAR", "KHMER"))
_INVISIBLE = re.compile(
    "[\xad\u2060\ufeff]"
    rf"|(?<![{_WITHOUT_SPACES}])\u200b(?![{_WITHOUT_SPACES}])"
    "|(?<![\u1800-\u18af])\u180e"  # Mongolian parts a vowel off with it
)
_SPACES = re.compile(r"(?<=\S)[^\S\r\n]{2,}(?=\S)")
DropReasons = Mapping[tuple[str, int, int], frozenset[str]]
"""By file, line and hash of both clean sides: what a pair is to be dropped for."""


def without_white_space(text: str) -> str:
    """Neither at the ends nor several spaces in a row; line ends inside stay, and so does a single
    space of any kind: French has one that does not break before its signs."""
    lines = (with_single_spaces(line.strip()) for line in text.split("\n"))
    return "\n".join(lines).strip()


def with_single_spaces(text: str) -> str:
    """Between words one space; the ends, which may stand beside a tag, stay."""
    return _SPACES.sub(" ", text)


def without_entities(text: str) -> str:
    """`&quot;` as `"`, also where it was escaped twice; other codes, and addresses, stay."""
    for _ in range(2):
        for start, end, kind in reversed(find(text)):
            if kind == "entity":
                text = text[:start] + _character(text[start:end]) + text[end:]
    return text


def _character(entity: str) -> str:
    """What it stands for; white space as a space, so that a line stays one."""
    name = entity[1:]
    character = html.unescape(entity) if name.startswith("#") else html5.get(name, entity)
    return " " if character.isspace() else character


_MENDS: dict[str, Callable[[str], str]] = {
    "mojibake": lambda text: repaired(text) or text,
    "entities": without_entities,
    "not_nfc": lambda text: unicodedata.normalize("NFC", text),
    "invisible": lambda text: _INVISIBLE.sub("", text),
    "white_space": without_white_space,
}


@dataclass
class Changes:
    """What is to be done, and afterwards what was."""

    drop: frozenset[str]
    """Reasons and findings for which pairs are left out."""
    fix: frozenset[str]
    """Of `FIXES`."""
    drop_reasons: DropReasons = field(default_factory=dict)
    shifted: Sequence[Shift] = ()
    n_dropped: Counter[str] = field(default_factory=Counter)
    n_fixed: Counter[str] = field(default_factory=Counter)
    n_multilingual: int = 0
    """Of what was dropped: units of a TMX that were in other languages as well."""
    n_kept: int = 0
    n_left: Counter[str] = field(default_factory=Counter)
    """Units that are kept although training leaves them out, by reason."""


class CorpusFix(NamedTuple):
    """One thing that was done to a unit."""

    what: str
    """`dropped` or `fixed`."""
    kinds: str
    file: str
    line: int
    before: tuple[str, str]
    after: tuple[str, str]


def pair_key(pair: Pair) -> tuple[str, int, int]:
    """What tells a clean pair from all others that are not the same."""
    (number,) = text_hashes([f"{pair.source}\t{pair.target}"]).tolist()
    return pair.file, pair.line, number


class _Event(NamedTuple):
    """What the reader and cleaning make of a unit: a clean pair, or why there is none."""

    line: int
    reason: str
    pair: Pair | None
    texts: tuple[str, str] = ("", "")
    """Of one that is none."""


class _DropRecorder(Report):
    """Also keeps what was dropped since it was last asked."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[_Event] = []

    def drop(self, reason: str, file: str, line: int, text: str) -> None:
        self.events.append(_Event(line, reason, None, (text, "")))
        super().drop(reason, file, line, text)

    def drop_pair(self, reason: str, pair: Pair) -> None:
        super().drop_pair(reason, pair)
        self.events[-1] = self.events[-1]._replace(texts=(pair.source, pair.target))


def events(corpus: Corpus, settings: NotedCleaning) -> Iterator[_Event]:
    """What becomes of each unit of a corpus of one part, in the order of its file."""
    heard = _DropRecorder()
    for pair in read_pairs(corpus, heard):
        cleaned = list(clean_pairs((pair,), settings, heard, settings.judge))
        yield from heard.events
        heard.events.clear()
        yield from (_Event(pair.line, "", clean) for clean in cleaned)
    yield from heard.events


def written(
    part: CorpusFiles,
    corpus: Corpus,
    settings: NotedCleaning,
    places: Places,
    changes: Changes,
    reasons: Iterator[str],
    note: Callable[[CorpusFix], None],
) -> Iterator[tuple[bytes, ...]]:
    """The part's files anew, piece by piece: [files] of bytes.

    `reasons` says of each clean pair, in order, why it is none of the corpus, or nothing.
    """
    told = events(corpus, settings)
    for unit in places.units(part.files, corpus):
        if not unit.line:
            yield unit.before
            return
        event = next(told)
        assert event.line == unit.line, "places and readers count alike"
        reason = event.reason or next(reasons)
        pair = event.pair._replace(file=part.name) if event.pair else None
        texts = (pair.source, pair.target) if pair else event.texts
        kinds = _why_dropped(reason, pair, changes)
        if unit.raw[0] and kinds:
            note(CorpusFix("dropped", kinds, part.name, unit.line, texts, ("", "")))
            changes.n_dropped[kinds] += 1
            changes.n_multilingual += unit.raw[0].count(b"</tuv>") > 2
            yield unit.before
            continue
        fixed, done = _fixed(unit, changes.fix, places) if pair else (unit, [])
        for kind in done:
            changes.n_fixed[kind] += 1
        changes.n_kept += 1
        if reason and unit.raw[0]:
            changes.n_left[reason] += 1
        if done:
            before, after = _texts(unit), _texts(fixed)
            note(CorpusFix("fixed", " ".join(done), part.name, unit.line, before, after))
        yield tuple(b + raw for b, raw in zip(unit.before, fixed.raw, strict=True))


def _why_dropped(reason: str, pair: Pair | None, changes: Changes) -> str:
    """The kinds for which a unit is left out."""
    if reason:
        return reason if reason in changes.drop else ""
    if pair is None:
        return ""
    found = changes.drop_reasons.get(pair_key(pair), frozenset())
    if any(
        one.first.file == pair.file and one.first.line - NEAR <= pair.line <= one.last.line + NEAR
        for one in changes.shifted
    ):
        found |= {"misaligned"}
    found |= {"doubtful_note"} if pair.remarks and doubt(pair.remarks) else set()
    return " ".join(sorted(found & changes.drop))


def _fixed(unit: LocatedUnit, fix: frozenset[str], places: Places) -> tuple[LocatedUnit, list[str]]:
    """The unit with its texts mended, and what was mended."""
    done: list[str] = []
    for kind, mend in _MENDS.items():
        if kind not in fix:
            continue
        inside = kind == "white_space" and not places.whole
        for n in (0, 1):
            cell = (unit.source, unit.target)[n]
            old = unit.content(cell) if cell else b""
            new = places.mended(old, with_single_spaces if inside else mend)
            if cell and new != old:
                done += [kind] if kind not in done else []
                unit = unit.with_content(cell, new)
    return unit, done


def _texts(unit: LocatedUnit) -> tuple[str, str]:
    """What stands in the cells now, as the file writes it."""
    source, target = (
        unit.content(cell).decode("utf-8", "replace") if cell else ""
        for cell in (unit.source, unit.target)
    )
    return source, target


def output_files(part: CorpusFiles, out: Path, *, alone: bool) -> tuple[Path, ...]:
    """Where a part is written: `out` itself, if it is the only one and one file; else in there."""
    if alone and len(part.files) == 1:
        return (out,)
    return tuple(out / path.name for path in part.files)
