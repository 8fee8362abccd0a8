"""TMX, translation memory exchange (1.1 to 1.4b): read for training, and filled in."""

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report
from headway.core.errors import ConfigError
from headway.core.lines import shown
from headway.languages.codes import LanguagePair, Languages, folded, same_language
from headway.localization.formats.documents import (
    Edit,
    EditableDocument,
    EditableUnit,
    Translations,
)
from headway.localization.formats.inline import (
    END_TAG,
    START_TAG,
    Gathered,
    InlineText,
    Role,
    as_xml,
    element_end,
    element_with,
)
from headway.localization.formats.xml_edits import indentation, line_end, opened, with_attributes
from headway.localization.formats.xml_encoding import read_contents, utf8_chunks
from headway.localization.formats.xml_events import XmlEvents
from headway.localization.placeholders.segments import (
    EXACT,
    Gap,
)
from headway.version import __version__

MEMORY = "TM!"
"""The user who took a variant over from a memory that had the very text."""
MACHINE = "MT!"
"""The user who wrote a variant, if that was a machine; an entry that bears it is not learned from
before somebody has gone over it."""

_STATE = re.compile("status|state|confirmation", re.IGNORECASE)
"""In the `type` of a `prop` that says how far a translation has come."""

_LOOKED_AT = 1_000
"""Units that are looked at for the languages of a file."""
_NO_SEGMENT = Gathered((), False), -1, -1


class Variant(NamedTuple):
    """A unit in one language: `tuv`."""

    language: str
    machine_made: bool
    start: int
    end: int
    """Byte at which its end tag begins."""
    seg: Gathered
    seg_start: int
    """Byte at which its `seg` begins; -1 where it has none."""
    seg_end: int
    remarks: tuple[str, ...] = ()


class TmxUnit(NamedTuple):
    """What stands in several languages: `tu`."""

    line: int
    source_language: str
    """`srclang` of the unit or else of the file; empty where it is any."""
    variants: list[Variant]
    key: str
    """Its `tuid`."""
    remarks: list[str]
    dates: list[str]
    """When it, and each variant of it, was changed or else created."""


class TmxSides:
    """Which variants of a unit are the two sides."""

    def __init__(self, source: str | None, target: str | None) -> None:
        self._wanted = source, target
        self._places = lru_cache(maxsize=1_000)(self._chosen)

    def of(self, unit: TmxUnit) -> tuple[Variant | None, Variant | None]:
        """The nearest to each language, the first of equals; no variant is both."""
        variants = unit.variants
        source, target = self._places(tuple([variant.language for variant in variants]))
        return (
            None if source is None else variants[source],
            None if target is None else variants[target],
        )

    def _chosen(self, languages: tuple[str, ...]) -> tuple[int | None, int | None]:
        """Places of the two among the languages of a unit."""
        chosen: list[int | None] = [None, None]
        reached = [0, 0]
        for place, language in enumerate(languages):
            near = [_nearness(language, wanted) for wanted in self._wanted]
            for side in (0, 1) if near[0] >= near[1] else (1, 0):
                if near[side] > reached[side]:
                    chosen[side], reached[side] = place, near[side]
                    break
        return chosen[0], chosen[1]


def _nearness(language: str, wanted: str | None) -> int:
    """2 for the same language, 1 for the same with or without a region, 0 for another."""
    if wanted is None or language.lower() != wanted.lower():
        return int(same_language(language, wanted))
    return 2


