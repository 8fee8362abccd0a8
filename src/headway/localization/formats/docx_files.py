"""Documents of Word (`.docx`): paragraphs, in the body, headers, footers and notes.

Runs of a paragraph that look alike are one text; where the look changes, paired codes stand.
"""

import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from html import unescape
from pathlib import Path
from typing import NamedTuple

from headway.core.errors import DataError
from headway.core.lines import check_file
from headway.languages.path_languages import named_language
from headway.localization.formats.documents import Document
from headway.localization.formats.markup import (
    MarkupPiece,
    Token,
    closings,
    escaped,
    tokens,
    trimmed,
)
from headway.localization.formats.spans import Decoded, Entry, of_entries
from headway.localization.formats.xml_events import check_xml
from headway.localization.placeholders.segments import Code, Segment

_TEXTS = re.compile(r"word/(document|header\d*|footer\d*|footnotes|endnotes)\.xml")
_ROOTS = {"header": "w:hdr", "footer": "w:ftr"}
_MOST_BYTES = 32 << 20
"""Of all texts of a document, unpacked."""
_DAMAGE = zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError, ValueError
"""What `zipfile` raises of an archive that is damaged, or has a password."""
_IGNORED = re.compile(r"<w:(?:lang|noProof|proofErr)\b[^<>]*/>")
_FORGOTTEN = frozenset(("w:prooferr", "w:lastrenderedpagebreak", "w:softhyphen"))
"""What Word finds out again."""
_FRAMES = frozenset(("w:hyperlink", "w:ins", "w:smarttag", "w:fldsimple"))
"""What holds runs; all else in a paragraph but runs is one code."""
_NAMES = {"<w:b/>": "b", "<w:i/>": "i", "<w:u ": "u", "<w:vertAlign": "sup"}


def open_document(
    path: Path, _source_language: str | None, target_language: str | None, overwrite: bool
) -> Document:
    """A document of one language, all of whose texts become those of another.

    Raises DataError: it is no document of Word, or unpacks to far too much.
    """
    check_file(path)
    packed = path.read_bytes()
    members = _members(path, packed)
    text, entries = "", list[Entry]()
    for one in members.values():
        entries += (
            entry._replace(start=len(text) + entry.start, end=len(text) + entry.end)
            for entry in _entries(one.text)
        )
        text += one.text + "\0"  # which XML does not have

    def restored(whole: str) -> bytes:
        if whole == text:
            return packed
        both = zip(members.items(), whole.split("\0"), strict=False)
        new = {name: one.restored(written) for (name, one), written in both}
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(out, "w") as archive:
            for info in old.infolist():
                data = new.get(info.filename)
                archive.writestr(info, old.read(info) if data is None else data)
        return out.getvalue()

    languages = named_language(path), target_language
    document = of_entries(
        Decoded(path, text), entries, languages, overwrite=overwrite, restored=restored
    )
    document.can_hold = lambda new: unescape(escaped(new.text)) == new.text
    return document


def _members(path: Path, data: bytes) -> dict[str, Decoded]:
    """The files in a document that hold its texts."""
    found, room = dict[str, Decoded](), _MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            names = [name for name in packed.namelist() if _TEXTS.fullmatch(name)]
            for name in sorted(names, key=lambda name: "document" not in name):
                with packed.open(name) as file:
                    raw = file.read(room + 1)
                room -= len(raw)
                if room < 0:
                    raise DataError(
                        f"the texts of a document are at most {_MOST_BYTES >> 20} MiB; those of "
                        f"{path} unpack to more. Part it in several."
                    )
                found[name] = _decoded(path, name, raw)
            if damaged := packed.testzip():  # a picture, which is copied when all is translated
                raise zipfile.BadZipFile(f"{damaged} is damaged")
    except _DAMAGE as error:
        raise DataError(
            f"a document of Word is a whole zip archive without a password; {path} is not "
            f"({error}). Save it again as .docx."
        ) from None
    if "word/document.xml" not in found:
        raise DataError(
            f"a document of Word holds word/document.xml; {path} does not. Save it again as .docx."
        )
    return found


def _decoded(path: Path, name: str, raw: bytes) -> Decoded:
    mark = raw[:3] if raw.startswith(b"\xef\xbb\xbf") else b""
    raw, place = raw[len(mark) :], path / name
    kind = re.match(r"word/([a-z]+)", name)
    assert kind, "only such members are read"
    check_xml(place, _ROOTS.get(kind[1], f"w:{kind[1]}"), [raw])
    try:
        return Decoded(place, raw.decode(), "utf-8", mark)
    except UnicodeError:
        raise DataError(
            f"a document of Word is UTF-8; {place} is not. Save it again as .docx."
        ) from None


class _Atom(NamedTuple):
    """A part of a paragraph: a text, or all else, as a code."""

    part: str | Code
    start: int
    end: int
    """Of the whole run that it is in."""
    look: str = ""
    """Of text: how it looks, as `w:rPr`."""


def _entries(text: str) -> Iterator[Entry]:
    some = list(tokens(text))
    ends = closings(some)
    number, behind = 0, 0
    for n, one in enumerate(some):
        if one.name == "w:p" and one.kind == "start" and n >= behind:
            number, behind = number + 1, ends[n]  # what lies in another one, as in a drawing, stays
            atoms = _inner(list(_atoms(text, some, range(n + 1, ends[n]), ends)))
            if any(map(str.isalnum, "".join(a.part for a in atoms if isinstance(a.part, str)))):
                yield _entry(text, atoms, number)


