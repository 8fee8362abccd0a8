"""Codes carried from a source to its translation by an alignment of their words.

For a model that has never seen the codes: they are taken out of the source, what is left is
translated, and each is put where the words around it went. A pair of tags frames the stretch of the
translation that looks at the words it framed; pairs stay nested as they were.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from headway.languages.scripts import UNSPACED
from headway.languages.segmenting import whole_words
from headway.localization.placeholders.patterns import find, partners
from headway.localization.placeholders.segments import Code, Segment

_WORD = re.compile(
    rf"(?<!\d)\d++(?:[.,:]\d+)+|[{UNSPACED}]|[^\W{UNSPACED}]+(?:['’-][^\W{UNSPACED}]+)*|\S"
)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)

Spans = Sequence[tuple[int, int]]
"""Beginning and end of each token, in characters of its text."""


class TokenSpans(NamedTuple):
    """A text and which of its characters each token stands for."""

    text: str
    spans: Spans


class CodePosition(NamedTuple):
    at: int
    """Before which character."""
    behind_space: bool
    before_space: bool
    """Or at the beginning, or at the end, or before a sign."""
    is_gap: bool = False
    """It alone keeps two words apart, and reads as the space that is not there."""


class Plain(NamedTuple):
    text: str
    places: list[CodePosition]
    """Of its codes, in their order."""


class _Element(NamedTuple):
    """A code, or a pair and what it frames, and where it goes in the translation."""

    start: int
    end: int
    """First word and the one behind the last; equal where there is none."""
    opening: int
    closing: int
    """Which codes; equal for one that stands alone."""


def without_codes(segment: Segment) -> Plain:
    """The text alone, without the second of two spaces that meet where a code was; a line break
    that stands without a space between two words is one."""
    text, places, whole, read = "", list[CodePosition](), segment.text, 0
    for part, next_part in pairwise((*segment.parts, "")):
        if isinstance(part, str):
            meets = bool(places) and part[:1] == " " and (not text or text.endswith(" "))
            text += part[1:] if meets else part
            read += len(part)
            continue
        breaks = bool(text) and _BREAK.fullmatch(part.text) is not None
        if (part.text.isspace() or breaks) and not text.endswith(" "):
            text += " "
        before, read = whole[:read][-1:], read + len(part.text)
        behind = whole[read : read + 1]
        ends = not (behind.strip() if isinstance(next_part, Code) else behind.isalnum())
        is_gap = part.text.isspace() or (breaks and bool(before.strip() and behind.strip()))
        places.append(CodePosition(len(text), not before.strip(), ends, is_gap))
    return Plain(text, places)


class CodeProjection:
    """The codes of a source on their way into its translation."""

    def __init__(
        self,
        codes: Sequence[Code],
        plain: Plain,
        source_spans: Spans,
        target: TokenSpans,
        alignment: Sequence[tuple[int, int]],
    ) -> None:
        """`source_spans` are those of the tokens of `plain.text`; `alignment` holds pairs of a
        source token and a target token that looks at it."""
        self.codes, self.places, self.target = codes, plain.places, target.text
        self.partner = partners([code.text for code in codes])
        self.closing = set(self.partner.values())
        self.source_words = words_and_signs(plain.text)
        read = _words_of_tokens(source_spans, self.source_words)

        def looks(words: Spans) -> dict[int, Counter[int]]:
            return _looks(read, _words_of_tokens(target.spans, words), alignment)

        alone = words_and_signs(target.text)
        self.words = whole_words(target.text, alone, target.spans, looks(alone))
        self.looks = looks(self.words)

    def segment(self) -> Segment:
        """The target with all the codes, each once, and in pairs that nest as in the source."""
        everything = range(len(self.codes))
        source = (0, len(self.source_words))
        parts = self._frame(everything, source, (0, len(self.words)))
        return self._spaced_as_before(parts)

    def _frame(
        self, codes: range, source: tuple[int, int], window: tuple[int, int]
    ) -> list[tuple[int, int]]:
        """(word that it stands before, code) of all `codes`, which stand among the `source` words
        and go among the words of `window`; in the order of the translation."""
        elements: list[_Element] = []
        inside: dict[int, list[tuple[int, int]]] = {}
        place = codes.start
        while place < codes.stop:
            closing = self.partner.get(place, place)
            if closing > place:
                framed = self._framed(place, closing, source)
                start, end = self._stretch(framed, source, window, elements)
                inner = range(place + 1, closing)
                inside[place] = self._frame(inner, framed, (start, end))
            else:
                start = end = self._anchor(self._word_behind(place), source, window)
            elements.append(_Element(start, end, place, closing))
            place = closing + 1
        pairs = [element for element in elements if element.closing > element.opening]
        alone = [_outside(element, pairs) for element in elements if element not in pairs]
        found: list[tuple[int, int]] = []
        for start, end, opening, closing in sorted([*pairs, *alone]):
            found.append((start, opening))
            if closing > opening:
                found += [*inside[opening], (end, closing)]
        return found

    def _framed(self, opening: int, closing: int, source: tuple[int, int]) -> tuple[int, int]:
        """The source words that a pair frames, those included that it cuts."""
        start = self._word_behind(opening)
        end = sum(word_start < self.places[closing].at for word_start, _ in self.source_words)
        start = min(max(start, source[0]), source[1])
        return start, max(start, min(end, source[1]))

    def _word_behind(self, code: int) -> int:
        """The source word that a code stands before, or in."""
        return sum(end <= self.places[code].at for _, end in self.source_words)

    def _stretch(
        self,
        framed: tuple[int, int],
        source: tuple[int, int],
        window: tuple[int, int],
        taken: Sequence[_Element],
    ) -> tuple[int, int]:
        """The words that look at the framed ones: the stretch with the most of them over others."""
        if framed == source and not any(element.end > element.start for element in taken):
            return window
        best, stretch = 0.0, (0, 0)
        total, start = 0.0, window[0]
        closed = {word for element in taken for word in range(element.start, element.end)}
        for word in range(*window):
            if word in closed:
                total, start = 0.0, word + 1
                continue
            total += 2 * self._share(word, *framed) - 1
            if total > best:
                best, stretch = total, (start, word + 1)
            if total <= 0:
                total, start = 0.0, word + 1
        if best:
            return stretch
        anchor = self._anchor(framed[0], source, window)
        around = _outside(_Element(anchor, anchor, 0, 0), taken)
        return around.start, around.start

    def _anchor(self, word: int, source: tuple[int, int], window: tuple[int, int]) -> int:
        """Where that goes which stands before a source word: before its translation, or else
        behind that of the word before it."""
        if word <= source[0]:
            return window[0]
        if word >= source[1]:
            return window[1]
        for looked_at, behind in ((word, 0), (word - 1, 1)):
            share, place = max(
                ((self._share(n, looked_at, looked_at + 1), -n) for n in range(*window)),
                default=(0.0, 0),
            )
            if share > 0:
                return self._last_of(-place, looked_at, window[1]) + 1 if behind else -place
        way = (word - source[0]) / (source[1] - source[0])
        return window[0] + round(way * (window[1] - window[0]))

    def _last_of(self, place: int, looked_at: int, end: int) -> int:
        """The last of the words from a place on that look at a source word as much as that one."""
        share = self._share(place, looked_at, looked_at + 1)
        alike = (self._share(n, looked_at, looked_at + 1) == share for n in range(place, end))
        return place + sum(takewhile(bool, alike)) - 1

    def _share(self, word: int, start: int, end: int) -> float:
        """How much of what a target word looks at lies in source words `start` to `end`."""
        looks = self.looks.get(word, Counter())
        whole = sum(looks.values())
        return sum(n for at, n in looks.items() if start <= at < end) / whole if whole else 0.0

    def _spaced_as_before(self, placed: Sequence[tuple[int, int]]) -> Segment:
        """The translation with its codes, spaced as the source was; `placed` as in `_frame`."""
        parts: list[str | Code] = []
        written = 0
        for word, code in placed:
            place = max(written, self._place(word, code))
            between, behind = self.target[written:place], self.target[place : place + 1]
            written = place
            if self.places[code].is_gap:
                parts += [between.rstrip(" "), self.codes[code]]
                written += behind == " "
                continue
            alone = code not in self.partner and code not in self.closing
            before = alone and self.places[code].behind_space and _spaced(self.target[:place][-1:])
            after = alone and self.places[code].before_space
            after = after and behind.isalnum() and _spaced(behind)
            parts += [between + " " * before, self.codes[code], " " * after]
        parts.append(self.target[written:])
        return Segment.of(parts)

    def _place(self, word: int, code: int) -> int:
        """Before the word, or right behind the one before it for what clings to that."""
        begins = code in self.partner or self.places[code].behind_space
        clings = code in self.closing or not begins
        if word == len(self.words) or (clings and word > 0):
            return self.words[word - 1][1] if word else len(self.target)
        return self.words[word][0]


def words_and_signs(text: str) -> list[tuple[int, int]]:
    """Codes that the text has itself, words, ideographs and signs, one by one."""
    words: list[tuple[int, int]] = []
    place = 0
    for start, end, _ in [*find(text), (len(text), len(text), "")]:
        words += [match.span() for match in _WORD.finditer(text, place, start)]
        words += [(start, end)] * (end > start)
        place = end
    return words


def _words_of_tokens(spans: Spans, words: Spans) -> list[list[int]]:
    """The words that each token writes something of."""
    return [
        [n for n, (first, last) in enumerate(words) if first < end and start < last]
        for start, end in spans
    ]


def _looks(
    source: Sequence[Sequence[int]],
    target: Sequence[Sequence[int]],
    alignment: Sequence[tuple[int, int]],
) -> dict[int, Counter[int]]:
    """For each target word how many of its tokens look at each source word."""
    looks: dict[int, Counter[int]] = {}
    for source_token, target_token in alignment:
        for word in target[target_token]:
            looks.setdefault(word, Counter()).update(source[source_token])
    return looks


def _outside(element: _Element, pairs: Sequence[_Element]) -> _Element:
    """Moved out of a pair that it would come to stand in: to the side where the source has it."""
    for pair in pairs:
        if pair.start < element.start < pair.end:
            place = pair.end if element.opening > pair.closing else pair.start
            return element._replace(start=place, end=place)
    return element


def _spaced(character: str) -> bool:
    """Whether a space belongs between this character and a code beside it."""
    return bool(character.strip()) and not re.match(f"[{UNSPACED}]", character)
