"""How a sub-word vocabulary takes to a corpus: pieces a word, unknown pieces, texts too long."""

from dataclasses import dataclass
from typing import Any

from headway.core.cleaning import Pair
from headway.core.subwords import Subwords
from headway.doctor.findings import FindingsLog, Symptom

UNKNOWN = Symptom(
    "unknown",
    "texts with sub-words that the vocabulary does not know",
    "A model reads and writes them as <unk>.",
    "Learn a vocabulary from this corpus (train without --init-from), or use byte-level BPE "
    "(--text.algorithm bpe), which knows every text.",
    tolerated=0.001,
)
TOO_MANY = Symptom(
    "too_many_tokens",
    "texts of more sub-words than data.max_length",
    "`train` drops these pairs with this vocabulary.",
    "Split them into sentences, or raise --data.max-length.",
    tolerated=0.001,
)


@dataclass
class _Counts:
    characters: int = 0
    words: int = 0
    pieces: int = 0
    unknown: int = 0

    def as_dict(self) -> dict[str, int | float]:
        return {
            "pieces": self.pieces,
            "unknown_share": round(self.unknown / max(self.pieces, 1), 6),
            "pieces_per_word": round(self.pieces / max(self.words, 1), 3),
            "characters_per_piece": round(self.characters / max(self.pieces, 1), 3),
        }


class SubwordUse:
    def __init__(self, notes: FindingsLog, subwords: Subwords, max_length: int) -> None:
        """`max_length` is that of [data], 0 for any."""
        self._notes = notes
        self._subwords = subwords
        self._max_length = max_length
        self._sides = _Counts(), _Counts()
        self._n_pairs = 0

    def add(self, pair: Pair) -> None:
        self._n_pairs += 1
        encoded = self._subwords.encode_batch(pair[:2])
        for text, ids, counts in zip(pair[:2], encoded, self._sides, strict=True):
            counts.characters += len(text)
            counts.words += len(text.split())
            counts.pieces += len(ids)
            counts.unknown += ids.count(self._subwords.special.unknown)
        if any(self._subwords.special.unknown in ids for ids in encoded):
            self._notes.take(UNKNOWN, pair)
        if self._max_length and max(map(len, encoded)) > self._max_length:
            self._notes.take(TOO_MANY, pair, f"{len(encoded[0])} and {len(encoded[1])} sub-words")

    def conclude(self) -> None:
        self._notes.conclude([UNKNOWN, TOO_MANY], self._n_pairs)

    def summary(self) -> dict[str, Any]:
        """Size of the vocabulary, and how each side is written with it."""
        source, target = (counts.as_dict() for counts in self._sides)
        return {"vocabulary": len(self._subwords), "source": source, "target": target}
