"""Codes on their way through a translation: masked, put back, counted, and mended.

A model that is trained with masks sees every code as one private-use character: `PLACEHOLDERS[n]`
for the n-th different code of the source. It writes that character where the code belongs, and
never has to spell one.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from headway.localization.placeholders.own_codes import OwnPattern
from headway.localization.placeholders.patterns import find, frame, kind_of, needs_words, partners
from headway.localization.placeholders.segments import Code, Segment
from headway.localization.placeholders.word_boundaries import at_boundaries

VERSION = 4
"""Raised whenever other codes are found, or they are masked in another way."""

PLACEHOLDERS = tuple(map(chr, range(0xE000, 0xE040)))
"""What codes are masked as; the 65th different code of a text stays as it is."""

_PLACEHOLDER = re.compile(f"([{PLACEHOLDERS[0]}-{PLACEHOLDERS[-1]}])")
_ROTATED = 4  # one pair in so many

Codes = Mapping[str, Code]
"""What each placeholder of a masked text stands for."""


class Masked(NamedTuple):
    """A text with placeholders in the place of its codes."""

    text: str
    codes: Codes


class MaskedPair(NamedTuple):
    """Both sides of a pair, with the same placeholders for what they share."""

    source: str
    target: str
    codes: Codes


class Check(NamedTuple):
    """What became of a source's codes; every code counts as often as it stands there."""

    missing: Counter[Code]
    invented: Counter[Code]
    """In the output only, or there more often; new names such as `max_length` may be there."""
    crossed: bool
    """A pair such as `<b>`, `</b>` came apart, or stands the wrong way round."""

    @property
    def complete(self) -> bool:
        return not (self.missing or self.invented or self.crossed)


def parsed(segment: Segment, own: Sequence[OwnPattern] = ()) -> Segment:
    """The same text, with the codes in its plain parts found; `own` as in `find`."""
    return segment.with_codes(lambda text: (one[:2] for one in find(text, own)))


def parsed_text(text: str, own: Sequence[OwnPattern] = ()) -> Segment:
    return parsed(Segment((text,)), own)


def mask(segment: Segment) -> Masked:
    """Put placeholders for the codes of a parsed segment, numbered as they come.

    `unmask(*mask(segment))` is the same text again, whatever stands in it: private-use characters
    of its own are masked before anything else.
    """
    codes = _numbered(_fitting(segment.codes), first=0)
    return Masked(with_placeholders(segment, codes), codes)


