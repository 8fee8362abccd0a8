"""Learning a sub-word vocabulary from lines of text.

Both algorithms grow their pieces by byte-pair merges over characters (Sennrich et al. 2016). For
byte-level BPE the merges are then spelled in bytes, so that every text can be written; WordPiece
keeps the pieces and picks the longest that fits (Wu et al. 2016), as BERT does. Learning over
characters needs a third of the memory that bytes need for Chinese, and no piece of two or more
characters ever starts or ends inside a character.
"""

import json
import math
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

from headway.errors import ConfigError
from headway.text.vocabulary import BYTE_CHARACTERS, SPECIAL_PIECES, spell

VERSION = 2
"""Raised whenever the same lines give other pieces."""

# Words take along the space before them. Combining marks belong to the word (Hindi, Thai); digits
# stand alone, so that a number is copied digit by digit instead of being looked up.
WORDS = r"'(?:s|t|re|ve|m|ll|d)| ?[\p{L}\p{M}]+| ?\p{N}| ?[^\s\p{L}\p{M}\p{N}]+|\s+(?!\S)|\s+"

# Scripts without spaces (Thai to Tibetan, Myanmar, Khmer, kana and Han), and any unbroken word:
# each clause is a new "word" to the trainer, which keeps them all in memory.
_UNBROKEN = 25
_UNSPACED_SCRIPT = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]+"
)
_UNSPACED = re.compile(f"{_UNSPACED_SCRIPT.pattern}|[^\\W\\d_]{{{_UNBROKEN},}}")
_UNSPACED_BUDGET = 1_000_000  # characters, 300 bytes of memory for each; more changes nothing
_LINES_COUNTED = 1_000  # at a time, which is three times as fast as one by one


def fitted_vocabulary_size(n_pairs: int, n_characters: int) -> int:
    """How many sub-words suit a corpus of `n_pairs` with `n_characters` on both sides together.

    The rule: 5 * sqrt(characters), rounded to 500, at least 1,000 and at most 32,000, and no more
    pieces than pairs. Multi30k (29,000 pairs, 3.9 M characters) gets 10,000, which is what its
    best published system uses; 32,000 is reached at 41 M characters.
    """
    fitted = round(5 * math.sqrt(n_characters) / 500) * 500
    return max(1_000, min(32_000, fitted, n_pairs))


