"""XLIFF, the localisation interchange format: read for training, and filled in."""

from collections.abc import Iterator, Mapping
from itertools import islice
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
)
from headway.localization.formats.inline import (
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
    XliffUnit,
    XliffUnits,
    of_segment,
    of_target,
)
from headway.localization.formats.xml_encoding import Contents, read_contents, utf8_chunks
from headway.localization.formats.xml_events import check_xml
from headway.localization.placeholders.segments import Segment

_LOOKED_AT = 1_000
"""Units that are looked at for the languages of a file."""


def read_xliff(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """The pairs of a file; `read` counts its units (`trans-unit`; from version 2 on `segment`).

    A file in the other direction is read the other way round. Dropped are `missing_language`,
    `do_not_translate`, `blank_side` (the source), `untranslated`, `fuzzy` (`XliffUnit.trusted`).
    Raises DataError as `XmlUnits.read` and `utf8_chunks`.
    """
    wanted, file = xliff_languages(path, languages), shown(path)
    for unit in XliffUnits(path).read(utf8_chunks(path)):
        report.read += 1
        sides = [side.text if side else "" for side in (unit.source, unit.target)]
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
    if unit.source is None or not unit.source.written:
        return "blank_side"
    if unit.target is None or not unit.target.written or unit.half_done:
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


class _XliffFilling(NamedTuple):
    """How the units of a file are filled in."""

    contents: Contents
    languages: tuple[str | None, str | None]
    second: bool
    """Version 2 or later."""

    def unit(self, unit: XliffUnit, *, overwrite: bool) -> EditableUnit:
        source = unit.source.text if unit.source else ""
        if not _fits(unit.languages, self.languages):
            return EditableUnit(source, reason="missing_language")
        if not unit.translate:
            return EditableUnit(source, reason="do_not_translate")
        if unit.source is None or _is_nothing(unit.source.segment):
            return EditableUnit(source, reason="blank_side")
        if unit.translated and not overwrite:
            done = unit.trusted and not unit.half_done
            return EditableUnit(source, reason="translated" if done else "fuzzy")
        segment = unit.source.segment
        gap = Unit(segment, line=unit.line, key=unit.key, width=unit.width)

        def edits(translations: Translations) -> list[Edit]:
            [(new, percent)] = translations
            assert new, "it is asked for what is translated"
            text = as_xml(new, segment, self.contents.newline)
            return [self.filled_target(unit, text, percent), *self.marked_unit(unit, percent)]

        return EditableUnit(source, (gap,), edits=edits)

    def marked_unit(self, unit: XliffUnit, percent: int | None) -> list[Edit]:
        """What says of the unit where the translation is from."""
        if self.second:
            return [changed_tag(self.contents.data, unit.start, of_segment(percent))]
        approved = unit.attributes.get("approved") == "yes"
        return [changed_tag(self.contents.data, unit.start, {"approved": "no"})] * approved

    def filled_target(self, unit: XliffUnit, text: bytes, percent: int | None) -> Edit:
        values = {} if self.second else of_target(percent)
        if unit.target is None:
            return self.new_target(unit, values, text)
        return with_tag(self.contents.data, unit.target, text, values)

    def new_target(self, unit: XliffUnit, values: Mapping[str, str], text: bytes) -> Edit:
        """A target behind the source, laid out as that is."""
        data, source = self.contents.data, unit.source
        assert source, "a unit without a source has no gaps"
        end = max(behind(data, side) for side in (source, unit.seg_source) if side)
        language = unit.languages[1] or self.languages[1]
        if XML + "lang" in source.attributes and language:
            values = {"xml:lang": language, **values}
        if XML + "space" in source.attributes:
            values = {"xml:space": source.attributes[XML + "space"], **values}
        name = tag_name(start_tag(data, source.start)).removesuffix(b"source") + b"target"
        opening = with_attributes(b"<%b>" % name, values)
        layout = indentation(data, source.start)
        return Edit(end, end, layout + opening + text + b"</%b>" % name)


def _is_nothing(segment: Segment) -> bool:
    """No text and no code; what has only codes is copied."""
    return segment.blank and not segment.codes
