"""Characters that have no place in text: lost, private, invisible, or of a wrong encoding."""

import unicodedata

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair
from headway.doctor.batches import Marks, PairBatch, PairSide
from headway.doctor.findings import FindingsLog, Symptom
from headway.languages.mojibake import repaired
from headway.languages.scripts import LAST, scripts

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
PRIVATE_USE = Symptom(
    "private_use",
    "private-use characters",
    "Only one font or program knows what they mean; they often are symbols of a word processor.",
    "Replace them by the characters that were meant, or remove these pairs.",
)
INVISIBLE = Symptom(
    "invisible",
    "invisible characters",
    "Zero-width spaces, soft hyphens, direction marks: readers do not see them, but for a model a "
    "word with one inside is another word.",
    "Remove them unless your users need them: sed -i 's/\\xe2\\x80\\x8b//g' removes the zero-width "
    "space, 's/\\xc2\\xad//g' the soft hyphen.",
    tolerated=0.001,
)
NONCHARACTER = Symptom(
    "noncharacter",
    "code points that are no characters",
    "Unicode keeps them out of text for ever: the file was damaged or is not text.",
    "Go back to the original files, or remove these pairs.",
)
LOOKALIKE = Symptom(
    "mixed_scripts",
    "words of Latin and Cyrillic letters",
    "A letter was typed that looks like another: for a model this is an unknown word.",
    "Correct these words in the files.",
)
SYMPTOMS = (REPLACEMENT, MOJIBAKE, PRIVATE_USE, INVISIBLE, NONCHARACTER, LOOKALIKE)

_PLAIN, _REPLACEMENT, _PRIVATE, _INVISIBLE, _NONCHARACTER, _BYTE = range(6)
_SYMPTOM_OF = {
    _REPLACEMENT: REPLACEMENT,
    _PRIVATE: PRIVATE_USE,
    _INVISIBLE: INVISIBLE,
    _NONCHARACTER: NONCHARACTER,
}
_INVISIBLE_CODES = (
    *(0xAD, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2065),
    *range(0x2066, 0x206A),
)


def _oddities() -> NDArray[np.uint8]:
    """What is odd about each character: [0x110000]."""
    odd = np.full(LAST, _PLAIN, np.uint8)
    odd[0xE000:0xF900] = odd[0xF0000:] = _PRIVATE
    odd[0xFDD0:0xFDF0] = odd[0xFFFE::0x10000] = odd[0xFFFF::0x10000] = _NONCHARACTER
    odd[list(_INVISIBLE_CODES)] = _INVISIBLE
    odd[0xFFFD] = _REPLACEMENT
    odd[[ord(lead) for lead in "ÂÃÄÅÎÏÐÑâãäåæçèéï"]] = _BYTE  # where mojibake begins
    return odd


class Characters:
    """Looks at every character."""

    def __init__(self, notes: FindingsLog) -> None:
        """Tell `notes`."""
        self._notes = notes
        self._odd = _oddities()
        names = scripts().names
        self._latin, self._cyrillic = names.index("LATIN"), names.index("CYRILLIC")
        self._n_pairs = 0

    def add(self, batch: PairBatch) -> None:
        """Take the next pairs."""
        self._n_pairs += len(batch.pairs)
        for pair in batch.marked(self._odd_ones(batch.source) | self._odd_ones(batch.target)):
            self._note(pair)
        meet = [self._lookalikes(side) for side in batch.sides]
        for row in np.flatnonzero(meet[0] | meet[1]):
            sides = (side for side, odd in zip(("source", "target"), meet, strict=True) if odd[row])
            self._notes.take(LOOKALIKE, batch.pairs[row], " and ".join(sides))

    def conclude(self) -> None:
        """Tell what was found."""
        self._notes.conclude(SYMPTOMS, self._n_pairs)

    def _odd_ones(self, side: PairSide) -> Marks:
        """The texts with a character that may be out of place: [pairs]."""
        return side.count(self._odd[side.codes] > 0) > 0

    def _note(self, pair: Pair) -> None:
        found = dict[Symptom, list[str]]()
        for side, text in zip(("source", "target"), pair[:2], strict=True):
            kinds = {int(self._odd[ord(character)]): character for character in sorted(set(text))}
            for kind, symptom in _SYMPTOM_OF.items():
                if kind in kinds:
                    found.setdefault(symptom, []).append(f"{side}: {_name(kinds[kind])}")
            if _BYTE in kinds and (meant := repaired(text)):
                found.setdefault(MOJIBAKE, []).append(f"{side} should be: {meant[:80]}")
        for symptom, details in found.items():
            self._notes.take(symptom, pair, "; ".join(details))

    def _lookalikes(self, side: PairSide) -> Marks:
        """The texts in which a Latin and a Cyrillic letter are neighbours: [pairs]."""
        script = scripts().of[side.codes]
        cyrillic = script == self._cyrillic
        if not cyrillic.any():
            return np.zeros(len(side.texts), np.bool_)
        latin = script == self._latin
        meet = np.zeros_like(latin)
        meet[1:] = (latin[1:] & cyrillic[:-1]) | (cyrillic[1:] & latin[:-1])
        return side.count(meet) > 0


def _name(character: str) -> str:
    name = unicodedata.name(character, "").lower()
    return f"U+{ord(character):04X} {name}".strip()