class _Reservoir:
    """A random sample of a stream, each line equally likely (Li 1994, algorithm L).

    It holds at most `capacity` lines, and shrinks when they hold too much unspaced text.
    """

    def __init__(self, capacity: int, seed: int) -> None:
        self.lines: list[str] = []
        self.n_seen = 0
        self._capacity = capacity
        self._random = random.Random(seed)
        self._weight = 1.0
        self._next = 1  # which line is taken next, counted from 1
        self._unspaced = 0

    def offer(self, line: str) -> None:
        self.n_seen += 1
        if self.n_seen < self._next:
            return
        if len(self.lines) < self._capacity:
            self.lines.append(line)
        else:
            place = self._random.randrange(self._capacity)
            self._unspaced -= _n_unspaced(self.lines[place])
            self.lines[place] = line
        self._unspaced += _n_unspaced(line)
        if len(self.lines) < self._capacity:
            self._next += 1
        else:
            self._draw_next(self._weight * self._random.betavariate(self._capacity, 1))
        if self._unspaced > 2 * _UNSPACED_BUDGET:
            self.shrink()

    def shrink(self) -> None:
        """Leave lines out, at random, until the unspaced text fits."""
        if self._unspaced <= _UNSPACED_BUDGET:
            return
        self._random.shuffle(self.lines)
        self._capacity = max(1, len(self.lines) * _UNSPACED_BUDGET // self._unspaced)
        del self.lines[self._capacity :]
        self._unspaced = sum(map(_n_unspaced, self.lines))
        n_others = self.n_seen - self._capacity
        self._draw_next(self._random.betavariate(self._capacity, n_others + 1))

    def _draw_next(self, weight: float) -> None:
        self._weight = min(weight, 1 - 1e-12)
        skipped = math.log(1 - self._random.random()) / math.log1p(-self._weight)
        self._next = self.n_seen + int(skipped) + 1


def _n_unspaced(line: str) -> int:
    longest = max(map(len, line.split()), default=0)
    if longest >= _UNBROKEN:
        return sum(map(len, _UNSPACED.findall(line)))
    return 0 if line.isascii() else sum(map(len, _UNSPACED_SCRIPT.findall(line)))


def sample(lines: Iterable[str], n_lines: int, seed: int, say: Callable[[str], None]) -> list[str]:
    """At most `n_lines` of `lines`, each equally likely, said aloud when not all are taken.

    Of text in scripts without spaces it takes lines with about a million characters.
    """
    reservoir = _Reservoir(n_lines, seed)
    for line in lines:
        reservoir.offer(line)
    reservoir.shrink()
    if len(reservoir.lines) < reservoir.n_seen:
        say(
            f"the sub-words are learned from {len(reservoir.lines):,} of {reservoir.n_seen:,} "
            f"lines, drawn at random with seed {seed}"
        )
    return reservoir.lines


def between(lines: list[str], placeholders: Sequence[str]) -> list[str]:
    """The texts between the placeholders, which are no part of any word."""
    if not placeholders:
        return lines
    pattern = re.compile(f"[{''.join(map(re.escape, placeholders))}]")
    return [text for line in lines for text in pattern.split(line) if text]


def add_placeholders(tokenizer: Tokenizer, placeholders: Sequence[str]) -> None:
    """Add pieces, behind all others, that are cut out of a text before anything else is done."""
    tokenizer.add_tokens([AddedToken(character, normalized=False) for character in placeholders])


def train_bpe(lines: Iterable[str], vocabulary_size: int) -> Tokenizer:
    """Byte-level BPE of at most `vocabulary_size` pieces, markers and the 256 bytes included."""
    least = len(SPECIAL_PIECES) + len(BYTE_CHARACTERS)
    if vocabulary_size < least:
        raise ConfigError(
            f"byte-level BPE needs a vocabulary of {least} or more (every byte and the markers); "
            f"got {vocabulary_size}. Try --text.vocabulary-size {least + 740}."
        )
    alphabet, learned = learn(lines, vocabulary_size, WORDS)
    merges = [step for character in alphabet for step in _spelling_merges(character)]
    merges = list(dict.fromkeys(merges)) + [(spell(left), spell(right)) for left, right in learned]
    vocabulary = {piece: i for i, piece in enumerate((*SPECIAL_PIECES, *BYTE_CHARACTERS))}
    kept = []
    for left, right in merges:
        if len(vocabulary) == vocabulary_size:
            break
        vocabulary.setdefault(left + right, len(vocabulary))
        kept.append((left, right))
    tokenizer = Tokenizer(models.BPE(vocabulary, kept))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL_PIECES))
    return tokenizer


def learn(
    lines: Iterable[str], vocabulary_size: int, words: str
) -> tuple[list[str], list[tuple[str, str]]]:
    """The characters worth a piece, in code point order, and the merges, best first."""
    normal = [unicodedata.normalize("NFC", line) for line in lines]
    alphabet = _alphabet(normal, vocabulary_size // 2)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(words), "isolated")
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size - len(SPECIAL_PIECES),
        min_frequency=2,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),  # left alone, the trainer breaks ties at random
        show_progress=False,
    )
    tokenizer.train_from_iterator(normal, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return alphabet, [(left, right) for left, right in model["merges"]]


def _alphabet(lines: Iterable[str], most: int) -> list[str]:
    """The commonest characters that occur more than once, at most so many, in code point order."""
    counts: Counter[str] = Counter()
    remaining = iter(lines)
    while some := list(islice(remaining, _LINES_COUNTED)):
        counts.update("".join(some))
    ranked = sorted(counts, key=lambda character: (-counts[character], character))
    return sorted(character for character in ranked[:most] if counts[character] > 1)


def _spelling_merges(character: str) -> list[tuple[str, str]]:
    """The merges that build one character from its bytes, left to right."""
    spelled = spell(character)
    return [(spelled[:i], spelled[i]) for i in range(1, len(spelled))]