def mask_pair(source: str, target: str, own: Sequence[OwnPattern] = ()) -> MaskedPair:
    """Mask what both sides have equally often; any other code stays as it is, to be learned.

    One pair in four, chosen by its source, has its numbers start elsewhere than at 0, so that the
    high numbers, which only texts with many codes need, are learned as well.
    """
    left, right = parsed_text(source, own), parsed_text(target, own)
    n_left, n_right = Counter(left.codes), Counter(right.codes)
    shared = [
        code
        for code in (*left.codes, *right.codes)
        if n_left[code] == n_right[code] or code.text in PLACEHOLDERS
    ]
    chosen = _fitting(shared)
    lot = zlib.crc32(source.encode("utf-8", "surrogatepass"))
    room = len(PLACEHOLDERS) - len(chosen) + 1
    codes = _numbered(chosen, first=0 if lot % _ROTATED else lot // _ROTATED % room)
    return MaskedPair(with_placeholders(left, codes), with_placeholders(right, codes), codes)


def with_placeholders(segment: Segment, codes: Codes) -> str:
    """The text of a parsed segment with placeholders for those of its codes that have one."""
    placeholder_of = {code: placeholder for placeholder, code in codes.items()}
    return "".join(
        part if isinstance(part, str) else placeholder_of.get(part, part.text)
        for part in segment.parts
    )


def unmask(text: str, codes: Codes) -> Segment:
    """Put the codes back; a placeholder that stands for nothing becomes a code by itself."""
    parts = _PLACEHOLDER.split(text)
    own = (Code(part) if part in PLACEHOLDERS else part for part in parts)
    return Segment.of(codes.get(part, one) for part, one in zip(parts, own, strict=True))


def check(source: Segment, output: Segment) -> Check:
    expected, found = Counter(source.codes), Counter(output.codes)
    invented = Counter(
        {
            code: n
            for code, n in (found - expected).items()
            if code in expected or not _harmless(code)
        }
    )
    return Check(expected - found, invented, _pairs(source) != _pairs(output))


def repaired(source: Segment, output: Segment) -> Segment:
    """The output with just the codes of its source; what is complete stays as it is.

    An invented code gives its place to a missing one of its kind, or goes. What is still missing
    then stands at the end, in the source's order; so do all pairs, if some would cross. A tag
    inside of a word goes to its beginning or end, if the source has none in a word.
    """
    if check(source, output).complete:
        return at_boundaries(source, output)
    mended = at_boundaries(source, _completed(source, _without_invented(source, output)))
    if check(source, mended).complete:
        return mended
    unpaired = (p for p in mended.parts if isinstance(p, str) or frame(p.text) is None)
    return _completed(source, _joined(unpaired))


def _without_invented(source: Segment, output: Segment) -> Segment:
    expected, found = Counter(source.codes), Counter(output.codes)
    missing = _first(source.codes, expected - found)
    parts: list[str | Code] = []
    for part in output.parts:
        if isinstance(part, str):
            parts.append(part)
        elif expected[part]:
            expected[part] -= 1
            parts.append(part)
        else:
            alike = [code for code in missing if _alike(code, part)]
            new_name = part not in expected and _harmless(part)
            parts += alike[:1] or ([part.text] if new_name else [])
            missing = _without(missing, alike[:1])
    return _joined(parts)


def _completed(source: Segment, output: Segment) -> Segment:
    """Write what is missing behind the output: first what closes its open pairs."""
    parts = list(output.parts)
    missing = _first(source.codes, Counter(source.codes) - Counter(output.codes))
    pairs = _pairs(source)
    for opening in reversed(_left_open(output)):
        closing = [code for code in missing if pairs[opening, code.text]][:1]
        parts += closing
        missing = _without(missing, closing)
    lost = _lost(source, Counter(missing))
    if not parts and lost[:1] == [" "]:
        del lost[0]
    return _joined([*parts, *lost])


def _lost(source: Segment, missing: Counter[Code]) -> list[str | Code]:
    """What is missing, in the source's order; a link or role that is lost whole keeps its words."""
    codes, left = source.codes, missing.copy()
    lost: set[int] = set()
    worded: set[int] = set()  # codes behind which words belong
    for opening, closing in partners([code.text for code in codes]).items():
        pair = Counter([codes[opening], codes[closing]])
        if pair <= left:
            left -= pair
            lost |= {opening, closing}
            worded |= set(range(opening, closing) if needs_words(codes[opening].text) else ())
    for place, code in enumerate(codes):
        if place not in lost and left[code]:
            left[code] -= 1
            lost.add(place)
    parts: list[str | Code] = []
    place = -1
    for part in source.parts:
        if isinstance(part, str):
            parts += [part] * (place in worded)
            continue
        place += 1
        if place in lost:
            role = frame(part.text)
            apart = not (role and role.closes) and not part.text.isspace()
            parts += [" "] * (apart and place - 1 not in worded) + [part]
    return parts


def _first(codes: Sequence[Code], wanted: Counter[Code]) -> list[Code]:
    """Each code as often as wanted, at its first places."""
    left, chosen = wanted.copy(), []
    for code in codes:
        if left[code]:
            left[code] -= 1
            chosen.append(code)
    return chosen


def _without(codes: Sequence[Code], gone: Sequence[Code]) -> list[Code]:
    return _first(codes, Counter(codes) - Counter(gone))


def _alike(one: Code, other: Code) -> bool:
    """Whether one may stand where the other stood."""
    if one.text == other.text:
        return True
    kind = kind_of(one.text)
    return bool(kind) and kind == kind_of(other.text) and frame(one.text) == frame(other.text)


def _harmless(code: Code) -> bool:
    """A word for programmers, which a translation may well bring in."""
    return not code.raw and kind_of(code.text) == "name"


def _joined(parts: Iterable[str | Code]) -> Segment:
    """Neighbouring texts as one, without the second of two spaces that meet there."""
    joined: list[str | Code] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + (part[1:] if last.endswith(" ") and part[:1] == " " else part)
        else:
            joined.append(part)
    return Segment(tuple(joined))


def _fitting(codes: Iterable[Code]) -> list[Code]:
    """Different codes, in order, no more than there are placeholders.

    A text's own private-use characters that could be taken for placeholders must be among them.
    """
    different = list(dict.fromkeys(codes))
    own = {code for code in different if code.text in PLACEHOLDERS}
    others = islice((code for code in different if code not in own), len(PLACEHOLDERS) - len(own))
    chosen = own.union(others)
    return [code for code in different if code in chosen]


def _numbered(codes: Sequence[Code], first: int) -> dict[str, Code]:
    return dict(zip(PLACEHOLDERS[first:], codes, strict=False))


def _pairs(segment: Segment) -> Counter[tuple[str, str]]:
    """The codes that open and close something together."""
    texts = [code.text for code in segment.codes]
    return Counter((texts[i], texts[j]) for i, j in partners(texts).items())


def _left_open(segment: Segment) -> list[str]:
    """What opens something that a code behind all others could still close."""
    texts = [code.text for code in segment.codes]
    found = partners(texts)
    settled = {place for i, j in found.items() for place in range(i, j + 1)}
    return [
        text
        for place, text in enumerate(texts)
        if place not in settled and (role := frame(text)) and role.opens
    ]
