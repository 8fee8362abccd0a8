"""ARPA files read as the arrays of a model of n-grams: line by line, every claim of theirs checked.

What fits no context here is left out and counted; what is damaged is refused with its line.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import DataError
from headway.core.lines import read_lines
from headway.core.subwords import MOST_IDS
from headway.language_models.ngram import MOST_WORDS
from headway.tokenizers.words import BLANK, WholeUnit, Words

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
UNLISTED = -100.0
"""The logarithm of an unknown word's probability where a file has none: kenlm's."""

_COUNT = re.compile(r"ngram\s+(\d{1,3})\s*=\s*(\d{1,18})")
_CHUNK = 100_000  # lines at a time


class Order(NamedTuple):
    """The n-grams of one order, sorted, as `headway.language_models.ngram.Ngram` has them."""

    keys: NDArray[np.int64]
    """Of words, their ids."""
    weights: NDArray[np.float32]
    backoffs: NDArray[np.float32]


@dataclass
class Arpa:
    """What a file holds."""

    words: Words
    orders: list[Order] = field(default_factory=list)
    repaired: Counter[str] = field(default_factory=Counter)
    """What was put right or left out, by reason."""

    @property
    def n_grams(self) -> tuple[int, ...]:
        """How many there are of each order; of order 1, the size of the vocabulary."""
        return tuple(len(order.weights) for order in self.orders)


class _NumberedLines:
    """The lines of a file that are not blank, one after the other, each known by its number."""

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0
        self._lines = read_lines(path)

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(self._lines, start=1):
            self.number = number
            if line is None:
                raise self.refused("has lines of at most 1 MiB", "a longer one")
            if line.strip(" \t\r"):
                yield line.strip(" \t\r")

    def refused(self, rule: str, given: str) -> DataError:
        """The error of the line that was read last."""
        return DataError(
            f"an ARPA file {rule}; line {self.number} of {self.path} has {given[:80]}. "
            "Take the file from a copy, or write it anew."
        )


def read_arpa(path: Path, unit: WholeUnit | None = None) -> Arpa:
    """Read a file, also packed (.gz).

    Words are brought to NFC, as all text is. `<UNK>` is `<unk>`. N-grams with `<s>` behind their
    first word are never asked for and left out. `unit` is what the words are; None: characters if
    one of them is white space (`▁` is the blank), else words.

    Raises:
        DataError: it is no ARPA file, cut, or not as its header says; with the line.
    """
    lines = _NumberedLines(path)
    remaining = iter(lines)
    counts, heading = _header(lines, remaining)
    arpa, ids = Arpa(Words([])), dict[str, int]()
    for order, n in enumerate(counts, start=1):
        if heading != f"\\{order}-grams:":
            raise lines.refused(f"has \\{order}-grams: here", repr(heading))
        if order == 1:
            arpa.words, ids = _vocabulary(lines, remaining, n, arpa, unit)
        else:
            _n_grams(lines, remaining, order, n, arpa, ids, last=order == len(counts))
        heading = next(remaining, "")
        if heading[:1] != "\\":
            rule = f"has as many n-grams as it says, {n:,} of order {order}"
            raise lines.refused(rule, repr(heading) if heading else "its end")
    if heading != "\\end\\":
        raise lines.refused("ends with \\end\\", repr(heading))
    return arpa


def _header(lines: _NumberedLines, remaining: Iterator[str]) -> tuple[list[int], str]:
    """How many n-grams of each order are said to come, and the line after that."""
    if next((line for line in remaining if line == "\\data\\"), None) is None:
        raise lines.refused("begins with \\data\\", "no such line before it")
    counts: list[int] = []
    for line in remaining:
        found = _COUNT.fullmatch(line)
        if not found:
            if not counts:
                raise lines.refused("says after \\data\\ how many n-grams it has", repr(line))
            return counts, line
        if int(found[1]) != len(counts) + 1 or int(found[1]) > MOST_WORDS:
            rule = f"counts n-grams of each order from 1, up to {MOST_WORDS} at most"
            raise lines.refused(rule, repr(line))
        counts.append(int(found[2]))
    raise lines.refused("has n-grams after its header", "its end")


def _entries(
    lines: _NumberedLines, remaining: Iterator[str], order: int, n: int, *, last: bool
) -> Iterator[tuple[float, list[str], float]]:
    """The logarithm of the probability, the words and that of the back-off weight of each."""
    for line in islice(remaining, n):
        fields = [some for some in line.replace("\t", " ").split(" ") if some]
        wanted = f"has lines of a logarithm and {order} words"
        if len(fields) not in (order + 1, order + 2 - last):
            if line[0] == "\\":
                rule = f"has as many n-grams as it says, {n:,} of order {order}"
                raise lines.refused(rule, repr(line))
            raise lines.refused(wanted, repr(line))
        try:
            probability = float(fields[0])
            backoff = float(fields[order + 1]) if len(fields) == order + 2 else 0.0
        except ValueError:
            raise lines.refused(wanted, repr(line)) from None
        # Rounding may bring a certain word over 0 by a little.
        if not probability <= 1e-5 or not -math.inf <= backoff < math.inf:
            rule = "has logarithms of probabilities, at most 0, and of weights that are numbers"
            raise lines.refused(rule, repr(line))
        yield min(probability, 0.0), fields[1 : order + 1], backoff


def _vocabulary(
    lines: _NumberedLines, remaining: Iterator[str], n: int, arpa: Arpa, unit: WholeUnit | None
) -> tuple[Words, dict[str, int]]:
    """The words of a file, in its order, behind the markers; and each spelling's id."""
    if n > MOST_IDS:
        raise lines.refused(f"has at most {MOST_IDS:,} words", f"{n:,}")
    markers = {UNKNOWN: 1, BEGIN: 2, END: 3}
    ids, words = dict[str, int](), list[str]()
    weights, backoffs = [-math.inf] * 4, [0.0] * 4
    for probability, (spelled,), backoff in _entries(lines, remaining, 1, n, last=False):
        word = unicodedata.normalize("NFC", spelled)
        arpa.repaired["not_nfc"] += word != spelled
        word = UNKNOWN if word == "<UNK>" else word
        place = markers.get(word, len(words) + 4)
        if spelled in ids or (place < 4 and place in ids.values()):
            raise lines.refused("has each word once", repr(spelled))
        ids[spelled] = place
        if place >= 4:
            words.append(word)
            weights.append(probability)
            backoffs.append(backoff)
        else:
            weights[place], backoffs[place] = probability, backoff
    if len(ids) < n:
        raise lines.refused(f"has as many n-grams as it says, {n:,} of order 1", "its end")
    for word in (BEGIN, END):
        if markers[word] not in ids.values():
            raise lines.refused(f"has {word} among its words", "the last of them, without it")
    if UNKNOWN not in ids and "<UNK>" not in ids:
        arpa.repaired["unknown_word_unlisted"] += 1
        weights[1] = UNLISTED
    weights[2] = -math.inf  # nothing predicts the beginning of a line
    if unit is None:
        blanks = any(map(_is_white_space, words))
        unit = "characters" if blanks and max(map(len, words)) == 1 else "words"
    if unit == "characters":
        words = [" " if word == BLANK else word for word in words]
    try:
        vocabulary = Words(words, unit)
    except DataError as error:
        raise DataError(f"in {lines.path}: {error}") from None
    numbers = np.arange(len(weights), dtype=np.int64)
    of_words = np.array([weights, backoffs], np.float32)
    arpa.orders.append(Order(numbers, *of_words))
    return vocabulary, ids


