"""TMX, translation memory exchange (1.1 to 1.4b): read for training, and filled in."""

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report
from headway.core.errors import ConfigError
from headway.core.lines import shown
from headway.languages.codes import LanguagePair, Languages, folded, same_language
from headway.localization.formats.documents import EXACT, Document, Edit, EditableUnit, Translations
from headway.localization.formats.inline import (
    Gathered,
    InlineText,
    Role,
    as_xml,
    changed_tag,
    element_end,
    indentation,
    opened,
    start_tag,
    with_attributes,
    with_tag,
)
from headway.localization.formats.units import Unit
from headway.localization.formats.xml_encoding import Contents, read_contents, utf8_chunks
from headway.localization.formats.xml_events import XmlElement, XmlUnits, check_xml
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


class Variant(NamedTuple):
    """A unit in one language: `tuv`."""

    language: str
    machine_made: bool
    start: int
    end: int
    """Byte at which its end tag begins."""
    seg: Gathered
    """Its `seg`; it begins at byte -1 where there is none."""
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
    """Reads the units of a file one after the other."""

    def __init__(self, path: Path, data: bytes = b"") -> None:
        """`data` is the UTF-8 that will be read, if codes shall keep how they are written."""
        self._units = XmlUnits(path, "tmx", ("header", "tu"), ("seg", "note", "prop"))
        self._inline = InlineText(_role, data)

    def read(self, chunks: Iterable[bytes]) -> Iterator[TmxUnit]:
        language = ""
        for one in self._units.read(chunks):
            if one.name == "header":
                language = one.attributes.get("srclang", "")
            else:
                yield self._unit(one, language)

    def _unit(self, unit: XmlElement, language: str) -> TmxUnit:
        language = unit.attributes.get("srclang", language)
        variants = unit.inner("tuv")
        get = [one.attributes.get for one in (unit, *variants)]
        return TmxUnit(
            unit.line,
            "" if language == "*all*" else language,
            [self._variant(one) for one in variants],
            unit.attributes.get("tuid", ""),
            _notes(unit),
            [date("changedate") or date("creationdate", "") for date in get],
        )

    def _variant(self, variant: XmlElement) -> Variant:
        get = variant.attributes.get
        language = get("xml:lang") or get("lang") or ""
        machine_made = (get("changeid") or get("creationid")) == MACHINE
        found = [self._inline.gathered(seg) for seg in variant.inner("seg")[-1:]]
        seg = found[0] if found else Gathered((), False, {}, -1, -1)
        remarks = tuple(_notes(variant))
        return Variant(language, machine_made, variant.start, variant.end, seg, remarks)


def _notes(element: XmlElement) -> list[str]:
    """What is noted of a unit or a variant, and its state."""
    found = []
    for one in element.inner("note", "prop"):
        if one.name == "note" or _STATE.search(one.attributes.get("type", "")):
            found += [("state: " * (one.name == "prop")) + one.note] * bool(one.note)
    return found


def _role(element: XmlElement) -> Role:
    return Role.PAIR if element.name == "hi" else Role.WHOLE


