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
    Document,
    Edit,
    EditableUnit,
    Translations,
    edited,
)
from headway.localization.formats.inline import (
    Mark,
    as_xml,
    behind,
    changed_tag,
    indentation,
    start_tag,
    tag_name,
    with_attributes,
    with_tag,
)
from headway.localization.formats.units import Unit
from headway.localization.formats.xliff_units import (
    XML,
    Element,
    XliffUnit,
    XliffUnits,
    of_memoq,
    of_segment,
    of_studio,
    of_target,
)
from headway.localization.formats.xml_encoding import Contents, read_contents, utf8_chunks
from headway.localization.formats.xml_events import check_xml
from headway.localization.placeholders.segments import Segment

_MEMOQ_PREFIX = re.compile(rb"\s([\w.-]+):status\s*=")
_LOOKED_AT = 1_000
"""Units that are looked at for the languages of a file."""


def read_xliff(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """The pairs of a file; `read` counts its units (`trans-unit`; from version 2 on `segment`).

    A file in the other direction is read the other way round. Dropped are `missing_language`,
    `do_not_translate`, `blank_side` (the source), `untranslated`, `fuzzy` (`XliffUnit.trusted`).
    Raises DataError as `XmlUnits.read` and `utf8_chunks`.
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
) -> Document:
    """A file whose units lack their targets.

    Raises DataError as `read_contents` and `XmlUnits.read`.
    """
    check_xml(path, "xliff", utf8_chunks(path), namespaces=True)  # before all is in memory
    contents = read_contents(path)
    data, languages = contents.data, LanguagePair(source_language, target_language)
    named = xliff_languages(path, languages)
    xliff = XliffUnits(path, data)
    found = list(xliff.read([data]))
    filling = _XliffFilling(contents, named, xliff.second)
    units = [filling.unit(unit, overwrite=overwrite) for unit in found]
    also: list[Edit] = []
    if named[1] and xliff.second and "trgLang" not in xliff.root.attributes:
        also = [changed_tag(data, xliff.root.start, {"trgLang": named[1]})]
    if units and all(unit.reason == "missing_language" for unit in units):
        named = xliff_languages(path, LanguagePair(None, None))
    return Document(data, contents.restored, units, named, also=also)


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

    contents: Contents
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
        marks, gaps, locked = list[Mark | None](), list[Unit](), False
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
        data, values = self.contents.data, dict[str, str | None]()
        if self.second:
            values |= of_segment(_least(parts))
        elif unit.attributes.get("approved") == "yes":
            values |= {"approved": "no"}
        if unit.memoq:
            found = _MEMOQ_PREFIX.search(start_tag(data, unit.start))
            prefix = found[1].decode() if found else "mq"
            values |= {f"{prefix}:{name}": of for name, of in of_memoq(_least(parts)).items()}
        return ([changed_tag(data, unit.start, values)] if values else []) + [
            changed_tag(data, unit.studio[part.mark.name].start, of_studio(part.percent))
            for part in parts
            if part.mark is not None and part.mark.name in unit.studio
        ]

    def filled_target(self, unit: XliffUnit, parts: Sequence[_Part]) -> list[Edit]:
        """The target with these translations in it, written anew where it has no place for them."""
        source, target, data = unit.source, unit.target, self.contents.data
        assert source, "a unit without a source has no gaps"
        elsewhere = self.second or unit.memoq or unit.studio
        values = {} if elsewhere else of_target(_least(parts))
        answers = [part.mark and unit.answers.get(part.mark.name) for part in parts]
        if parts[0].mark is None:
            text = self.written(parts[0].translation, source.content.segment)
        elif target is not None and all(answers):
            both = zip(answers, parts, strict=True)
            edits = [self.filled_mark(answer, part) for answer, part in both if answer]
            return [*edits, changed_tag(data, target.start, values)] if values else edits
        else:
            text = self.from_source(unit, parts)
        if target is None:
            return [self.new_target(unit, source, values, text)]
        return [with_tag(data, target, text, values)]

    def filled_mark(self, mark: Mark, part: _Part) -> Edit:
        """The mark in the target that answers to one in the source, with a new text."""
        assert part.mark, "it answers to one"
        text = self.written(part.translation, part.mark.segment)
        return with_tag(self.contents.data, mark, text, {})

    def from_source(self, unit: XliffUnit, parts: Sequence[_Part]) -> bytes:
        """The inside of `seg-source`, each segment of it translated, as it was, or else empty."""
        assert unit.seg_source, "marks stand in it"
        data, source = self.contents.data, unit.seg_source
        translations = {part.mark.name: part.translation for part in parts if part.mark}
        start = _inside(data, source)
        edits = []
        for mark in source.content.marks:
            known, there = translations.get(mark.name), unit.answers.get(mark.name)
            if known or there or not mark.segment.blank:
                was = data[_inside(data, there) : there.end] if there else b""
                text = self.written(known, mark.segment) if known else was
                edits.append(Edit(_inside(data, mark) - start, mark.end - start, text))
        return edited(data[start : source.end], edits)

    def new_target(
        self, unit: XliffUnit, source: Element, values: Mapping[str, str | None], text: bytes
    ) -> Edit:
        """A target behind the source, laid out as that is."""
        data = self.contents.data
        sides = [side for side in (source, unit.seg_source) if side]
        end = behind(data, max(sides, key=lambda side: side.start))
        language = unit.languages[1] or self.languages[1]
        if XML + "lang" in source.attributes and language:
            values = {"xml:lang": language, **values}
        if XML + "space" in source.attributes:
            values = {"xml:space": source.attributes[XML + "space"], **values}
        name = tag_name(start_tag(data, source.start)).removesuffix(b"source") + b"target"
        opening = with_attributes(b"<%b>" % name, values)
        layout = indentation(data, source.start)
        return Edit(end, end, layout + opening + text + b"</%b>" % name)

    def written(self, translation: Segment, source: Segment) -> bytes:
        return as_xml(translation, source).encode().replace(b"\n", self.contents.newline)


def _inside(data: bytes, element: Element | Mark) -> int:
    return element.start + len(start_tag(data, element.start))


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


def _gap(unit: XliffUnit, segment: Segment, filled: bool, mark: Mark | None) -> Unit:
    key = f"{unit.key}/{mark.name}" if mark else unit.key
    answer = unit.answers.get(mark.name) if mark else None
    there = None
    if filled and unit.target is not None:
        there = answer.segment if answer else unit.target.content.segment
    return Unit(segment, line=unit.line, key=key, there=there, width=unit.width)


def _distinct(element: Element | None) -> bool:
    """Whether there are marks in it, each with a name of its own."""
    marks = element.content.marks if element else ()
    return 0 < len(marks) == len({mark.name for mark in marks})


def _is_nothing(segment: Segment) -> bool:
    """No text and no code; what has only codes is copied."""
    return segment.blank and not segment.codes
