"""XLIFF, the localisation interchange format: read for training, and filled in."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report
from headway.core.lines import shown
from headway.languages.codes import LanguagePair, Languages, same_language
from headway.localization.formats.inline import START_TAG, Mark, as_xml, element_end
from headway.localization.formats.xliff_states import of_memoq, of_segment, of_studio, of_target
from headway.localization.formats.xliff_units import XML, Element, XliffUnit, XliffUnits
from headway.localization.formats.xml_edits import (
    Edit,
    edited,
    indentation,
    line_end,
    opened,
    tag_name,
    with_attributes,
)
from headway.localization.formats.xml_encoding import Contents, read_contents, utf8_chunks
from headway.localization.placeholders.segments import Counts, Gap, Segment, among, with_percents

_MEMOQ_PREFIX = re.compile(rb"\s([\w.-]+):status\s*=")
_LOOKED_AT = 1_000
"""Units that are looked at for the languages of a file."""


def read_xliff(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """The pairs of a file; `read` counts its units (`trans-unit`; from version 2 on `segment`).

    A file in the other direction is read the other way round. Dropped are `missing_language`,
    `do_not_translate`, `blank_side` (the source), `untranslated`, `fuzzy` (`XliffUnit.trusted`).

    Raises:
        DataError: as `XmlEvents.run` and `utf8_chunks`.
    """
    wanted, file = xliff_languages(path, languages), shown(path)
    units = XliffUnits(path).read(utf8_chunks(path))
    for unit in chain.from_iterable(unit.segments() for unit in units):
        report.read += 1
        sides = [side.content.text if side else "" for side in (unit.source, unit.target)]
        reason = _reason(unit, wanted)
        if reason:
            report.drop(reason, file, unit.line, sides[0])
        else:
            source, target = reversed(sides) if is_turned(unit.languages, wanted) else sides
            yield Pair(source, target, file, unit.line, unit.remarks)


def _reason(unit: XliffUnit, wanted: tuple[str | None, str | None]) -> str:
    """Why a unit is no pair to learn from; empty if it is one."""
    if not (_fits(unit.languages, wanted) or is_turned(unit.languages, wanted)):
        return "missing_language"
    if not unit.translate:
        return "do_not_translate"
    if unit.source is None or not unit.source.content.written:
        return "blank_side"
    if unit.target is None or not unit.target.content.written or unit.half_done:
        return "untranslated"
    return "" if unit.trusted else "fuzzy"


def _fits(languages: tuple[str, str], wanted: tuple[str | None, str | None]) -> bool:
    """Whether a file's languages are those; one that is not given may be any."""
    return all(
        not of_file or not asked or same_language(of_file, asked)
        for of_file, asked in zip(languages, wanted, strict=True)
    )


def is_turned(languages: tuple[str, str], wanted: tuple[str | None, str | None]) -> bool:
    """Whether a file translates in the other direction."""
    return (
        all(languages)
        and all(wanted)
        and not _fits(languages, wanted)
        and _fits(languages, (wanted[1], wanted[0]))
    )


def xliff_languages(path: Path, languages: Languages) -> tuple[str | None, str | None]:
    """What is translated into what: as given, else as the first units' files and targets say."""
    given = languages.source_language, languages.target_language
    source, target = "", ""
    for unit in islice(XliffUnits(path).read(utf8_chunks(path)), _LOOKED_AT):
        source, target = source or unit.languages[0], target or unit.languages[1]
        target = target or (unit.target.attributes.get(XML + "lang", "") if unit.target else "")
        if source and target:
            break
    if (source and same_language(source, given[1])) or (target and same_language(target, given[0])):
        source, target = target, source
    return given[0] or source or None, given[1] or target or None


def open_document(
    path: Path, source_language: str | None, target_language: str | None, overwrite: bool
) -> "XliffDocument":
    """A file whose units lack their targets.

    Raises:
        DataError: as `read_contents` and `XmlEvents.run`.
    """
    for _ in XliffUnits(path).read(utf8_chunks(path)):
        pass  # what is to be refused is, before all of it is in memory
    contents = read_contents(path)
    wanted = xliff_languages(path, LanguagePair(source_language, target_language))
    return XliffDocument(path, contents, *wanted, overwrite=overwrite)


class _Place(NamedTuple):
    """Where a translation goes: a unit, or the segment of it that this mark is around."""

    unit: int
    mark: Mark | None


class _Part(NamedTuple):
    """A translation that goes into a unit."""

    mark: Mark | None
    translation: Segment
    percent: int | None
    """Of the match that it was taken from; None for a machine's."""


def _least(parts: Sequence[_Part]) -> int | None:
    """What can be said of all parts together: that of a machine counts least."""
    percents = [part.percent for part in parts if part.percent is not None]
    return min(percents) if len(percents) == len(parts) else None