class TmxUnits:
    """Gathers the units of a file while its events come in."""

    def __init__(self, path: Path, data: bytes = b"") -> None:
        self._events = XmlEvents(path, "tmx")
        self._events.tell(self._start, self._end)
        self._parser = self._events.parser
        self._inline = InlineText(self._events, _role, data)
        self._file_language = ""
        self._unit: TmxUnit | None = None
        self._complete: list[TmxUnit] = []
        self._segment = _NO_SEGMENT
        self._seg_start = -1
        self._remarks: list[str] = []
        self._remark: list[str] | None = None
        self._before_remark = ""

    def read(self, chunks: Iterable[bytes]) -> Iterator[TmxUnit]:
        for _ in self._events.run(chunks):
            complete, self._complete = self._complete, []
            yield from complete

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._inline.active:
            self._inline.start(name, attributes)
        elif name == "seg":
            if self._unit is not None:
                self._seg_start = self._parser.CurrentByteIndex
                self._inline.begin()
        elif name == "tuv":
            self._variant = attributes, self._parser.CurrentByteIndex
            self._segment = _NO_SEGMENT
            self._remarks = []
            self._add_date(attributes)
        elif name == "tu":
            self._events.unit_begins()
            language = attributes.get("srclang", self._file_language)
            language = "" if language == "*all*" else language
            self._remarks = []
            key = attributes.get("tuid", "")
            self._unit = TmxUnit(self._events.line, language, [], key, self._remarks, [])
            self._add_date(attributes)
        elif name == "note" and self._unit is not None:
            self._begin_remark("")
        elif name == "prop" and _STATE.search(attributes.get("type", "")):
            self._begin_remark("state: ")
        elif name == "header":
            self._file_language = attributes.get("srclang", "")

    def _add_date(self, attributes: Mapping[str, str]) -> None:
        if self._unit is not None:
            date = attributes.get("changedate") or attributes.get("creationdate", "")
            self._unit.dates.append(date)

    def _end(self, name: str) -> None:
        if self._inline.active:
            segment = self._inline.end()
            if segment is not None:
                self._segment = segment, self._seg_start, self._parser.CurrentByteIndex
        elif self._remark is not None:
            self._end_remark(self._remark)
        elif name == "tuv":
            if self._unit is not None:
                self._end_variant(self._unit)
        elif name == "tu" and self._unit is not None:
            self._complete.append(self._unit)
            self._unit = None
            self._events.unit_ends()

    def _begin_remark(self, before: str) -> None:
        self._before_remark, self._remark = before, []
        self._parser.CharacterDataHandler = self._remark.append

    def _end_remark(self, pieces: list[str]) -> None:
        self._parser.CharacterDataHandler = self._remark = None
        if text := " ".join("".join(pieces).split()):
            self._remarks.append(self._before_remark + text)

    def _end_variant(self, unit: TmxUnit) -> None:
        attributes, start = self._variant
        get = attributes.get
        unit.variants.append(
            Variant(
                get("xml:lang") or get("lang") or "",
                (get("changeid") or get("creationid")) == MACHINE,
                start,
                self._parser.CurrentByteIndex,
                *self._segment,
                tuple(self._remarks),
            )
        )
        self._remarks = unit.remarks


def _role(name: str, _attributes: Mapping[str, str]) -> Role:
    return Role.PAIR if name == "hi" else Role.WHOLE


