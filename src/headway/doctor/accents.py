"""Letters that were lost on the way: `caf?` for `café`, and accents that were taken off."""

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
ACCENTS_MISSING = Symptom(
    "accents_missing",
    "texts without the accents that their words have elsewhere",
    "Such as uber for über: a program or a keyboard took the accents off. A model learns to write "
    "words both ways.",
    "Go back to the original files, or remove these pairs (--drop accents_missing).",
    tolerated=0.001,
    serious=0.02,
)
SYMPTOMS = (LOST_LETTERS, ACCENTS_MISSING)

_LETTER = "A-Za-z\u00c0-\u024f\u0370-\u052f"
_LOWER = "a-z\u00df-\u00f6\u00f8-\u00ff\u03ac-\u03ce\u0430-\u045f"
_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03ab\u0400-\u042f"
_INSIDE = re.compile(rf"[{_LETTER}]\?+[{_LOWER}]|[{_UPPER}]\?+[{_UPPER}]")
_BEGINS = re.compile(rf"(?:^|(?<=[\s\"'(«„“]))\?[{_LETTER}]{{2}}")
_WORD = re.compile(r"\w+")
_RUNS = re.compile(r"\?{2,}")
_ADDRESS = re.compile(r"[/=&\\*|<>{}\[\]()]|::|\.\w+\?")
_LEAST_RUN = 4  # question marks in a text of which nothing is left
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


class _Words(NamedTuple):
    """Words that are nearly always written with an accent."""

    bare: Hashes
    """Their letters without accents, ascending: [words]."""
    nats: Floats
    """How much rarer they are without: [words]."""

    @classmethod
    def of(cls, found: HashedTokens, bare: Hashes) -> "_Words":
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


class Accents:
    """Looks for what letters of other alphabets than English became."""

    def __init__(
        self,
        notes: FindingsLog,
        sample: Iterable[Pair],
        declared: Mapping[str, Direction] | None = None,
    ) -> None:
        """Learn from a `sample` which words have accents; `declared` is of files by name."""
        self._notes = notes
        self._n_pairs = 0
        self._words = {
            direction: [_Words.of(*_read(side)) for side in PairBatch(0, pairs).sides]
            for direction, pairs in by_direction(sample, declared).items()
        }

    def add(self, batch: PairBatch) -> None:
        """Take the next pairs."""
        self._n_pairs += len(batch.pairs)
        question = np.zeros(len(batch.pairs), np.bool_)
        for side in batch.sides:
            question |= side.count(np.equal(side.codes, ord("?"))) > 0
        for pair in batch.marked(question):
            details = [
                f"{name}: {word}"
                for name, text, other in (
                    ("source", pair.source, pair.target),
                    ("target", pair.target, pair.source),
                )
                if (word := lost_letter(text, other))
            ]
            if details:
                self._notes.take(LOST_LETTERS, pair, "; ".join(details))
        for n, words in enumerate(self._words.get(batch.direction, ())):
            if len(words.bare):
                self._tell_missing(batch, n, words)

    def conclude(self) -> None:
        """Tell what was found."""
        self._notes.conclude(SYMPTOMS, self._n_pairs)

    def _tell_missing(self, batch: PairBatch, n: int, words: _Words) -> None:
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
                self._notes.take(ACCENTS_MISSING, batch.pairs[row], detail, float(total[row]))


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


def _read(side: PairSide) -> tuple[HashedTokens, Hashes]:
    """The words of a side, and their hashes without accents."""
    found = tokens(side)
    return found, hashed(_bare_values()[side.codes], found.starts)
