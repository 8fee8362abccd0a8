"""Section [text] of a language model, and the vocabulary that follows from it and from the text."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from headway.core.errors import ConfigError, DataError, refuse_below, refuse_beyond
from headway.core.subword_training import fitted_vocabulary_size
from headway.core.subwords import MOST_IDS, Subwords
from headway.languages.segmenting import Segmenter, segmenter, unspaced
from headway.runs.task_spec import Say
from headway.tokenizers.fair_sample import sample
from headway.tokenizers.learners import LEARNERS, Algorithm
from headway.tokenizers.words import Words

Unit = Literal["subwords", "words", "characters"]
Lines = Callable[[], Iterator[str]]
Vocabulary = Subwords | Words

MOST_WORDS = 50_000
"""In the vocabulary of a neural model that is fitted: each costs a row of weights."""
_WHOLE_WORDS = ("ngram", "nnlm", "elmo")
"""Types of model that read words where nothing else is said."""
BY_LETTERS = ("elmo",)
"""Types of model that read words by their letters: all words of the corpus are in the vocabulary,
however rare."""


@dataclass(frozen=True)
class LanguageText:
    """Section [text]: what a token is."""

    unit: Unit | Literal["auto"] = "auto"
    """`subwords`, `words` (what white space separates) or `characters`; `auto`: words for ngram,
    nnlm, elmo and classification, characters where their text has no spaces; sub-words for all
    others."""
    algorithm: Algorithm = "bpe"
    """Of sub-words: `bpe` or `wordpiece`."""
    vocabulary_size: int = 0
    """The most ids; 0 fits it to the corpus."""
    min_count: int = 0
    """Words and characters that are rarer are all the one unknown word. 0: 2 for words, so that
    something is known of unknown ones; 1 where the text says <unk> itself, and for characters."""
    sample_lines: int = 1_000_000
    """Sub-words are learned from at most so many lines, drawn at random."""
    segmenter: Literal["auto", "none", "jieba", "punctuation"] = "auto"
    """What parts words: `jieba` finds those of text without spaces, `punctuation` parts words from
    marks. `auto`: jieba where the unit is words and there are no spaces; punctuation in
    classification; else none."""

    def __post_init__(self) -> None:
        """Raise ConfigError for sizes below zero, or beyond any vocabulary."""
        refuse_beyond(self, {"vocabulary_size": MOST_IDS, "min_count": 1 << 40}, above="text.")
        least = {"vocabulary_size": 0, "min_count": 0, "sample_lines": 1}
        refuse_below(self, least, above="text.")


@dataclass(frozen=True)
class TokenUnit:
    """What a token of this corpus is."""

    unit: Unit
    segmenter: Segmenter

    @property
    def cut(self) -> Callable[[str], str]:
        """What puts spaces between words, where there are none."""
        return segmenter(self.segmenter)


def fitted_unit(text: LanguageText, model_type: str, lines: Lines, say: Say) -> TokenUnit:
    """The unit and the segmenter that suit a corpus; what was left open is said."""
    without_spaces = "auto" in (text.unit, text.segmenter) and unspaced(lines())
    unit: Unit
    if model_type in BY_LETTERS and text.unit == "subwords":
        raise ConfigError(
            f"a model of the type {model_type} reads whole words by their letters; got text.unit "
            "subwords. Take --text.unit words, or characters, or leave it out."
        )
    if text.unit != "auto":
        unit = text.unit
    else:
        whole: Unit = "characters" if without_spaces else "words"
        unit = whole if model_type in _WHOLE_WORDS else "subwords"
        say(f"unit: {unit}{' (the text has next to no spaces)' if unit == 'characters' else ''}")
    cutter: Segmenter = "jieba" if unit == "words" and without_spaces else "none"
    if text.segmenter != "auto":
        cutter = text.segmenter
    if cutter == "punctuation":
        say("punctuation is parted from words")
    elif cutter != "none":
        say(f"words are found by {cutter}: white space does not separate them")
    return TokenUnit(unit, cutter)


def refuse_unused(text: LanguageText, unit: Unit) -> None:
    """Raise ConfigError for what would change nothing of a vocabulary of this unit."""
    for of_subwords, key, value in (
        (True, "algorithm", text.algorithm if text.algorithm != "bpe" else ""),
        (False, "min_count", text.min_count if text.min_count > 1 else ""),
    ):
        if value and of_subwords != (unit == "subwords"):
            kind = "sub-words" if of_subwords else "words and characters"
            other = "subwords" if of_subwords else "words"
            raise ConfigError(
                f"text.{key} is of {kind}; got {value}, and the unit is {unit}. Leave it out, or "
                f"take --text.unit {other}."
            )


def learned_vocabulary(
    text: LanguageText,
    unit: TokenUnit,
    lines: Lines,
    *,
    unlimited: bool,
    also: Lines | None = None,
    seed: int,
    say: Say,
) -> Vocabulary:
    """The vocabulary of a corpus, learned from its lines; `unlimited` by how many there are.

    With words that occur in `also` alone, behind all others, if there is such text; then words that
    occur once are known too, unless `min_count` says otherwise.

    Raises:
        ConfigError: something is set that tokens of another unit have.
        DataError: nothing is in it.
    """
    refuse_unused(text, unit.unit)
    if unit.unit == "subwords":
        n_characters = sum(map(len, lines()))
        size = text.vocabulary_size or fitted_vocabulary_size(n_characters // 80, n_characters)
        chosen = sample(lines(), text.sample_lines, seed, say)
        subwords = Subwords.train(chosen, vocabulary_size=size, learn=LEARNERS[text.algorithm])
        say(f"{len(subwords):,} sub-words")
        return subwords
    whole = Words([], unit.unit)
    counts = Counter[str]()
    for line in lines():
        counts.update(whole.split(line))
    n_written_unknown = counts.pop("<unk>", 0)
    for marker in ("<pad>", "<s>", "</s>"):
        counts.pop(marker, None)
    if not counts:
        raise DataError("a corpus has words; this one has none. Give a text.")
    least = text.min_count or (2 if unit.unit == "words" and not n_written_unknown else 1)
    if also and not text.min_count:
        least = 0
        counts.update(dict.fromkeys((piece for line in also() for piece in whole.split(line)), 0))
    most = text.vocabulary_size and max(1, text.vocabulary_size - len(whole))
    limit = MOST_IDS - len(whole) if unlimited else MOST_WORDS
    words = Words.learned(counts, unit.unit, min_count=least, most=most or limit)
    if len(words) == len(whole) and not text.min_count:  # each occurs once: a few lines
        least = 1
        words = Words.learned(counts, unit.unit, most=most or limit)
    if len(words) == len(whole):
        raise DataError(
            f"a vocabulary has {unit.unit} that occur {least} times or more; the most frequent one "
            f"of this corpus occurs {max(counts.values())} times. Lower --text.min-count."
        )
    n_all = counts.total() + n_written_unknown
    n_unknown = n_all - sum(n for word, n in counts.items() if words.has(word))
    rare = f"at least {least} times" if least else "however rare"
    say(
        f"{len(words) - len(whole):,} {unit.unit} of {len(counts):,} different ones ({rare}, and "
        f"at most {most or limit:,}); {n_unknown / n_all:.1%} are unknown words"
    )
    return words
