"""Texts without the accents that their words have elsewhere in the corpus."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np

from headway.core.cleaning import Pair
from headway.corpora.corpus import Direction
from headway.doctor.batches import PairBatch, PairSide, by_direction
from headway.doctor.findings import FindingsLog, Symptom
from headway.doctor.folding import Hashes
from headway.doctor.habits import Floats
from headway.doctor.tokens import HashedTokens, hashed, tokens, word_values
from headway.languages.scripts import LAST, scripts

ACCENTS_MISSING = Symptom(
    "accents_missing",
    "texts without the accents that their words have elsewhere",
    "Such as uber for über: a program or a keyboard took the accents off. A model learns to write "
    "words both ways.",
    "Go back to the original files, or remove these pairs (--drop accents_missing).",
    tolerated=0.001,
    serious=0.02,
)
_WORD = re.compile(r"\w+")
_USUAL = 4.0  # times as often as without
_LEAST_NATS = 2.7  # that the words of a text say together


@cache
def _bare_values() -> Hashes:
    """As `word_values`, but those of letters with accents are those of the bare ones."""
    values = word_values().copy()
    names = scripts().names
    with_accents = [names.index(name) for name in ("LATIN", "GREEK") if name in names]
    for code in np.flatnonzero(np.isin(scripts().of[:LAST], with_accents)).tolist():
        bare = unicodedata.normalize("NFD", chr(code))[0]
        values[code] = values[ord(bare)]
    return values


class _AccentedWords(NamedTuple):
    """Words that are nearly always written with an accent."""

    bare: Hashes
    """Their letters without accents, ascending: [words]."""
    nats: Floats
    """How much rarer they are without: [words]."""

    @classmethod
    def of(cls, found: HashedTokens, bare: Hashes) -> "_AccentedWords":
        """Count the words of some texts, given as they are and without accents: [tokens].

        Only where another word of the text has an accent: of texts that lost all of theirs none is
        counted, however many there are, and `schon` beside `für` shows that it is a word, too.
        """
        accented = bare != found.hashes
        n_accented = np.bincount(found.rows, accented)
        intact = n_accented[found.rows] - accented > 0
        distinct = np.unique(bare)
        places = np.searchsorted(distinct, bare)
        n_with = np.bincount(places[intact & accented], minlength=len(distinct))
        n_without = np.bincount(places[intact & ~accented], minlength=len(distinct))
        nats = np.log((n_with + 0.5) / (n_without + 0.5))
        usual = nats >= np.log(_USUAL)
        return cls(distinct[usual], nats[usual])

    def missing(self, found: HashedTokens, bare: Hashes) -> Floats:
        """How much each word that lacks its accent says, 0 for any other: [tokens]."""
        if not len(self.bare):
            return np.zeros(len(bare))
        places = np.minimum(np.searchsorted(self.bare, bare), len(self.bare) - 1)
        lacks = (self.bare[places] == bare) & (bare == found.hashes)
        return np.where(lacks, self.nats[places], 0.0)


class AccentCheck:
    """Looks for texts that lost all their accents."""

    symptoms = (ACCENTS_MISSING,)

    def __init__(
        self,
        log: FindingsLog,
        sample: Iterable[Pair],
        declared: Mapping[str, Direction] | None = None,
    ) -> None:
        """Learn from a `sample` which words have accents; `declared` is of files by name."""
        self._log = log
        self._words = {
            direction: [_AccentedWords.of(*_read(side)) for side in PairBatch(0, pairs).sides]
            for direction, pairs in by_direction(sample, declared).items()
        }

    def add(self, batch: PairBatch) -> None:
        """Take the next pairs."""
        for n, words in enumerate(self._words.get(batch.direction, ())):
            if len(words.bare):
                self._tell_missing(batch, n, words)

    def _tell_missing(self, batch: PairBatch, n: int, words: _AccentedWords) -> None:
        """Name the texts in which no word has an accent and several should."""
        side = batch.sides[n]
        found, bare = _read(side)
        nats = words.missing(found, bare)
        n_rows = len(batch.pairs)
        has_accent = np.bincount(found.rows[bare != found.hashes], minlength=n_rows) > 0
        total = np.bincount(found.rows, nats, minlength=n_rows)
        marks = ~has_accent & (total >= _LEAST_NATS)
        for row in np.flatnonzero(marks):
            name = ("source", "target")[n]
            odd = found.starts[(found.rows == row) & (nats > 0)] - side.starts[row]
            text = side.texts[row]
            words_there = (_WORD.match(text, start) for start in odd.tolist())
            shown = [word[0] for word in words_there if word and len(word[0]) > 1]
            if shown:
                detail = f"{name}: {', '.join(shown[:4])}"
                self._log.take(ACCENTS_MISSING, batch.pairs[row], detail, float(total[row]))


def _read(side: PairSide) -> tuple[HashedTokens, Hashes]:
    """The words of a side, and their hashes without accents."""
    found = tokens(side)
    return found, hashed(_bare_values()[side.codes], found.starts)
