"""Characters that have no place in text: lost, invisible, escaped, wrongly decoded."""

import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair
from headway.doctor.batches import PairBatch
from headway.doctor.findings import FindingsLog, Symptom
from headway.languages.mojibake import repaired
from headway.languages.scripts import LAST

REPLACEMENT = Symptom(
    "replacement_character",
    "characters that were lost (U+FFFD)",
    "A program that read this text in the wrong encoding wrote U+FFFD for what it could not read; "
    "what stood there is gone.",
    "Go back to the original files and convert them anew (iconv -f ENCODING -t UTF-8), or remove "
    "these pairs (--drop replacement_character).",
    serious=0.01,
)
MOJIBAKE = Symptom(
    "mojibake",
    "UTF-8 that was read as Latin-1 or Windows-1252",
    "Such as 'Ã¤' for 'ä' or 'â€™' for an apostrophe: a model learns to write it.",
    "Put it right (--fix mojibake --out OUT), or go back to the original files.",
    serious=0.01,
)
INVISIBLE = Symptom(
    "invisible",
    "invisible characters",
    "Zero-width spaces, soft hyphens, direction marks: readers do not see them, but for a model a "
    "word with one inside is another word.",
    "Remove them unless your users need them: --fix invisible --out OUT takes out soft hyphens and "
    "zero-width spaces that part no words. Marks of direction stay: some texts need them.",
    tolerated=0.001,
)
ENTITIES = Symptom(
    "entities",
    "HTML entities",
    "Such as &quot; for a quotation mark: text was escaped and never put back. A model learns to "
    "write them.",
    "Replace them by the characters that they stand for, on both sides alike (--fix entities --out "
    "OUT); in texts that are HTML they belong.",
    tolerated=0.01,
)
LOST_LETTERS = Symptom(
    "lost_letters",
    "letters that became question marks",
    "Such as caf? for café: a program wrote the text in an encoding that lacks these letters, and "
    "what stood there is gone.",
    "Go back to the original files and convert them anew (iconv -f ENCODING -t UTF-8), or remove "
    "these pairs (--drop lost_letters).",
    tolerated=0.0005,
    serious=0.01,
)

_PLAIN, _REPLACEMENT, _INVISIBLE, _BYTE, _MARK = range(5)
_SYMPTOM_OF = {_REPLACEMENT: REPLACEMENT, _INVISIBLE: INVISIBLE}
_INVISIBLE_CODES = (
    *(0xAD, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2065),
    *range(0x2066, 0x206A),
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")

_LETTER = "A-Za-z\u00c0-\u024f\u0370-\u052f"
_LOWER = "a-z\u00df-\u00f6\u00f8-\u00ff\u03ac-\u03ce\u0430-\u045f"
_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03ab\u0400-\u042f"
_INSIDE = re.compile(rf"[{_LETTER}]\?+[{_LOWER}]|[{_UPPER}]\?+[{_UPPER}]")
_BEGINS = re.compile(rf"(?:^|(?<=[\s\"'(«„“]))\?[{_LETTER}]{{2}}")
_RUNS = re.compile(r"\?{2,}")
_ADDRESS = re.compile(r"[/=&\\*|<>{}\[\]()]|::|\.\w+\?")
_LEAST_RUN = 4  # question marks in a text of which nothing is left


def _oddities() -> NDArray[np.uint8]:
    """What is odd about each character: [0x110000]."""
    odd = np.full(LAST, _PLAIN, np.uint8)
    odd[list(_INVISIBLE_CODES)] = _INVISIBLE
    odd[0xFFFD] = _REPLACEMENT
    odd[[ord(lead) for lead in "ÂÃÄÅÎÏÐÑâãäåæçèéï"]] = _BYTE  # where mojibake begins
    odd[[ord(mark) for mark in "&?"]] = _MARK
    return odd


class CharacterCheck:
    symptoms = REPLACEMENT, MOJIBAKE, INVISIBLE, ENTITIES, LOST_LETTERS

    def __init__(self, log: FindingsLog) -> None:
        self._log = log
        self._odd = _oddities()

    def add(self, batch: PairBatch) -> None:
        odd = [side.count(self._odd[side.codes] > 0) > 0 for side in batch.sides]
        for pair in batch.marked(odd[0] | odd[1]):
            for symptom, details in self._found(pair).items():
                self._log.take(symptom, pair, "; ".join(details))

    def _found(self, pair: Pair) -> dict[Symptom, list[str]]:
        found = dict[Symptom, list[str]]()
        for side, text, other in (("source", *pair[:2]), ("target", *pair[1::-1])):
            kinds = {int(self._odd[ord(character)]): character for character in sorted(set(text))}
            for kind, symptom in _SYMPTOM_OF.items():
                if kind in kinds:
                    found.setdefault(symptom, []).append(f"{side}: {_name(kinds[kind])}")
            if _BYTE in kinds and (meant := repaired(text)):
                found.setdefault(MOJIBAKE, []).append(f"{side} should be: {meant[:80]}")
            if "&" in text and (entity := _ENTITY.search(text)):
                found.setdefault(ENTITIES, [entity[0]])
            if "?" in text and (word := lost_letter(text, other)):
                found.setdefault(LOST_LETTERS, []).append(f"{side}: {word}")
        return found


def lost_letter(text: str, other: str = "") -> str:
    """A word of a text in which a question mark stands for a letter; "" if there is none.

    `other` is the other side, which has question marks in the same places if they belong there.
    """
    if other and sum(map(len, _RUNS.findall(text))) >= _LEAST_RUN and "??" not in other:
        n_letters = sum(map(str.isalpha, text))
        if text.count("?") > n_letters:
            return text[:40]
    sure = [
        word
        for word in text.split()
        if (_INSIDE.search(word) or _BEGINS.search(word))
        and word not in other
        and not _ADDRESS.search(word)
    ]
    return sure[0] if sure else ""


def _name(character: str) -> str:
    name = unicodedata.name(character, "").lower()
    return f"U+{ord(character):04X} {name}".strip()
