"""TMX, translation memory exchange (1.1 to 1.4b): read for training, and filled in."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from headway import __version__
from headway.errors import ConfigError
from headway.text.cleaning import Pair, Report
from headway.text.languages import Languages, same_language
from headway.text.lines import shown
from headway.text.memories.inline import (
    END_TAG,
    START_TAG,
    Gathered,
    InlineText,
    Role,
    as_xml,
    element_end,
)
from headway.text.memories.segments import Counts, Gap, Segment
from headway.text.memories.xml_edits import (
    Edit,
    edited,
    indentation,
    line_end,
    opened,
    with_attributes,
)
from headway.text.memories.xml_encoding import Contents, read_contents, utf8_chunks
from headway.text.memories.xml_events import XmlEvents

MACHINE = "MT!"
"""The user who wrote a variant, if that was a machine; an entry that bears it is not learned from
before somebody has gone over it."""

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


class Unit(NamedTuple):
    """What stands in several languages: `tu`."""

    line: int
    source_language: str
    """`srclang` of the unit or else of the file; empty where it is any."""
    variants: list[Variant]


class _Sides:
    """Which variants of a unit are the two sides."""

    def __init__(self, source: str | None, target: str | None) -> None:
        self._wanted = source, target
        self._places = lru_cache(maxsize=1_000)(self._chosen)

    def of(self, unit: Unit) -> tuple[Variant | None, Variant | None]:
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


class _Units:
    """Gathers the units of a file while its events come in."""

    def __init__(self, path: Path, data: bytes = b"") -> None:
        self._events = XmlEvents(path, "tmx")
        self._events.tell(self._start, self._end)
        self._parser = self._events.parser
        self._inline = InlineText(self._events, _role, data)
        self._file_language = ""
        self._unit: Unit | None = None
        self._complete: list[Unit] = []
        self._segment = _NO_SEGMENT
        self._seg_start = -1

    def read(self, chunks: Iterable[bytes]) -> Iterator[Unit]:
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
        elif name == "tu":
            self._events.unit_begins()
            language = attributes.get("srclang", self._file_language)
            self._unit = Unit(self._events.line, "" if language == "*all*" else language, [])
        elif name == "header":
            self._file_language = attributes.get("srclang", "")

    def _end(self, name: str) -> None:
        if self._inline.active:
            segment = self._inline.end()
            if segment is not None:
                self._segment = segment, self._seg_start, self._parser.CurrentByteIndex
        elif name == "tuv":
            if self._unit is not None:
                self._end_variant(self._unit)
        elif name == "tu" and self._unit is not None:
            self._complete.append(self._unit)
            self._unit = None
            self._events.unit_ends()

    def _end_variant(self, unit: Unit) -> None:
        attributes, start = self._variant
        get = attributes.get
        unit.variants.append(
            Variant(
                get("xml:lang") or get("lang") or "",
                (get("changeid") or get("creationid")) == MACHINE,
                start,
                self._parser.CurrentByteIndex,
                *self._segment,
            )
        )


def _role(name: str, _attributes: Mapping[str, str]) -> Role:
    return Role.PAIR if name == "hi" else Role.WHOLE


def read_tmx(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """The pairs of a memory; `read` counts its units (`tu`).

    Dropped are `missing_language`, `untranslated` (the target is empty), `blank_side` (the source
    is) and `fuzzy` (made by a machine and not gone over).

    Raises:
        DataError: as `XmlEvents.run` and `utf8_chunks`.
    """
    source, target = tmx_languages(path, languages)
    sides, file = _Sides(source, target), shown(path)
    for unit in _Units(path).read(utf8_chunks(path)):
        report.read += 1
        left, right = sides.of(unit)
        reason = _reason(left, right)
        if reason or left is None or right is None:
            first = unit.variants[0].seg.text if unit.variants else ""
            report.drop(reason, file, unit.line, first)
        else:
            yield Pair(left.seg.text, right.seg.text, file, unit.line)


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
    """What is translated into what: as given, else as the units say.

    The source is `srclang` if a unit has it, else the language of the first variant; the target is
    the first other one of the same unit.
    """
    source, target = languages.source_language, languages.target_language
    if source and target:
        return source, target
    fallback: tuple[str | None, str | None] | None = None
    for unit in islice(_Units(path).read(utf8_chunks(path)), _LOOKED_AT):
        codes = [variant.language for variant in unit.variants if variant.language]
        wanted = source or unit.source_language
        found = _two_of(codes, wanted, target)
        if found and same_language(found[0], wanted):
            return found
        fallback = fallback or found or ((source or codes[0], target) if codes else None)
    return fallback or (source, target)


def _two_of(codes: Sequence[str], source: str, target: str | None) -> tuple[str, str] | None:
    """The source and the target among the languages of one unit, if there are two."""
    if target:
        codes = [code for code in codes if not same_language(code, target)]
        near = [code for code in codes if same_language(code, source)]
        return ((near or codes)[0], target) if codes else None
    exact = [code for code in codes if code.lower() == source.lower()]
    near = [code for code in codes if same_language(code, source)]
    first = (exact or near or codes or [""])[0]
    others = [code for code in codes if not any(same_language(code, s) for s in (first, source))]
    return (first, others[0]) if others else None


def open_document(
    path: Path, source_language: str | None, target_language: str | None, overwrite: bool
) -> "TmxDocument":
    """A memory whose units lack a language, or have it empty.

    Raises:
        ConfigError: it does not say which language is wanted.
        DataError: as `read_contents` and `XmlEvents.run`.
    """
    for _ in _Units(path).read(utf8_chunks(path)):
        pass  # what is to be refused is, before all of it is in memory
    contents = read_contents(path)
    languages = tmx_languages(path, _Given(source_language, target_language))
    document = TmxDocument(path, contents, *languages, overwrite=overwrite)
    if document.counts.units and not all(languages):
        raise ConfigError(
            f"the language to translate into must be known; {path} has units in "
            f"{languages[0] or 'no language'} only. Give --target-language."
        )
    return document


class _Given(NamedTuple):
    source_language: str | None
    target_language: str | None


class TmxDocument:
    """A memory to be filled in; see `Document`."""

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
        self._contents = contents
        self._places: list[tuple[Unit, Variant, Variant | None]] = []
        self._new_language = target or ""
        """As the file writes it, where it has that language."""
        gaps: list[Gap] = []
        n_units, left_alone = 0, Counter[str]()
        sides = _Sides(source, target)
        for unit in _Units(path, contents.data).read([contents.data]):
            n_units += 1
            left, right = sides.of(unit)
            self._new_language = right.language if right else self._new_language
            reason = _reason_to_leave(left, right)
            if left is None or (reason and not (reason in ("translated", "fuzzy") and overwrite)):
                left_alone[reason] += 1
                continue
            gaps.append(Gap(left.seg.segment, unit.line, filled=bool(reason)))
            self._places.append((unit, left, right))
        self.gaps: Sequence[Gap] = gaps
        self.counts = Counts(n_units, dict(left_alone))

    def can_hold(self, _translation: Segment) -> bool:
        """Always: XML writes by number what the encoding lacks."""
        return True

    def filled(self, translations: Sequence[Segment | None]) -> bytes:
        """See `Document.filled`: what is new bears the user `MT!`."""
        newline = line_end(self._contents.data)
        edits: list[Edit] = []
        for (unit, source, target), translation in zip(self._places, translations, strict=True):
            if translation is None:
                continue
            text = as_xml(translation, source.seg.segment).encode()
            text = text.replace(b"\n", newline)
            if target is None:
                edits.append(self._new_variant(unit, source, text))
            else:
                edits += self._changed_variant(target, text)
        return self._contents.restored(edited(self._contents.data, edits))

    def _new_variant(self, unit: Unit, source: Variant, text: bytes) -> Edit:
        """A variant behind the last one, laid out as the source's is."""
        data, last = self._contents.data, unit.variants[-1]
        end = element_end(data, last.start, last.end)
        tag = START_TAG.match(data, source.start)
        by_prefix = tag is not None and b"xml:lang" in tag[0]
        values = {
            "xml:lang" if by_prefix else "lang": self._new_language,
            "creationtool": "headway",
            "creationtoolversion": __version__,
            "creationid": MACHINE,
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

    def _changed_variant(self, target: Variant, text: bytes) -> list[Edit]:
        data = self._contents.data
        tag = START_TAG.match(data, target.start)
        assert tag, "a variant begins with its tag"
        changed = with_attributes(tag[0], {"changeid": MACHINE})
        if target.seg_start < 0:  # nothing in it, perhaps not even an end tag
            end_tag = b"</tuv>" if tag[0].endswith(b"/>") else b""
            return [
                Edit(tag.start(), tag.end(), opened(changed)),
                Edit(target.end, target.end, b"<seg>%b</seg>%b" % (text, end_tag)),
            ]
        seg = START_TAG.match(data, target.seg_start)
        assert seg, "a seg begins with its tag"
        end = element_end(data, target.seg_start, target.seg_end)
        return [
            Edit(tag.start(), tag.end(), changed),
            Edit(seg.start(), end, opened(seg[0]) + text + b"</seg>"),
        ]


def _reason_to_leave(source: Variant | None, target: Variant | None) -> str:
    """Why a unit needs no translation; empty if it does."""
    if source is None:
        return "missing_language"
    if source.seg.segment.blank:
        return "blank_side"
    if target is None or not target.seg.written:
        return ""
    return "fuzzy" if target.machine_made else "translated"
