"""XLIFF, the localisation interchange format: read for training, and filled in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report
from headway.core.lines import shown
from headway.languages.codes import LanguagePair, Languages, same_language
from headway.localization.formats.documents import (
    Edit,
    EditableDocument,
    EditableUnit,
    Translations,
    edited,
)
from headway.localization.formats.inline import START_TAG, Mark, as_xml, element_end
from headway.localization.formats.xliff_states import of_memoq, of_segment, of_studio, of_target
from headway.localization.formats.xliff_units import XML, Element, XliffUnit, XliffUnits
from headway.localization.formats.xml_edits import (
    indentation,
    line_end,
    opened,
    tag_name,
    with_attributes,
)
from headway.localization.formats.xml_encoding import read_contents, utf8_chunks
from headway.localization.placeholders.segments import Gap, Segment

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
) -> EditableDocument:
    """A file whose units lack their targets.

    Raises:
        DataError: as `read_contents` and `XmlEvents.run`.
    """
    for _ in XliffUnits(path).read(utf8_chunks(path)):
        pass  # what is to be refused is, before all of it is in memory
    contents = read_contents(path)
    languages = xliff_languages(path, LanguagePair(source_language, target_language))
    xliff = XliffUnits(path, contents.data)
    found = list(xliff.read([contents.data]))
    filling = _XliffFilling(contents.data, line_end(contents.data), languages, xliff.second)
    units = [filling.unit(unit, overwrite=overwrite) for unit in found]
    also: list[Edit] = []
    if languages[1] and xliff.second and "trgLang" not in xliff.root:
        also = filling.changed_tag(xliff.root_start, {"trgLang": languages[1]})
    if units and all(unit.reason == "missing_language" for unit in units):
        languages = xliff_languages(path, LanguagePair(None, None))
    return EditableDocument(contents.data, contents.restored, units, languages, also=also)


class _Part(NamedTuple):
    """A translation that goes into a unit, or into the segment of it that this mark is around."""

    mark: Mark | None
    translation: Segment
    percent: int | None
    """Of the match that it was taken from; None for a machine's."""


def _least(parts: Sequence[_Part]) -> int | None:
    """What can be said of all parts together: that of a machine counts least."""
    percents = [part.percent for part in parts if part.percent is not None]
    return min(percents) if len(percents) == len(parts) else None


