"""Subtitles, SubRip (`.srt`) and WebVTT (`.vtt`): cues of a time and a few short lines.

A sentence over several cues is translated as a whole, and its translation cut in the same shares;
lines are wrapped anew within the cue.
"""

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from headway.languages.path_languages import named_language
from headway.languages.scripts import WIDE
from headway.localization.formats.documents import Document, KeyedText
from headway.localization.formats.old_encodings import read_utf8_or_old
from headway.localization.formats.spans import Decoded, Entry, Lines, of_entries
from headway.localization.placeholders.segments import Segment

COLUMNS = 42
"""A line of a cue is at most so wide, or as wide as the widest line of its source."""
_MOST_CUES = 4
"""A sentence over more cues than that is cut where it is."""

_TIME = re.compile(
    r"[ \t]*((?:\d{1,4}:)?\d{1,2}:\d{1,2}[,.]\d{1,3})[ \t]*-->[ \t]*"
    r"((?:\d{1,4}:)?\d{1,2}:\d{1,2}[,.]\d{1,3})[^\r\n]*"
)
_MEANT_AS_TIME = re.compile(r"(?:\A|(?<=[\r\n]))[ \t]*+\d++:\d[\d:.,]*+[ \t]*+-->[^\r\n]*")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_RULE = "the times of a cue are as in 00:00:01,500 --> 00:00:02,000"
_MARKUP = re.compile(r"<[^>]{0,200}>|\{\\[^}]{0,100}\}")
_SPEAKER = re.compile(r"\s*[-\u2010-\u2015]")
_SENTENCE_ENDS = re.compile(
    r"[.?!\u2026\u3002\uff01\uff1f:;\u266a][\"'\u201d\u2019\u00bb)\]]*\s*\Z"
)
_WIDE = re.compile(f"(?<=[{WIDE}])")


class _Cue(NamedTuple):
    time: str
    start: int
    end: int
    """Of its text, without the last line end."""
    text: str
    """Its lines are parted by `\\n`."""
    line: int


def open_document(
    path: Path,
    _source_language: str | None,
    target_language: str | None,
    overwrite: bool,
    known: Container[str] = frozenset(),
) -> Document:
    """Subtitles of one language, which become those of another.

    A cue whose time is `known` has its translation, and is no part of a sentence over several.
    """
    decoded = read_utf8_or_old(path)
    cues = list(_cues(decoded))
    entries = [_entry(decoded, group) for group in _sentences(cues, known)]
    languages = named_language(path), target_language
    texts = [KeyedText(cue.time, _unwrapped(cue.text), cue.line) for cue in cues]
    return of_entries(decoded, entries, languages, overwrite=overwrite, texts=texts)


def _entry(decoded: Decoded, cues: Sequence[_Cue]) -> Entry:
    """One text for all cues of a sentence; what stands between them stays."""
    between = [decoded.text[one.end : other.start] for one, other in pairwise(cues)]

    def write(new: Segment) -> str:
        texts = _shared(new.text, [_columns(cue.text) for cue in cues])
        wrapped = [
            decoded.newline.join(filter(str.strip, re.split(r"[\r\n]+", _wrapped(text, cue.text))))
            for text, cue in zip(texts, cues, strict=True)
        ]
        return wrapped[0] + "".join(a + b for a, b in zip(between, wrapped[1:], strict=True))

    source = " ".join(_unwrapped(cue.text) for cue in cues)
    return Entry(source, cues[0].line, cues[0].start, cues[-1].end, write, cues[0].time)


def _sentences(cues: Iterable[_Cue], known: Container[str]) -> Iterator[list[_Cue]]:
    """Cues that hold one sentence together; those with markup or several speakers stand alone."""
    group: list[_Cue] = []
    for cue in cues:
        alone = any(one.time in known for one in (*group[-1:], cue))
        if group and (alone or len(group) >= _MOST_CUES or not _goes_on(group[-1].text, cue.text)):
            yield group
            group = []
        group.append(cue)
    if group:
        yield group