def _inner(atoms: Sequence[_Atom]) -> Sequence[_Atom]:
    """Without what stands around all of the text, but for what shares a run with it."""
    inner = trimmed([MarkupPiece(atom.part, atom.start, atom.end) for atom in atoms])
    if not inner:
        return ()
    return [a for a in atoms if inner[0].start <= a.start and a.end <= inner[-1].end]


def _entry(text: str, atoms: Sequence[_Atom], number: int) -> Entry:
    looks = Counter[str]()
    for atom in atoms:
        looks[atom.look] += len(atom.part) if isinstance(atom.part, str) else 0
    base = looks.most_common(1)[0][0]
    opens = dict[str, str]()
    segment = Segment.of(_parts(atoms, base, opens))
    start, end = atoms[0].start, atoms[-1].end
    if len(atoms) == 1:  # only what stands in its w:t is replaced
        found = re.search(r"<w:t(?:\s[^<>]*)?>([^<]*)</w:t>", text[start:end])
        if found and unescape(found[1]) == segment.text and segment.text.strip() == segment.text:
            span = start + found.start(1), start + found.end(1)
            return Entry(segment, number, *span, lambda new: escaped(new.text))
    return Entry(segment, number, start, end, partial(_written, base, opens))


def _parts(atoms: Sequence[_Atom], base: str, opens: dict[str, str]) -> list[str | Code]:
    """Text, with codes where its look changes; `opens` hears how text looks behind a code."""
    parts, looks = list[str | Code](), [base]
    for n, atom in enumerate(atoms):
        part, look = atom.part, atom.look
        if isinstance(part, Code):
            parts.append(part)
            if part.text == "<a>":
                rest = (one.look for one in atoms[n:] if isinstance(one.part, str))
                looks.append(next(rest, looks[-1]))
                opens[part.raw] = looks[-1]
            elif part.text == "</a>" and len(looks) > 1:
                looks.pop()
        elif look == looks[-1]:
            parts.append(part)
        else:
            name = next((name for sign, name in _NAMES.items() if sign in look), "span")
            closes = Code(f"</{name}>", "</w:rPr>")
            if n and atoms[n - 1].look == look and parts[-1] == closes:
                parts[-1:] = [part, closes]
            else:
                parts += [Code(f"<{name}>", look or "<w:rPr/>"), part, closes]
    return parts


def _written(base: str, opens: Mapping[str, str], new: Segment) -> str:
    pieces, looks = list[str](), [base]
    for part in new.parts:
        if isinstance(part, str):
            pieces.append(_run(looks[-1], part))
        elif part.raw == "</w:rPr>":
            looks.pop()
        elif part.raw.startswith("<w:rPr"):
            looks.append(part.raw if part.raw != "<w:rPr/>" else "")
        else:
            pieces.append(part.raw)
            if part.raw in opens:
                looks.append(opens[part.raw])
            elif part.text == "</a>":
                looks.pop()
    return "".join(pieces)


def _run(look: str, text: str) -> str:
    return f'<w:r>{look}<w:t xml:space="preserve">{escaped(text)}</w:t></w:r>'


def _atoms(
    text: str, some: Sequence[Token], places: range, ends: Mapping[int, int]
) -> Iterator[_Atom]:
    """What stands in a paragraph, in order, without its properties."""
    n = places.start
    while n < places.stop:
        one, last = some[n], ends.get(n, n)
        end = some[last].end
        if one.name == "w:r" and "w:fldChar" in text[one.start : end]:
            last = _field_end(text, some, n, places.stop, ends)
            end = some[last].end
            yield _Atom(Code("<x/>", text[one.start : end]), one.start, end)
        elif one.name == "w:r" and one.kind == "start":
            yield from _of_run(text, some, n, last, ends)
        elif one.name in _FRAMES and one.kind != "empty":
            last, shown = n, "<a>" if one.kind == "start" else "</a>"
            yield _Atom(Code(shown, text[one.start : one.end]), one.start, one.end)
        elif one.name not in {*_FORGOTTEN, "w:ppr"} and one.kind in ("start", "empty"):
            yield _Atom(Code("<x/>", text[one.start : end]), one.start, end)
        n = last + 1


def _of_run(
    text: str, some: Sequence[Token], first: int, last: int, ends: Mapping[int, int]
) -> Iterator[_Atom]:
    start, end, look, n = some[first].start, some[last].end, "", first + 1
    while n < last:
        one, behind = some[n], ends.get(n, n)
        raw = text[one.start : some[behind].end]
        if one.name == "w:rpr":
            look = _IGNORED.sub("", raw)
            look = "" if look in ("<w:rPr></w:rPr>", "<w:rPr/>") else look
        elif one.name == "w:t":
            inside = text[one.end : some[behind].start] if behind > n else ""
            if inside:
                yield _Atom(unescape(inside), start, end, look)
        elif one.name not in _FORGOTTEN and one.kind in ("start", "empty"):
            shown = "<br/>" if one.name in ("w:br", "w:cr") else "<x/>"
            yield _Atom(Code(shown, f"<w:r>{look}{raw}</w:r>"), start, end)
        n = behind + 1


def _field_end(
    text: str, some: Sequence[Token], first: int, stop: int, ends: Mapping[int, int]
) -> int:
    """The last tag of a field (a page number, a reference), which is one code."""
    depth, n = 0, first
    while n < stop:
        last = ends.get(n, n)
        if some[n].name == "w:r":
            raw = text[some[n].start : some[last].end]
            depth += raw.count('w:fldCharType="begin"') - raw.count('w:fldCharType="end"')
            if depth <= 0:
                return last
        n = last + 1
    return stop - 1