def read_tmx(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """The pairs of a memory; `read` counts its units (`tu`).

    Dropped are `missing_language`, `untranslated` (the target is empty), `blank_side` (the source
    is) and `fuzzy` (made by a machine and not gone over). Raises DataError as `XmlUnits.read` and
    `utf8_chunks`.
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
    written = [[one.language for one in unit.variants if one.language] for unit in units]
    plain = [list(map(folded, codes)) for codes in written]
    for codes in (plain, written):  # as written: from one variant of a language into another
        first = source or _source_of(units, codes, target)
        with_source = [some for some in codes if any(same_language(one, first) for one in some)]
        others = (one for some in with_source for one in some if not same_language(one, first))
        second = target or next(others, None)
        if second or not first:
            return first, second
    return source or _source_of(units, plain, target), None


def _source_of(
    units: Sequence[TmxUnit], codes: Sequence[list[str]], target: str | None
) -> str | None:
    """Which of the languages of some units is translated; not the `target`."""
    counts = Counter[str]()
    for unit, some in zip(units, codes, strict=True):
        for code in dict.fromkeys(some):
            if same_language(code, target):
                continue
            if unit.source_language and same_language(code, unit.source_language):
                return code
            counts[code] += 1
    if not counts or any(unit.source_language for unit in units):
        return next(iter(counts), None)
    most = [code for code, n in counts.items() if n == max(counts.values())]
    return next((code for code in most if same_language(code, "en")), most[0])


def unit_languages(path: Path) -> Iterator[set[str]]:
    """The languages of each unit, as the memory writes them."""
    for unit in TmxUnits(path).read(utf8_chunks(path)):
        yield {variant.language for variant in unit.variants if variant.language}


def open_document(
    path: Path, source_language: str | None, target_language: str | None, overwrite: bool
) -> Document:
    """A memory whose units lack a language, or have it empty.

    Raises:
        ConfigError: it does not say which language is wanted.
        DataError: as `read_contents` and `XmlUnits.read`.
    """
    check_xml(path, "tmx", utf8_chunks(path))  # before all of it is in memory
    contents = read_contents(path)
    languages = tmx_languages(path, LanguagePair(source_language, target_language))
    sides = TmxSides(*languages)
    units = TmxUnits(path, contents.data).read([contents.data])
    found = [(unit, *sides.of(unit)) for unit in units]
    if found and not all(languages):
        raise ConfigError(
            f"the language to translate into must be known; {path} has units in "
            f"{languages[0] or 'no language'} only. Give --target-language."
        )
    written = [target.language for *_, target in found if target]  # as the file has it
    filling = _TmxFilling(contents, written[-1] if written else languages[1] or "", overwrite)
    return Document(
        contents.data, contents.restored, [filling.unit(*one) for one in found], languages
    )


class _TmxFilling(NamedTuple):
    """How the units of a file are filled in."""

    contents: Contents
    language: str
    """The target language, as the file has it."""
    overwrite: bool

    def unit(self, unit: TmxUnit, source: Variant | None, target: Variant | None) -> EditableUnit:
        reason = _reason_to_leave(source, target)
        if source is None or (reason and not (self.overwrite and reason in _REPLACED)):
            return EditableUnit(source.seg.text if source else "", reason=reason)
        segment = source.seg.segment
        gap = Unit(segment, line=unit.line, key=unit.key)

        def edits(translations: Translations) -> list[Edit]:
            [(translation, percent)] = translations
            assert translation, "it is asked for what is translated"
            user = MEMORY if percent == EXACT else MACHINE
            text = as_xml(translation, segment, self.contents.newline)
            if target is None:
                return [self.new_variant(unit, source, text, user)]
            return self.changed_variant(target, text, user)

        return EditableUnit(source.seg.text, (gap,), edits=edits)

    def new_variant(self, unit: TmxUnit, source: Variant, text: bytes, user: str) -> Edit:
        """A variant behind the last one of a unit, laid out as the source's is."""
        data, last = self.contents.data, unit.variants[-1]
        end = element_end(data, last.start, last.end)
        values = {
            "xml:lang" if b"xml:lang" in start_tag(data, source.start) else "lang": self.language,
            "creationtool": "headway",
            "creationtoolversion": __version__,
            "creationid": user,
        }
        around = [indentation(data, at) for at in (source.start, source.seg.start, source.end)]
        around[2] *= data.startswith(b"</", source.end)
        seg = around[1] + b"<seg>%b</seg>" % text + around[2]
        return Edit(end, end, around[0] + with_attributes(b"<tuv>", values) + seg + b"</tuv>")

    def changed_variant(self, target: Variant, text: bytes, user: str) -> list[Edit]:
        """Who changed it, and when."""
        data = self.contents.data
        tag = changed_tag(data, target.start, {"changeid": user, "changedate": _time_of_change()})
        if target.seg.start >= 0:
            return [tag, with_tag(data, target.seg, text, {})]
        closing = b"</tuv>" if tag.written.endswith(b"/>") else b""  # perhaps not even an end tag
        new = Edit(target.end, target.end, b"<seg>%b</seg>%b" % (text, closing))
        return [tag._replace(written=opened(tag.written)), new]


_REPLACED = ("translated", "fuzzy")


def _time_of_change() -> str:
    """That of `SOURCE_DATE_EPOCH` (seconds since 1970), so that the same bytes can come out again,
    else the clock's."""
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