def _is_white_space(word: str) -> bool:
    return word == BLANK or word.isspace()


def _n_grams(
    lines: _NumberedLines, remaining: Iterator[str], order: int, n: int, arpa: Arpa,
    ids: dict[str, int], *, last: bool,
) -> None:  # fmt: skip
    """Read the n-grams of an order from 2, some at a time."""
    entries = _entries(lines, remaining, order, n, last=last)
    all_keys, all_weights, n_read = [], [], 0
    while some := list(islice(entries, _CHUNK)):
        n_read += len(some)
        try:
            words = np.array([[ids[word] for word in entry[1]] for entry in some], np.int64)
        except KeyError as error:
            raise lines.refused("has each word of an n-gram among its words", str(error)) from None
        kept = (words[:, 1:] != 2).all(axis=1)
        arpa.repaired["begin_inside"] += int((~kept).sum())
        words = words[kept]
        place = words[:, 0]
        for n_words in range(2, order):
            place = _places(arpa, n_words, place, words[:, n_words - 1])
            if (place < 0).any():
                n_gram = some[int(np.flatnonzero(kept)[np.argmax(place < 0)])][1]
                rule = "lists the first words of each n-gram as well"
                raise lines.refused(rule, f"or has above it {' '.join(n_gram)!r} without them")
        all_keys.append(place * len(arpa.words) + words[:, -1])
        numbers = np.array([(p, b) for p, _, b in some], np.float32)[kept]
        all_weights.append(numbers)
    if n_read < n:
        raise lines.refused(f"has as many n-grams as it says, {n:,} of order {order}", "its end")
    keys = np.concatenate(all_keys) if all_keys else np.zeros(0, np.int64)
    weights = np.concatenate(all_weights) if all_weights else np.zeros((0, 2), np.float32)
    sorted_ = np.argsort(keys, kind="stable")
    keys, weights = keys[sorted_], weights[sorted_]
    if (keys[1:] == keys[:-1]).any():
        raise lines.refused("has each n-gram once", f"or before it one of order {order} twice")
    arpa.orders.append(Order(keys, *np.ascontiguousarray(weights.T)))


def _places(
    arpa: Arpa, order: int, context: NDArray[np.int64], word: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The places of n-grams, -1 for one that is not there."""
    keys = arpa.orders[order - 1].keys
    wanted = context * len(arpa.words) + word
    if not len(keys):
        return np.full(len(wanted), -1)
    place = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)