class _XliffFilling(NamedTuple):
    """How the units of a file are filled in; each segment of a unit that is cut is a gap."""

    data: bytes
    newline: bytes
    languages: tuple[str | None, str | None]
    second: bool
    """Version 2 or later."""

    def unit(self, unit: XliffUnit, *, overwrite: bool) -> EditableUnit:
        source = unit.source.content.text if unit.source else ""
        if not _fits(unit.languages, self.languages):
            return EditableUnit(source, reason="missing_language")
        if not unit.translate:
            return EditableUnit(source, reason="do_not_translate")
        if unit.source is None or _is_nothing(unit.source.content.segment):
            return EditableUnit(source, reason="blank_side")
        marks, gaps, locked = list[Mark | None](), list[Gap](), False
        for segment, mark, filled in _translatable(unit):
            locked = locked or unit.locked(mark)
            if not (unit.locked(mark) or _is_nothing(segment)) and (overwrite or not filled):
                marks.append(mark)
                gaps.append(_gap(unit, segment, filled, mark))
        if not gaps:
            reason = "locked" if locked else "translated" if unit.trusted else "fuzzy"
            return EditableUnit(source, reason=reason)

        def edits(translations: Translations) -> list[Edit]:
            parts = [
                _Part(mark, new, percent)
                for mark, (new, percent) in zip(marks, translations, strict=True)
                if new is not None
            ]
            return [*self.filled_target(unit, parts), *self.marked_unit(unit, parts)]

        return EditableUnit(source, gaps, edits=edits)

    def marked_unit(self, unit: XliffUnit, parts: Sequence[_Part]) -> list[Edit]:
        """What says of the unit, or of its segments, where the translation is from."""
        values: dict[str, str] = {}
        if self.second:
            values = of_segment(_least(parts))
        elif unit.attributes.get("approved") == "yes":
            values = {"approved": "no"}
        if unit.memoq:
            tag = START_TAG.match(self.data, unit.start)
            found = _MEMOQ_PREFIX.search(tag[0]) if tag else None
            prefix = found[1].decode() if found else "mq"
            values |= {f"{prefix}:{name}": of for name, of in of_memoq(_least(parts)).items()}
        edits = self.changed_tag(unit.start, values) if values else []
        for mark, _, percent in parts:
            if mark is not None and mark.name in unit.studio:
                edits += self.changed_tag(unit.studio[mark.name].start, of_studio(percent))
        return edits

    def changed_tag(self, start: int, values: Mapping[str, str]) -> list[Edit]:
        found = START_TAG.match(self.data, start)
        assert found, "an element begins with its tag"
        return [Edit(*found.span(), with_attributes(found[0], values))]

    def filled_target(self, unit: XliffUnit, parts: Sequence[_Part]) -> list[Edit]:
        """The target with these translations in it, written anew where it has no place for them."""
        source, target = unit.source, unit.target
        assert source, "a unit without a source has no gaps"
        elsewhere = self.second or unit.memoq or unit.studio
        values = {} if elsewhere else of_target(_least(parts))
        mark, translation, _ = parts[0]
        if mark is None:
            text = self.written(translation, source.content.segment)
        elif target is not None and all(mark and mark.name in unit.answers for mark, _, _ in parts):
            edits = [self.filled_mark(target, mark, text) for mark, text, _ in parts if mark]
            return [*edits, *(self.changed_tag(target.start, values) if values else ())]
        else:
            text = self.from_source(unit, parts)
        if target is None:
            return [self.new_target(unit, source, values, text)]
        tag = START_TAG.match(self.data, target.start)
        assert tag, "a target begins with its tag"
        end = element_end(self.data, target.start, target.end)
        written = opened(with_attributes(tag[0], values)) + text + b"</%b>" % tag_name(tag[0])
        return [Edit(target.start, end, written)]

    def filled_mark(self, target: Element, of_source: Mark, translation: Segment) -> Edit:
        """The mark in the target that answers to one in the source, with a new text."""
        mark = next(mark for mark in target.content.marks if mark.name == of_source.name)
        tag = START_TAG.match(self.data, mark.start)
        assert tag, "a mark begins with its tag"
        text = self.written(translation, of_source.segment)
        if tag.end() == mark.end and tag[0].endswith(b"/>"):
            return Edit(*tag.span(), opened(tag[0]) + text + b"</%b>" % tag_name(tag[0]))
        return Edit(tag.end(), mark.end, text)

    def from_source(self, unit: XliffUnit, parts: Sequence[_Part]) -> bytes:
        """The inside of `seg-source`, each segment of it translated, as it was, or else empty."""
        assert unit.seg_source, "marks stand in it"
        data, source = self.data, unit.seg_source
        translations = {mark.name: translation for mark, translation, _ in parts if mark}
        start = _behind_tag(data, source.start)
        edits = []
        for mark in source.content.marks:
            known, there = translations.get(mark.name), unit.answers.get(mark.name)
            if known or there or not mark.segment.blank:
                was = data[_behind_tag(data, there.start) : there.end] if there else b""
                text = self.written(known, mark.segment) if known else was
                inside = _behind_tag(data, mark.start)
                edits.append(Edit(inside - start, mark.end - start, text))
        return edited(data[start : source.end], edits)

    def new_target(
        self, unit: XliffUnit, source: Element, values: Mapping[str, str], text: bytes
    ) -> Edit:
        """A target behind the source, laid out as that is."""
        data = self.data
        last = max(
            (side for side in (source, unit.seg_source) if side), key=lambda side: side.start
        )
        end = element_end(data, last.start, last.end)
        language = unit.languages[1] or self.languages[1]
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

    def written(self, translation: Segment, source: Segment) -> bytes:
        return as_xml(translation, source).encode().replace(b"\n", self.newline)


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


def _gap(unit: XliffUnit, segment: Segment, filled: bool, mark: Mark | None) -> Gap:
    key = f"{unit.key}/{mark.name}" if mark else unit.key
    there = _there(unit, mark) if filled else None
    width, remarks = unit.width, unit.remarks
    return Gap(segment, unit.line, filled, key, there=there, width=width, remarks=remarks)


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
