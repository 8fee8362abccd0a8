"""Accelerators of menus and buttons: the letter in `&File` or `_File` that a key press stands for.

They are taken out before a text is translated, and put back in the translation as its language does
it: on the same letter where it has that, else on its first; behind the text, as in 文件(&F), where
letters are not what keys have.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from headway.languages.codes import base
from headway.localization.placeholders.codes import parsed
from headway.localization.placeholders.patterns import find
from headway.localization.placeholders.segments import Code, Segment

ALWAYS = {".ts": "&", ".resx": "&"}
"""Kinds of files that have them, and how these are written."""
WHERE_USUAL = (".po", ".xlf", ".xliff")
"""Kinds that have them where many of their texts do."""
_LEAST, _SHARE = 3, 0.05
_BEHIND_TEXT = ("zh", "yue", "ja", "ko")

_ACCELERATORS = {
    "&": re.compile(r"(?<![&\w])&(?=[^\W_])(?!\w+;)|(?<=[^\W_])&(?=[a-z])(?!\w+;)"),
    "_": re.compile(r"(?<![_\w])_(?=[^\W_])(?!\w*_)|(?<=\b[A-Z])_(?=[a-z]+\b)"
                    r"|(?<=\b[A-Z][a-z])_(?=[a-z]+\b)|(?<=\b[A-Z][a-z]{2})_(?=[a-z]+\b)"),
}  # fmt: skip
_ENDING = re.compile(r"(?<![.…:：。！？!?\s])[.…:：。！？!?\s]*\Z")


class Bare(NamedTuple):
    segment: Segment
    letter: str
    """That it stood on; empty where the text has none."""


def sign_of(kind: str, sources: Sequence[Segment]) -> str:
    """How the texts of a file write accelerators, by its suffix; empty where they have none."""
    if kind in ALWAYS:
        return ALWAYS[kind]
    if kind not in WHERE_USUAL or not sources:
        return ""
    counts = {sign: sum(bool(bare(one, sign).letter) for one in sources) for sign in _ACCELERATORS}
    sign = max(counts, key=lambda one: counts[one])
    return sign if counts[sign] >= max(_LEAST, _SHARE * len(sources)) else ""


def bare(segment: Segment, sign: str) -> Bare:
    """A text without its accelerator; as it is where it has none, or more than one."""
    if not sign or sign not in segment.outside_codes:
        return Bare(segment, "")
    places = [
        (n, at)
        for n, part in enumerate(segment.parts)
        if isinstance(part, str)
        for at in _marks_in(part, sign)
    ]
    if len(places) != 1:
        return Bare(segment, "")
    [(n, at)] = places
    parts = list(segment.parts)
    text = str(parts[n])
    parts[n] = text[:at] + text[at + 1 :]
    return Bare(Segment(tuple(parts)), text[at + 1])


def _marks_in(text: str, sign: str) -> list[int]:
    """Where accelerators are marked: never in an address or another code, which stays as it is.

    What looks like a name may be one with a mark: `_File`.
    """
    codes = [code for code in find(text) if code.kind != "name"]
    places = [found.start() for found in _ACCELERATORS[sign].finditer(text)]
    return [at for at in places if not any(code.start <= at < code.end for code in codes)]


def unmarked(translation: Segment, sign: str) -> Segment:
    """A translation as it would be without accelerators, to be judged."""
    if not sign or sign not in translation.text:
        return translation
    letter = re.compile(rf"\({re.escape(sign)}\w\)")
    parts = (letter.sub("", p) if isinstance(p, str) else p for p in translation.parts)
    return bare(Segment(tuple(parts)), sign).segment


def with_accelerator(
    translation: Segment, sign: str, letter: str, target_language: str | None
) -> Segment:
    """A translation with its accelerator: one letter is marked, or stands behind the text.

    The letter itself at the beginning of a word, else where it stands, else the first one.
    """
    parts = list(parsed(translation).parts)
    texts = [(n, part) for n, part in enumerate(parts) if isinstance(part, str)]
    same = re.escape(letter)
    for pattern in () if base(target_language) in _BEHIND_TEXT else (rf"\b{same}", same, r"[^\W_]"):
        for n, text in texts:
            if found := re.search(pattern, text, re.IGNORECASE):
                parts[n] = text[: found.start()] + sign + text[found.start() :]
                return _joined(parts)
    mark = f"({sign}{letter.upper()})"
    for n, text in reversed(texts):
        if any(map(str.isalnum, text)):
            ending = _ENDING.search(text)  # dots, a colon and white space stay behind it
            at = ending.start() if ending else len(text)
            parts[n] = text[:at] + mark + text[at:]
            return _joined(parts)
    return _joined([*parts, mark])


def _joined(parts: Sequence[str | Code]) -> Segment:
    """Codes that only stood for text are text again."""
    return Segment.of(p.text if isinstance(p, Code) and not p.raw else p for p in parts)