class XliffDocument:
    """A file to be filled in; see `Document`. Each segment of a unit that is cut is a gap."""

    def __init__(
        self,
        path: Path,
        contents: Contents,
        source: str | None,
        target: str | None,
        *,
        overwrite: bool,
    ) -> None:
        self.source_language, self.target_language = source, target
        self._gaps: list[Gap] = []
        self._contents = contents
        self._overwrite = overwrite
        self._places: list[_Place] = []
        self._units: list[XliffUnit] = []
        self._xliff = XliffUnits(path, contents.data)
        left = Counter[str]()
        sources, numbers = list[str](), list[int]()
        for unit in self._xliff.read([contents.data]):
            reason = self._add_gaps(unit)
            left[reason] += bool(reason)
            numbers += [len(sources)] * (len(self._gaps) - len(numbers))
            sources.append(unit.source.content.text if unit.source else "")
        self.gaps: Sequence[Gap] = among(self._gaps, numbers, sources)
        self.counts = Counts(len(sources), dict(+left))
        if sources and left["missing_language"] == len(sources):
            self.source_language, self.target_language = xliff_languages(
                path, LanguagePair(None, None)
            )

    def _add_gaps(self, unit: XliffUnit) -> str:
        """Add what is to be translated of a unit; the reason why, if that is nothing."""
        if not _fits(unit.languages, (self.source_language, self.target_language)):
            return "missing_language"
        if not unit.translate:
            return "do_not_translate"
        if unit.source is None or _is_nothing(unit.source.content.segment):
            return "blank_side"
        before, locked = len(self._gaps), False
        for segment, mark, filled in _translatable(unit):
            locked = locked or unit.locked(mark)
            if unit.locked(mark) or _is_nothing(segment):
                continue
            if self._overwrite or not filled:
                self._gaps.append(self._gap(unit, segment, filled, mark))
                self._places.append(_Place(len(self._units), mark))
        if len(self._gaps) == before:
            if locked:
                return "locked"
            return "translated" if unit.trusted else "fuzzy"
        self._units.append(unit)
        return ""

    def _gap(self, unit: XliffUnit, segment: Segment, filled: bool, mark: Mark | None) -> Gap:
        key = f"{unit.key}/{mark.name}" if mark else unit.key
        there = _there(unit, mark) if filled else None
        return Gap(
            segment,
            unit.line,
            filled,
            key,
            there=there,
            width=unit.width,
            remarks=unit.remarks,
        )

    def can_hold(self, _translation: Segment) -> bool:
        """Always: XML writes by number what the encoding lacks."""
        return True

    def filled(
        self, translations: Sequence[Segment | None], percents: Sequence[int | None] = ()
    ) -> bytes:
        """See `Document.filled`; the marks are those of `xliff_states.py`."""
        data = self._contents.data
        given: dict[int, list[_Part]] = {}
        both = with_percents(translations, percents)
        for place, (translation, percent) in zip(self._places, both, strict=True):
            if translation is not None:
                part = _Part(place.mark, translation, percent)
                given.setdefault(place.unit, []).append(part)
        edits: list[Edit] = []
        for number, parts in given.items():
            unit = self._units[number]
            edits += self._filled_target(unit, parts)
            edits += self._marked_unit(unit, parts)
        declared = not self._xliff.second or "trgLang" in self._xliff.root
        if edits and self.target_language and not declared:
            edits += self._changed_tag(self._xliff.root_start, {"trgLang": self.target_language})
        return self._contents.restored(edited(data, edits))

    def _marked_unit(self, unit: XliffUnit, parts: Sequence["_Part"]) -> list[Edit]:
        """What says of the unit, or of its segments, where the translation is from."""
        values: dict[str, str] = {}
        if self._xliff.second:
            values = of_segment(_least(parts))
        elif unit.attributes.get("approved") == "yes":
            values = {"approved": "no"}
        if unit.memoq:
            tag = START_TAG.match(self._contents.data, unit.start)
            found = _MEMOQ_PREFIX.search(tag[0]) if tag else None
            prefix = found[1].decode() if found else "mq"
            values |= {f"{prefix}:{name}": of for name, of in of_memoq(_least(parts)).items()}
        edits = self._changed_tag(unit.start, values) if values else []
        for mark, _, percent in parts:
            if mark is not None and mark.name in unit.studio:
                edits += self._changed_tag(unit.studio[mark.name].start, of_studio(percent))
        return edits

    def _changed_tag(self, start: int, values: Mapping[str, str]) -> list[Edit]:
        found = START_TAG.match(self._contents.data, start)
        assert found, "an element begins with its tag"
        return [Edit(*found.span(), with_attributes(found[0], values))]

    def _filled_target(self, unit: XliffUnit, parts: Sequence["_Part"]) -> list[Edit]:
        """The target with these translations in it, written anew where it has no place for them."""
        source, target = unit.source, unit.target
        assert source, "a unit without a source has no gaps"
        elsewhere = self._xliff.second or unit.memoq or unit.studio
        values = {} if elsewhere else of_target(_least(parts))
        mark, translation, _ = parts[0]
        if mark is None:
            text = self._written(translation, source.content.segment)
        elif target is not None and all(mark and mark.name in unit.answers for mark, _, _ in parts):
            edits = [self._filled_mark(target, mark, text) for mark, text, _ in parts if mark]
            return [*edits, *(self._changed_tag(target.start, values) if values else ())]
        else:
            text = self._from_source(unit, parts)
        if target is None:
            return [self._new_target(unit, source, values, text)]
        tag = START_TAG.match(self._contents.data, target.start)
        assert tag, "a target begins with its tag"
        end = element_end(self._contents.data, target.start, target.end)
        written = opened(with_attributes(tag[0], values)) + text + b"</%b>" % tag_name(tag[0])
        return [Edit(target.start, end, written)]

    def _filled_mark(self, target: Element, of_source: Mark, translation: Segment) -> Edit:
        """The mark in the target that answers to one in the source, with a new text."""
        mark = next(mark for mark in target.content.marks if mark.name == of_source.name)
        tag = START_TAG.match(self._contents.data, mark.start)
        assert tag, "a mark begins with its tag"
        text = self._written(translation, of_source.segment)
        if tag.end() == mark.end and tag[0].endswith(b"/>"):
            return Edit(*tag.span(), opened(tag[0]) + text + b"</%b>" % tag_name(tag[0]))
        return Edit(tag.end(), mark.end, text)

    def _from_source(self, unit: XliffUnit, parts: Sequence["_Part"]) -> bytes:
        """The inside of `seg-source`, each segment of it translated, as it was, or else empty."""
        assert unit.seg_source, "marks stand in it"
        data, source = self._contents.data, unit.seg_source
        translations = {mark.name: translation for mark, translation, _ in parts if mark}
        start = _behind_tag(data, source.start)
        edits = []
        for mark in source.content.marks:
            known, there = translations.get(mark.name), unit.answers.get(mark.name)
            if known or there or not mark.segment.blank:
                was = data[_behind_tag(data, there.start) : there.end] if there else b""
                text = self._written(known, mark.segment) if known else was
                inside = _behind_tag(data, mark.start)
                edits.append(Edit(inside - start, mark.end - start, text))
        return edited(data[start : source.end], edits)

    def _new_target(
        self, unit: XliffUnit, source: Element, values: Mapping[str, str], text: bytes
    ) -> Edit:
        """A target behind the source, laid out as that is."""
        data = self._contents.data
        last = max(
            (side for side in (source, unit.seg_source) if side), key=lambda side: side.start
        )
        end = element_end(data, last.start, last.end)
        language = unit.languages[1] or self.target_language
        if XML + "lang" in source.attributes and language:
            values = {"xml:lang": language, **values}
        if XML + "space" in source.attributes:
            values = {"xml:space": source.attributes[XML + "space"], **values}
        tag = START_TAG.match(data, source.start)
        assert tag, "a source begins with its tag"
        name = tag_name(tag[0]).removesuffix(b"source") + b"target"
        opening = with_attributes(b"<%b>" % name, values)
        layout = indentation(data, source.start)
        return Edit(end, end, layout + opening + text + b"</%b>" % name)

    def _written(self, translation: Segment, source: Segment) -> bytes:
        newline = line_end(self._contents.data)
        return as_xml(translation, source).encode().replace(b"\n", newline)