def _goes_on(text: str, following: str) -> bool:
    alone = any(_MARKUP.search(one) or _SPEAKER.match(one) for one in (text, following))
    first = following.lstrip()[:1]
    begun = bool(text.strip()) and not _SENTENCE_ENDS.search(text)
    return begun and not alone and first.islower()


def _unwrapped(text: str) -> str:
    """The lines as one, unless each is of a speaker of its own."""
    lines = text.split("\n")
    if any(_SPEAKER.match(line) for line in lines):
        return text
    return " ".join(line.strip() for line in lines)


def _shared(text: str, shares: Sequence[int]) -> list[str]:
    """A text cut between words into parts whose widths are to each other as the shares."""
    words = _words(text)
    parts: list[str] = []
    for number in range(len(shares)):
        rest = len(shares) - number - 1
        whole = sum(_columns(word) for word in words)
        wanted = whole * shares[number] / max(1, sum(shares[number:]))
        taken, width = 0, 0.0
        while taken < len(words) - rest and (not rest or not taken or width < wanted):
            following = _columns(words[taken])
            if rest and taken and width + following / 2 > wanted:
                break
            width += following
            taken += 1
        parts.append("".join(words[:taken]).strip())
        words = words[taken:]
    return parts


def _words(text: str) -> list[str]:
    """Pieces that may stand on different lines; joined they are the text."""
    found = re.findall(r"\S+\s*|\s+", text)
    return [piece for word in found for piece in _WIDE.split(word) if piece]


def _wrapped(text: str, source: str) -> str:
    """A text in lines that are about equally wide, each no wider than is fit for a screen."""
    if "\n" in text or any(_SPEAKER.match(line) for line in source.split("\n")):
        return text
    room = max(COLUMNS, *(_columns(line) for line in source.split("\n")))
    width = _columns(text)
    if width <= room:
        return text
    n_lines = -(-width // room)
    for most in range(-(-width // n_lines), room + 1):
        lines = _filled(text, most)
        if len(lines) <= n_lines:
            return "\n".join(lines)
    return "\n".join(_filled(text, room))


def _filled(text: str, most: int) -> list[str]:
    lines, line = list[str](), ""
    for word in _words(text):
        if line and _columns((line + word).rstrip()) > most:
            lines.append(line.rstrip())
            line = ""
        line += word
    return [*lines, line.rstrip()]


def _columns(text: str) -> int:
    """How wide a text is, markup left out: two for a character of East Asian width."""
    text = _MARKUP.sub("", text)
    return len(text) + sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)


def _cues(decoded: Decoded) -> Iterator[_Cue]:
    """Every cue; whatever else there is (numbers, notes, styles) is passed over.

    Raises DataError: a time is none, so that its cue would be passed over, too.
    """
    text, lines, position = decoded.text, Lines(decoded.text), 0
    for meant in _MEANT_AS_TIME.finditer(text):
        if not _TIME.fullmatch(meant[0]):
            what = f"has {meant[0].strip()!r}"
            raise decoded.refusal(_RULE, meant.start(), what, "Mend the time there")
    while position < len(text):
        line = _LINE.match(text, position)
        assert line, "it matches the empty string"
        position = max(line.end(), position + 1)
        time = _TIME.fullmatch(line[1])
        if not time:
            if re.match(r"(?:NOTE|STYLE|REGION)(?:[ \t]|\Z)", line[1]):
                position = _behind_block(text, position)
            continue
        start = position
        position = _behind_block(text, position)
        inside = text[start:position]
        end = start + len(inside.rstrip("\r\n"))
        if start < end:
            plain = re.sub(r"\r\n?", "\n", text[start:end])
            yield _Cue(f"{time[1]} --> {time[2]}", start, end, plain, lines.at(start))


def _behind_block(text: str, position: int) -> int:
    """The beginning of the next blank line, or of the next cue (its number, or its time) without
    one before it."""
    last = None
    while position < len(text):
        line = _LINE.match(text, position)
        assert line, "it matches the empty string"
        if last and _TIME.fullmatch(line[1]) and re.fullmatch(r"[ \t]*\d+[ \t]*", last[1]):
            return last.start()
        if not line[1].strip() or _TIME.fullmatch(line[1]):
            break
        position, last = max(line.end(), position + 1), line
    return position
