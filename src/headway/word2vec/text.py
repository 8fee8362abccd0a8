"""Section [text] of word vectors: what a word is, and which words have vectors."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from headway.core.errors import DataError, refuse_below, refuse_beyond
from headway.core.subword_training import SPECIAL_PIECES
from headway.core.subwords import MOST_IDS
from headway.language_models.units import LanguageText, Lines, TokenUnit, fitted_unit
from headway.languages.segmenting import has_marks
from headway.runs.task_spec import Say
from headway.tokenizers.words import WholeUnit, Words

MOST_COUNTED = 3_000_000
"""Different words that are counted at once: beyond, the rarest are forgotten."""

MANY_MARKS = 0.03
"""A larger share of words with punctuation at an end is said: it is about a tenth of plain text."""


@dataclass(frozen=True)
class VectorText:
    """Section [text]: what has a vector."""

    unit: WholeUnit | Literal["auto"] = "auto"
    """`words` (what white space separates, or the segmenter finds) or `characters`; `auto`:
    words."""
    segmenter: Literal["auto", "none", "jieba", "punctuation"] = "auto"
    """What parts words: `jieba` finds those of text without spaces, `punctuation` parts words from
    marks. `auto`: jieba where there are no spaces."""
    min_count: int = 5
    """Rarer words have no vector: they are left out of the text, and what stands around them moves
    together."""
    vocabulary_size: int = 0
    """The most ids, four markers among them; 0: all words that are frequent enough."""

    def __post_init__(self) -> None:
        refuse_beyond(self, {"vocabulary_size": MOST_IDS, "min_count": 1 << 40}, above="text.")
        refuse_below(self, {"vocabulary_size": 0, "min_count": 1}, above="text.")


def unit_of(text: VectorText, lines: Lines, say: Say) -> TokenUnit:
    """What is a word in a corpus; what was left open is said."""
    unit = "words" if text.unit == "auto" else text.unit
    return fitted_unit(LanguageText(unit=unit, segmenter=text.segmenter), "", lines, say)


class WordCounts:
    """How often words occur. Memory is bounded: where there are too many, the rarest go.

    As in word2vec, each time a higher count is too rare, so a word may be counted too low by at
    most `n_forgotten_below`.
    """

    def __init__(self, most: int = MOST_COUNTED) -> None:
        self.counts, self.most = Counter[str](), most
        self.forgotten_below = 0

    def add(self, words: Iterable[str]) -> None:
        """Count some words."""
        self.counts.update(words)
        while len(self.counts) > self.most:
            self.forgotten_below += 1
            rare = [word for word, n in self.counts.items() if n <= self.forgotten_below]
            for word in rare:
                del self.counts[word]


def vocabulary_of(counted: WordCounts, unit: WholeUnit, text: VectorText, say: Say) -> Words:
    """The words that have vectors, the most frequent first.

    Raises DataError where they are fewer than two.
    """
    counts = counted.counts
    for piece in [one for one in counts if one in SPECIAL_PIECES or one.isspace()]:
        del counts[piece]
    n_all, most = counts.total(), text.vocabulary_size - len(SPECIAL_PIECES)
    if counted.forgotten_below:
        say(
            f"over {counted.most:,} different {unit}: the rarest were forgotten on the way, so "
            f"counts may be too low by {counted.forgotten_below:,}"
        )
    limit = max(2, most) if text.vocabulary_size else MOST_IDS - len(SPECIAL_PIECES)
    words = Words.learned(counts, unit, min_count=text.min_count, most=limit)
    n_words = len(words) - len(SPECIAL_PIECES)
    if n_words < 2:
        few = [f"{word} ({n:,} times)" for word, n in counts.most_common(3)]
        raise DataError(
            f"word vectors tell {unit} apart that occur {text.min_count} times or more "
            f"(--text.min-count); there are {n_words} of {len(counts):,} different ones"
            f"{': ' if few else ''}{', '.join(few)}. Give more text, or lower it."
        )
    with_marks = sum(n for word, n in counts.items() if has_marks(word)) / n_all
    if unit == "words" and with_marks > MANY_MARKS:
        say(
            f"{with_marks:.0%} of the text are words with punctuation at an end (such as "
            f"{next(filter(has_marks, words.pieces(range(len(words)))), 'word,')!r}), which are "
            "others than those without: --text.segmenter punctuation parts them"
        )
    known = sum(n for word, n in counts.items() if words.has(word))
    say(
        f"{n_words:,} {unit} of {len(counts):,} different ones have vectors (at least "
        f"{text.min_count} times); they are {known / n_all:.1%} of the text"
    )
    return words