def _behind_tag(data: bytes, start: int) -> int:
    found = START_TAG.match(data, start)
    assert found, "an element begins with its tag"
    return found.end()


def _translatable(unit: XliffUnit) -> Iterator[tuple[Segment, Mark | None, bool]]:
    """What of a unit is translated by itself: the segment, its mark, and whether it is already.

    That is the whole unit, unless both of its sides are, or can be, cut in the same way.
    """
    assert unit.source, "a unit without a source is not translated"
    if not _distinct(unit.seg_source):
        yield unit.source.content.segment, None, unit.translated
        return
    answers = unit.answers
    for mark in unit.seg_source.content.marks if unit.seg_source else ():
        there = answers.get(mark.name)
        yield mark.segment, mark, unit.translated and (not answers or bool(there and there.written))


def _there(unit: XliffUnit, mark: Mark | None) -> Segment | None:
    """The translation of a unit, or of the part of it that a mark of the source is around."""
    if unit.target is None:
        return None
    answer = unit.answers.get(mark.name) if mark else None
    return answer.segment if answer else unit.target.content.segment


def _distinct(element: Element | None) -> bool:
    """Whether there are marks in it, each with a name of its own."""
    marks = element.content.marks if element else ()
    return 0 < len(marks) == len({mark.name for mark in marks})


def _is_nothing(segment: Segment) -> bool:
    """No text and no code; what has only codes is copied."""
    return segment.blank and not segment.codes
