"""Text files that hold texts at known places: decoded, cut there, and put together again."""

import codecs
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headway.core.errors import DataError
from headway.core.lines import damage_told, open_bytes
from headway.languages.codes import named_language
from headway.localization.placeholders.patterns import partners
from headway.localization.placeholders.segments import (
    Gap,
    PluralForm,
    Segment,
    Width,
    gaps_and_counts,
)

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Decoded:
    """A whole file in memory, as text."""

    path: Path
    text: str
    """All of it, without a byte order mark; line ends are the file's own."""
    encoding: str
    mark: bytes
    """What stands in front of the first character."""
    beyond: str = "strict"
    """What becomes of characters that the encoding lacks: `xmlcharrefreplace` in markup."""

    def restored(self, text: str) -> bytes:
        """A text in the encoding of the file."""
        return self.mark + text.encode(self.encoding, self.beyond)

    def line_of(self, position: int) -> int:
        """The line, from 1, of a character. Slow for many: see `Lines`."""
        return self.text.count("\n", 0, position) + 1

    def refusal(self, rule: str, position: int, what: str, remedy: str) -> DataError:
        return DataError(f"{rule}; {self.path}:{self.line_of(position)} {what}. {remedy}.")


class Lines:
    """Counts lines for positions that only grow."""

    def __init__(self, text: str) -> None:
        self._text, self._line, self._position = text, 1, 0

    def at(self, position: int) -> int:
        """The line, from 1, of a character behind those that were asked for before."""
        self._line += self._text.count("\n", self._position, position)
        self._position = position
        return self._line


def read_decoded(path: Path, *encodings: str) -> Decoded:
    """A file by its byte order mark, else UTF-16 if zeros show that, else by the first that fits.

    Raises:
        DataError: the file cannot be read, or is in none of the encodings.
    """
    with damage_told(path), open_bytes(path) as file:
        data = file.read()
    mark, marked = next((row for row in _MARKS if data.startswith(row[0])), (b"", ""))
    if not mark and data[1:2] == b"\0":
        marked = "utf-16-le"
    elif not mark and data[:1] == b"\0" and data[1:2]:
        marked = "utf-16-be"
    tried = (marked,) if marked else (encodings or ("utf-8",))
    for name in tried:
        try:
            text = data[len(mark) :].decode(name)
        except UnicodeError as error:
            failed = error
            continue
        decoded = Decoded(path, text, name, mark)
        if decoded.restored(text) == data:
            return decoded
    place = failed.start if isinstance(failed, UnicodeDecodeError) else 0
    line = data[: len(mark) + place].count(b"\n") + 1
    raise DataError(
        f"a file of this kind is {' or '.join(name.upper() for name in tried)}; {path}:{line} is "
        "not. Save it as UTF-8."
    ) from None


class Entry(NamedTuple):
    """A text in a file, and where its translation goes."""

    source: str | Segment
    line: int
    start: int
    end: int
    """The characters that a translation takes the place of; none where it is put in."""
    write: Callable[[Segment], str]
    """A translation as it stands there: quoted, escaped."""
    key: str = ""
    there: str = ""
    """The translation that stands there already."""
    remarks: tuple[str, ...] = ()
    plural: PluralForm | None = None
    width: Width | None = None
    beside: bool = False
    """Its translation stands beside it, and not in its place."""
    tag: tuple[int, int] = (0, 0)
    """Of an attribute: the tag that it stands in, which may be a code of a text around it."""

    @property
    def segment(self) -> Segment:
        return self.source if isinstance(self.source, Segment) else Segment((self.source,))


class Keyed(NamedTuple):
    """A text of a file of one language."""

    key: str
    text: str
    line: int
    remarks: tuple[str, ...] = ()


