"""Files of text that hold texts at known places: decoded, cut there, and put together again."""

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from headway.core.errors import DataError
from headway.core.lines import open_bytes
from headway.languages.path_languages import named_language
from headway.languages.plurals import also_one, forms_of
from headway.localization.formats.documents import (
    Document,
    Edit,
    EditableUnit,
    KeyedText,
    Translations,
)
from headway.localization.formats.units import PluralForm, Unit, Width
from headway.localization.placeholders.patterns import find, partners
from headway.localization.placeholders.segments import Segment

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins in the same way
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
FORM_NAMES = ("zero", "one", "two", "few", "many", "other")


@dataclass(frozen=True)
class Decoded:
    """A whole file in memory, as text."""

    path: Path
    text: str
    """All of it, without a byte order mark; line ends are the file's own."""
    encoding: str = "utf-8"
    mark: bytes = b""
    """What stands in front of the first character."""
    beyond: str = "strict"
    """What becomes of characters that the encoding lacks: `xmlcharrefreplace` in markup."""

    @property
    def newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def restored(self, text: str) -> bytes:
        """A text in the encoding of the file."""
        return self.mark + text.encode(self.encoding, self.beyond)

    def can_hold(self, translation: Segment) -> bool:
        """Whether the file's encoding has all of its characters."""
        try:
            self.restored(translation.text)
        except UnicodeError:
            return False
        return "\0" not in translation.text

    def refusal(self, rule: str, position: int, what: str, remedy: str) -> DataError:
        line = self.text.count("\n", 0, position) + 1
        return DataError(f"{rule}; {self.path}:{line} {what}. {remedy}.")


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

    Raises DataError: the file cannot be read, or is in none of the encodings.
    """
    with open_bytes(path) as file:
        data = file.read()
    mark, marked = next((row for row in BYTE_ORDER_MARKS if data.startswith(row[0])), (b"", ""))
    if not mark and b"\0" in data[:2] and data[1:2]:
        marked = "utf-16-le" if data[1:2] == b"\0" else "utf-16-be"
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

    def unit(self, *, overwrite: bool) -> EditableUnit:
        """What is translated as itself stays as it was written."""
        segment = self.segment
        if segment.blank or (self.there.strip() and not overwrite):
            reason = "blank_side" if segment.blank else "translated"
            return EditableUnit(segment.text, reason=reason)
        gap = Unit(segment, line=self.line, key=self.key, width=self.width, plural=self.plural)

        def edits(translations: Translations) -> list[Edit]:
            [(new, _)] = translations
            if new is None or (new == segment and not self.beside):
                return []
            return [Edit(self.start, self.end, self.write(nested_as(new, segment)), self.tag)]

        return EditableUnit(segment.text, (gap,), edits=edits)


def of_entries(
    decoded: Decoded,
    entries: Iterable[Entry | str],
    languages: tuple[str | None, str | None],
    *,
    overwrite: bool,
    texts: Sequence[KeyedText] = (),
    restored: Callable[[str], bytes] | None = None,
) -> Document:
    """A file of texts to be filled in; it has no mark for a machine's work.

    A `str` among the entries is a unit that is left, for that reason; `texts` are those of the file
    where they are not the entries'.
    """
    units, found = list[EditableUnit](), list[KeyedText]()
    for one in entries:
        if isinstance(one, str):
            units.append(EditableUnit("", reason=one))
        else:
            units.append(one.unit(overwrite=overwrite))
            found.append(KeyedText(one.key, one.segment.text, one.line, one.remarks))
    return Document(
        decoded.text,
        restored or decoded.restored,
        units,
        languages,
        can_hold=decoded.can_hold,
        texts=texts or found,
    )


class OwnLanguage(NamedTuple):
    """The language that a file says it is in, and where it says so."""

    code: str
    start: int
    end: int
    written: Callable[[str], str] = str
    """Another code as it stands there."""


def one_language(
    read: Callable[[Path], Decoded],
    entries: Callable[[Decoded, str | None], Iterable[Entry | str]],
    own_language: Callable[[Decoded], OwnLanguage | None] = lambda _: None,
) -> Callable[[Path, str | None, str | None, bool], Document]:
    """What opens a file of one language, all of whose texts become those of another: `entries` of
    what is `read`, for a target language. Where the file says its `own_language`, that becomes the
    target language. It raises DataError as `read`, `entries` and `own_language` do."""

    def open_document(
        path: Path, _source_language: str | None, target_language: str | None, overwrite: bool
    ) -> Document:
        decoded = read(path)
        own = own_language(decoded)
        if own and target_language:
            text, new = decoded.text, own.written(target_language)
            decoded = replace(decoded, text=text[: own.start] + new + text[own.end :])
        languages = (own.code if own else "") or named_language(path), target_language
        found = entries(decoded, target_language)
        return of_entries(decoded, found, languages, overwrite=overwrite)

    return open_document


def nested_as(translation: Segment, source: Segment) -> Segment:
    """A translation in which as many codes lie in pairs as in its source, if need be at its end."""
    pairs = [partners([code.text for code in one.codes]) for one in (translation, source)]
    if len(pairs[0]) == len(pairs[1]):
        return translation
    return Segment((translation.outside_codes.rstrip(), *source.codes))


def plural_entries(
    group: Mapping[str, Entry], language: str | None, added: Callable[[str], Entry]
) -> Iterator[Entry]:
    """Forms that stand each by itself (`key_one`, `<item quantity="one">`, `one:`), by their names,
    and those that only the target language has.

    `added` puts in a form of that name, of any text. Where other numbers take `one` too and
    only `other` has a place for the number, that is both.
    """
    forms = forms_of(language) if language else ()
    names = [form.name for form in forms]
    one, other, also = group.get("one"), group.get("other"), also_one(language)
    by_other = (
        one is not None and other is not None and also is not None
        and not (also == 0 and "zero" in group) and _n_codes(one) < _n_codes(other)
    )  # fmt: skip
    for name, entry in group.items():
        if name not in names:
            yield entry
            continue
        own = other is None or not (by_other and name == "one")
        place = names.index(name)
        plural = PluralForm(place, len(forms), forms[place].number, name, own_source=own)
        source = entry.source if own or not other else other.source
        yield entry._replace(plural=plural, source=source)
    if other is None or len(group) < 2:
        return
    for place, form in enumerate(forms):
        if form.name not in group:
            plural = PluralForm(place, len(forms), form.number, form.name, own_source=False)
            yield added(form.name)._replace(source=other.source, plural=plural)


def _n_codes(entry: Entry) -> int:
    return len(find(entry.segment.text)) + len(entry.segment.codes)


def inserted(
    line: int, place: int, before: str, write: Callable[[Segment], str], key: str
) -> Entry:
    """An entry that is put in at a place, with what stands in front of it."""
    return Entry("", line, place, place, lambda new: before + write(new), key)