def read_tmx(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """The pairs of a memory; `read` counts its units (`tu`).

    Dropped are `missing_language`, `untranslated` (the target is empty), `blank_side` (the source
    is) and `fuzzy` (made by a machine and not gone over).

    Raises:
        DataError: as `XmlEvents.run` and `utf8_chunks`.
    """
    sides, file = TmxSides(*tmx_languages(path, languages)), shown(path)
    for unit in TmxUnits(path).read(utf8_chunks(path)):
        report.read += 1
        left, right = sides.of(unit)
        reason = _reason(left, right)
        if reason or left is None or right is None:
            first = unit.variants[0].seg.text if unit.variants else ""
            report.drop(reason, file, unit.line, first)
        else:
            remarks = _remarks(unit, left, right)
            yield Pair(left.seg.text, right.seg.text, file, unit.line, remarks)


def _remarks(unit: TmxUnit, *variants: Variant | None) -> tuple[str, ...]:
    """What is noted of the unit, and of these variants of it."""
    found = tuple(unit.remarks)
    for variant in variants:
        found += variant.remarks if variant else ()
    return found


def tmx_units(
    path: Path, languages: Languages
) -> Iterator[tuple[str, Variant | None, Variant | None]]:
    """`tuid` and both sides of each unit, whatever is the matter with it; raises as `read_tmx`."""
    sides = TmxSides(*tmx_languages(path, languages))
    for unit in TmxUnits(path).read(utf8_chunks(path)):
        yield unit.key, *sides.of(unit)


def _reason(source: Variant | None, target: Variant | None) -> str:
    """Why two variants are no pair to learn from; empty if they are one."""
    if source is None or target is None:
        return "missing_language"
    if not source.seg.written:
        return "blank_side"
    if not target.seg.written:
        return "untranslated"
    return "fuzzy" if target.machine_made else ""


def tmx_languages(path: Path, languages: Languages) -> tuple[str | None, str | None]:
    """What is translated into what: as given, else as the first units say; regions do not count.

    The source is `srclang` if a unit has it. Where that may be any (`*all*`) it is the language
    that most units have, of equals English, else the first; where no unit has it, the first
    variant's. The target is the first other one of a unit that has the source.
    """
    source, target = languages.source_language, languages.target_language
    if source and target:
        return source, target
    units = list(islice(TmxUnits(path).read(utf8_chunks(path)), _LOOKED_AT))
    for plain in (folded, str):  # `str`: from one variant of a language into another
        codes = [[plain(one.language) for one in unit.variants if one.language] for unit in units]
        first = source or _source_of(units, codes, target)
        second = target or _other_than(first, codes)
        if second or not first:
            break
    else:
        first = source or _source_of(units, [[folded(c) for c in some] for some in codes], target)
    return first, second


def _source_of(
    units: Sequence[TmxUnit], codes: Sequence[list[str]], target: str | None
) -> str | None:
    """Which of the languages of some units is translated; not the `target`."""
    candidates = [
        list(dict.fromkeys(code for code in of_unit if not same_language(code, target)))
        for of_unit in codes
    ]
    declared = False
    for unit, of_unit in zip(units, candidates, strict=True):
        declared |= bool(unit.source_language)
        for code in of_unit:
            if unit.source_language and same_language(code, unit.source_language):
                return code
    counts = Counter(code for of_unit in candidates for code in of_unit)
    if declared or not counts:
        return next(iter(counts), None)
    most = max(counts.values())
    equals = [code for code, n in counts.items() if n == most]
    return next((code for code in equals if same_language(code, "en")), equals[0])


def _other_than(source: str | None, codes: Sequence[list[str]]) -> str | None:
    """The first other language of a unit that has the source."""
    for of_unit in codes:
        if any(same_language(code, source) for code in of_unit):
            for code in of_unit:
                if not same_language(code, source):
                    return code
    return None


def unit_languages(path: Path) -> Iterator[set[str]]:
    """The languages of each unit, as the memory writes them."""
    for unit in TmxUnits(path).read(utf8_chunks(path)):
        yield {variant.language for variant in unit.variants if variant.language}


def open_document(
    path: Path, source_language: str | None, target_language: str | None, overwrite: bool
) -> EditableDocument:
    """A memory whose units lack a language, or have it empty.

    Raises:
        ConfigError: it does not say which language is wanted.
        DataError: as `read_contents` and `XmlEvents.run`.
    """
    for _ in TmxUnits(path).read(utf8_chunks(path)):
        pass  # what is to be refused is, before all of it is in memory
    contents = read_contents(path)
    languages = tmx_languages(path, LanguagePair(source_language, target_language))
    sides = TmxSides(*languages)
    found = [
        (unit, *sides.of(unit)) for unit in TmxUnits(path, contents.data).read([contents.data])
    ]
    if found and not all(languages):
        raise ConfigError(
            f"the language to translate into must be known; {path} has units in "
            f"{languages[0] or 'no language'} only. Give --target-language."
        )
    written = [target.language for *_, target in found if target]  # as the file has it
    language = written[-1] if written else languages[1] or ""
    layout = _Layout(contents.data, line_end(contents.data), language)
    units = [_unit(layout, *one, overwrite=overwrite) for one in found]
    return EditableDocument(contents.data, contents.restored, units, languages)


class _Layout(NamedTuple):
    """How a file is written."""

    data: bytes
    newline: bytes
    language: str
    """The target language, as the file has it."""


def _unit(
    layout: _Layout,
    unit: TmxUnit,
    source: Variant | None,
    target: Variant | None,
    *,
    overwrite: bool,
) -> EditableUnit:
    """What is new bears the user `MT!`, or `TM!` if a memory had it; what is changed the time too:
    that of `SOURCE_DATE_EPOCH` (seconds since 1970), so that the same bytes can come out again,
    else the clock's."""
    reason = _reason_to_leave(source, target)
    if source is None or (reason and not (overwrite and reason in ("translated", "fuzzy"))):
        return EditableUnit(source.seg.text if source else "", reason=reason)
    there = target.seg.segment if target and reason else None
    remarks = _remarks(unit, source, target)
    segment = source.seg.segment
    gap = Gap(segment, unit.line, bool(reason), unit.key, there=there, remarks=remarks)

    def edits(translations: Translations) -> list[Edit]:
        [(translation, percent)] = translations
        assert translation, "it is asked for what is translated"
        user = MEMORY if percent == EXACT else MACHINE
        text = as_xml(translation, segment).encode().replace(b"\n", layout.newline)
        if target is None:
            return [_new_variant(layout, unit, source, text, user)]
        change = {"changeid": user, "changedate": _time_of_change()}
        return _changed_variant(layout.data, target, text, change)

    return EditableUnit(source.seg.text, (gap,), edits=edits)


def _new_variant(layout: _Layout, unit: TmxUnit, source: Variant, text: bytes, user: str) -> Edit:
    """A variant behind the last one of a unit, laid out as the source's is."""
    data = layout.data
    last = unit.variants[-1]
    end = element_end(data, last.start, last.end)
    tag = START_TAG.match(data, source.start)
    by_prefix = tag is not None and b"xml:lang" in tag[0]
    values = {
        "xml:lang" if by_prefix else "lang": layout.language,
        "creationtool": "headway",
        "creationtoolversion": __version__,
        "creationid": user,
    }
    closing = END_TAG.match(data, source.end)
    return Edit(
        end,
        end,
        indentation(data, source.start)
        + with_attributes(b"<tuv>", values)
        + indentation(data, source.seg_start)
        + b"<seg>%b</seg>" % text
        + (indentation(data, source.end) if closing else b"")
        + b"</tuv>",
    )


def _changed_variant(
    data: bytes, target: Variant, text: bytes, change: Mapping[str, str]
) -> list[Edit]:
    tag = START_TAG.match(data, target.start)
    assert tag, "a variant begins with its tag"
    changed = with_attributes(tag[0], change)
    if target.seg_start < 0:  # nothing in it, perhaps not even an end tag
        end_tag = b"</tuv>" if tag[0].endswith(b"/>") else b""
        return [
            Edit(tag.start(), tag.end(), opened(changed)),
            Edit(target.end, target.end, b"<seg>%b</seg>%b" % (text, end_tag)),
        ]
    seg = element_with(data, target.seg_start, target.seg_end, text)
    return [Edit(tag.start(), tag.end(), changed), seg]


def _time_of_change() -> str:
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given and not re.fullmatch("[0-9]{1,11}", given):
        raise ConfigError(
            f"SOURCE_DATE_EPOCH is a number of seconds since 1970; got {given!r}. Unset it, or "
            "give one such as 1700000000."
        )
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(int(given) if given else time.time()))


def _reason_to_leave(source: Variant | None, target: Variant | None) -> str:
    """Why a unit needs no translation; empty if it does."""
    if source is None:
        return "missing_language"
    if source.seg.segment.blank:
        return "blank_side"
    if target is None or not target.seg.written:
        return ""
    return "fuzzy" if target.machine_made else "translated"