class SpanDocument:
    """A file of texts to be filled in; see `Document`. It has no mark for a machine's work."""

    def __init__(
        self,
        decoded: Decoded,
        entries: Iterable[Entry | str],
        languages: tuple[str | None, str | None],
        *,
        overwrite: bool,
        texts: Sequence[Keyed] = (),
    ) -> None:
        """A `str` among the entries is a unit that is left, for that reason; `texts` are those of
        the file where they are not the entries'."""
        self.source_language, self.target_language = languages
        self._decoded = decoded
        self._entries: list[Entry] = []
        found, units = list[Keyed](), list[tuple[str, Sequence[Gap], str]]()
        for entry in entries:
            if isinstance(entry, str):
                units.append(("", (), entry))
                continue
            source = entry.segment.text
            found.append(Keyed(entry.key, source, entry.line, entry.remarks))
            if entry.segment.blank or (entry.there.strip() and not overwrite):
                units.append((source, (), "blank_side" if entry.segment.blank else "translated"))
            else:
                self._entries.append(entry)
                units.append((source, (_gap(entry),), ""))
        self.gaps, self.counts = gaps_and_counts(units)
        self.texts: Sequence[Keyed] = texts or found
        """Every text of the file, those without a gap too."""

    def can_hold(self, translation: Segment) -> bool:
        """Whether the file's encoding has all of its characters."""
        try:
            self._decoded.restored(translation.text)
        except UnicodeError:
            return False
        return "\0" not in translation.text

    def filled(
        self, translations: Sequence[Segment | None], _percents: Sequence[int | None] = ()
    ) -> bytes:
        """The file with a translation in each gap; see `Document`.

        What is translated as itself stays as it was written.
        """
        return self._decoded.restored(self.rewritten(translations))

    def rewritten(self, translations: Sequence[Segment | None]) -> str:
        """The same as text."""
        text = self._decoded.text
        new = [
            (entry, entry.write(nested_as(translation, entry.segment)))
            for entry, translation in zip(self._entries, translations, strict=True)
            if translation is not None and (translation != entry.segment or entry.beside)
        ]
        edits, inside = list[_Edit](), dict[tuple[int, tuple[int, int]], list[_Edit]]()
        for entry, written in sorted(new, key=lambda one: (one[0].start, -one[0].end)):
            edit = _Edit(entry.start, entry.end, written)
            if edits and entry.start < edits[-1].end:
                inside.setdefault((len(edits) - 1, entry.tag), []).append(edit)
            else:
                edits.append(edit)
        for (number, (start, end)), some in inside.items():
            tag = _edited(text, start, end, some)
            written = edits[number].written.replace(text[start:end], tag)
            edits[number] = edits[number]._replace(written=written)
        return _edited(text, 0, len(text), edits)


def one_language(
    read: Callable[[Path], Decoded],
    entries: Callable[[Decoded, str | None], Iterable[Entry | str]],
) -> Callable[[Path, str | None, str | None, bool], SpanDocument]:
    """What opens a file of one language, all of whose texts become those of another: `entries` of
    what is `read`, for a target language. It raises DataError as `read` and `entries` do."""

    def open_document(
        path: Path, _source_language: str | None, target_language: str | None, overwrite: bool
    ) -> SpanDocument:
        decoded = read(path)
        languages = named_language(path), target_language
        found = entries(decoded, target_language)
        return SpanDocument(decoded, found, languages, overwrite=overwrite)

    return open_document


class _Edit(NamedTuple):
    start: int
    end: int
    written: str


def _edited(text: str, start: int, end: int, edits: Iterable[_Edit]) -> str:
    """A part of a text with all edits done; they are in order, and none overlap."""
    pieces = list[str]()
    for edit in edits:
        pieces += text[start : edit.start], edit.written
        start = edit.end
    return "".join((*pieces, text[start:end]))


def nested_as(translation: Segment, source: Segment) -> Segment:
    """A translation in which as many codes lie in pairs as in its source, if need be at its end."""
    pairs = [partners([code.text for code in one.codes]) for one in (translation, source)]
    if len(pairs[0]) == len(pairs[1]):
        return translation
    text = "".join(part for part in translation.parts if isinstance(part, str))
    return Segment((text.rstrip(), *source.codes))


def _gap(entry: Entry) -> Gap:
    return Gap(
        entry.segment,
        entry.line,
        filled=bool(entry.there.strip()),
        key=entry.key,
        there=Segment((entry.there,)) if entry.there else None,
        width=entry.width,
        plural=entry.plural,
        remarks=entry.remarks,
    )
