"""Models of n-grams in ARPA files, which kenlm, SRILM and others read.

A file lists n-grams with the decimal logarithm of a probability, and of a back-off weight: what is
not listed has the probability in a context of one word less, times the weight of the context.
Every claim of a file that is read is checked: what fits no context here is left out and counted,
what is damaged is refused with its line.
"""

import math
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from headway.core.disk import whole_text
from headway.core.errors import DataError
from headway.core.lines import read_lines
from headway.core.subwords import MOST_IDS
from headway.language_models.ngram import MOST_WORDS, Ngram
from headway.tokenizers.words import BLANK, WholeUnit, Words

IMPOSSIBLE = -99.0
"""What the format has for the logarithm of 0."""
UNLISTED = -100.0
"""The logarithm of an unknown word's probability where a file has none: kenlm's."""
MARKERS = {"<unk>": 1, "<s>": 2, "</s>": 3}

_CHUNK = 1 << 16  # n-grams at a time
_LN_10 = math.log(10.0)
_PARTS_FIELDS = frozenset(" \t\r\n\0")
_COUNT = re.compile(r"ngram\s+(\d{1,3})\s*=\s*(\d{1,18})")

# -- written ----------------------------------------------------------------------------------


def write_arpa(model: Ngram, pieces: Sequence[str], path: Path) -> int:
    """Write a model to a file (packed where its name ends in .gz); returns the n-grams written.

    `pieces` are the words by their ids, markers among them as `<unk>`, `<s>` and `</s>`. What the
    file says of a line from its beginning is what the model says, exactly but for rounding. Where
    Kneser-Ney interpolates, the file has the sums. Models that add to counts know no shorter
    contexts: where a line is not at its beginning, shorter n-grams have 1 / |V| in the file.

    Raises:
        DataError: a word cannot be written so that it is read again, or the disk is full.
    """
    words = checked_words(pieces, without=model.padding)
    n_grams = [len(words), *(len(model.keys(n)) for n in range(2, model.config.order + 1))]
    highest = max(n for n, many in enumerate(n_grams, start=1) if many)
    with whole_text(path) as file:
        file.write("\\data\\\n")
        for order in range(1, highest + 1):
            file.write(f"ngram {order}={n_grams[order - 1]}\n")
        for order in range(1, highest + 1):
            file.write(f"\n\\{order}-grams:\n")
            for some in ids_of(model, order):
                written = some[some[:, 0] != model.padding]
                lines = _lines(model, written, pieces, with_backoff=order < highest)
                file.write("".join(lines))
        file.write("\n\\end\\\n")
    return sum(n_grams[:highest])


def checked_words(pieces: Sequence[str], *, without: int) -> list[str]:
    """The words that stand in a file: all but the padding.

    Raises:
        DataError: one is empty or has in it what parts fields, or two are alike.
    """
    words = [piece for i, piece in enumerate(pieces) if i != without]
    seen = set[str]()
    for word in words:
        if not word or not _PARTS_FIELDS.isdisjoint(word) or word in seen:
            why = "occurs twice" if word in seen else "does not"
            raise DataError(
                "an ARPA file has words that differ, without blanks, tabs or line ends in them; "
                f"{word!r} {why}. Count text without it, or with --text.unit words."
            )
        seen.add(word)
    return words


def ids_of(model: Ngram, order: int) -> Iterator[Int[Tensor, "some n"]]:
    """All n-grams of an order as ids of words, in their order, some at a time."""
    n, size = len(model.weights(order)), model.vocabulary_size
    for begin in range(0, n, _CHUNK):
        place = torch.arange(begin, min(n, begin + _CHUNK))
        columns = []
        for below in range(order, 1, -1):
            key = model.keys(below)[place]
            columns.append(key % size)
            place = key // size
        yield torch.stack([place, *reversed(columns)], dim=1)


def _lines(
    model: Ngram, n_grams: Int[Tensor, "some n"], pieces: Sequence[str], *, with_backoff: bool
) -> Iterator[str]:
    probabilities = logarithms(model, n_grams).tolist()
    words = [" ".join(pieces[i] for i in ids) for ids in n_grams.tolist()]
    if not with_backoff:
        for probability, text in zip(probabilities, words, strict=True):
            yield f"{probability:.9g}\t{text}\n"
        return
    backoffs = _backoffs(model, n_grams).tolist()
    for probability, text, backoff in zip(probabilities, words, backoffs, strict=True):
        yield f"{probability:.9g}\t{text}\t{backoff:.9g}\n"


def logarithms(model: Ngram, n_grams: Int[Tensor, "some n"]) -> np.ndarray:
    """The decimal logarithm of each n-gram's probability, as the file has it: float32."""
    found = model.last_log_probs(n_grams) / _LN_10
    begins = n_grams[:, 0] == model.begin
    if _adds(model) and n_grams.shape[1] < model.config.order:
        # What stands here is only asked for where a longer context has not seen a word.
        found[~begins] = -math.log10(model.n_predictable)
    if n_grams.shape[1] == 1:
        found[begins] = IMPOSSIBLE
    return found.clamp(min=IMPOSSIBLE).float().numpy()


def _backoffs(model: Ngram, n_grams: Int[Tensor, "some n"]) -> np.ndarray:
    """The decimal logarithm of each context's weight, as the file has it: float32."""
    order = n_grams.shape[1]
    place = n_grams[:, 0]
    for n in range(2, order + 1):
        place = model.find(n, place, n_grams[:, n - 1])
    found = model.backoffs(order)[place].clone()
    if _adds(model) and order < model.config.order - 1:
        found[n_grams[:, 0] != model.begin] = 0.0
    return found.clamp(min=IMPOSSIBLE).numpy()


def _adds(model: Ngram) -> bool:
    """Whether it mixes counts of the longest context with 1 / |V|, and with nothing between."""
    return model.config.smoothing in ("none", "add-one", "add-k")


# -- read -------------------------------------------------------------------------------------


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


class ArpaLines:
    """The lines of a file that are not blank, one after the other, each known by its number."""

    def __init__(self, path: Path) -> None:
        self.path, self._number = path, 0
        self._worded = self._read()
        self.line = next(self._worded, "")
        """The one that is looked at; empty behind the last."""

    def _read(self) -> Iterator[str]:
        for line in read_lines(self.path):
            self._number += 1
            if line is None:
                raise self.refused("has lines of at most 1 MiB", "a longer one")
            if text := line.strip(" \t\r"):
                yield text

    def advance(self) -> None:
        """Look at the next line."""
        self.line = next(self._worded, "")

    def refused(self, rule: str, given: str = "") -> DataError:
        """The error of this line."""
        given = given or (repr(self.line) if self.line else "its end")
        return DataError(
            f"an ARPA file {rule}; line {self._number} of {self.path} has {given[:80]}. "
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
    lines = ArpaLines(path)
    counts = _header(lines)
    arpa, ids = _vocabulary(lines, counts, unit)
    for order in range(2, len(counts) + 1):
        words, numbers = array("i"), array("f")
        for probability, some, backoff in _entries(lines, order, counts):
            try:
                words.extend([ids[word] for word in some])
            except KeyError as error:
                rule = "has each word of an n-gram among its words"
                raise lines.refused(rule, str(error)) from None
            numbers.extend((probability, backoff))
        rows = np.array(words, np.int64).reshape(-1, order)
        arpa.orders.append(_sorted(lines, arpa, rows, np.array(numbers, np.float32).reshape(-1, 2)))
    if lines.line != "\\end\\":
        raise lines.refused("ends with \\end\\")
    return arpa


def _header(lines: ArpaLines) -> list[int]:
    """How many n-grams of each order are said to come."""
    while lines.line != "\\data\\":
        if not lines.line:
            raise lines.refused("begins with \\data\\", "no such line before it")
        lines.advance()
    lines.advance()
    counts: list[int] = []
    while found := _COUNT.fullmatch(lines.line):
        if int(found[1]) != len(counts) + 1 or int(found[1]) > MOST_WORDS:
            raise lines.refused(f"counts n-grams of each order from 1, up to {MOST_WORDS} at most")
        counts.append(int(found[2]))
        lines.advance()
    if not counts:
        raise lines.refused("says after \\data\\ how many n-grams it has")
    return counts


def _entries(
    lines: ArpaLines, order: int, counts: Sequence[int]
) -> Iterator[tuple[float, list[str], float]]:
    """The logarithm of the probability, the words and that of the back-off weight of each n-gram
    of an order; that line is looked at meanwhile."""
    heading, n, last = f"\\{order}-grams:", counts[order - 1], order == len(counts)
    if lines.line != heading:
        raise lines.refused(f"has {heading} here")
    lines.advance()
    as_many = f"has as many n-grams as it says, {n:,} of order {order}"
    for _ in range(n):
        if lines.line[:1] in ("", "\\"):
            raise lines.refused(as_many)
        fields = [some for some in lines.line.replace("\t", " ").split(" ") if some]
        a_logarithm = f"has lines of a logarithm and {order} words"
        if len(fields) not in (order + 1, order + 2 - last):
            raise lines.refused(a_logarithm)
        try:
            probability, *backoffs = map(float, [fields[0], *fields[order + 1 :]])
            (backoff,) = backoffs or [0.0]
        except ValueError:
            raise lines.refused(a_logarithm) from None
        # Rounding may bring a certain word over 0 by a little.
        if not probability <= 1e-5 or not -math.inf <= backoff < math.inf:
            raise lines.refused(
                "has logarithms of probabilities, at most 0, and of weights that are numbers"
            )
        yield min(probability, 0.0), fields[1 : order + 1], backoff
        lines.advance()
    if lines.line[:1] != "\\":
        raise lines.refused(as_many)


def _vocabulary(
    lines: ArpaLines, counts: Sequence[int], unit: WholeUnit | None
) -> tuple[Arpa, dict[str, int]]:
    """The words of a file, in its order, behind the markers; and each spelling's id."""
    if counts[0] > MOST_IDS:
        raise lines.refused(f"has at most {MOST_IDS:,} words", f"{counts[0]:,}")
    repaired, ids, words = Counter[str](), dict[str, int](), list[str]()
    weights, backoffs = [-math.inf] * 4, [0.0] * 4
    for probability, (spelled,), backoff in _entries(lines, 1, counts):
        word = unicodedata.normalize("NFC", spelled)
        repaired["not_nfc"] += word != spelled
        word = "<unk>" if word == "<UNK>" else word
        place = MARKERS.get(word, len(words) + 4)
        if spelled in ids or (place < 4 and place in ids.values()):
            raise lines.refused("has each word once", repr(spelled))
        ids[spelled] = place
        if place < 4:
            weights[place], backoffs[place] = probability, backoff
        else:
            words.append(word)
            weights.append(probability)
            backoffs.append(backoff)
    for word in ("<s>", "</s>"):
        if MARKERS[word] not in ids.values():
            raise lines.refused(f"has {word} among its words", "the last of them, without it")
    if MARKERS["<unk>"] not in ids.values():
        repaired["unknown_word_unlisted"] += 1
        weights[1] = UNLISTED
    weights[2] = -math.inf  # nothing predicts the beginning of a line
    if unit is None:
        blanks = any(word == BLANK or word.isspace() for word in words)
        unit = "characters" if blanks and max(map(len, words)) == 1 else "words"
    if unit == "characters":
        words = [" " if word == BLANK else word for word in words]
    try:
        vocabulary = Words(words, unit)
    except DataError as error:
        raise DataError(f"in {lines.path}: {error}") from None
    numbers = np.array([weights, backoffs], np.float32)
    of_words = Order(np.arange(len(weights), dtype=np.int64), *numbers)
    return Arpa(vocabulary, [of_words], repaired), ids


def _sorted(
    lines: ArpaLines, arpa: Arpa, words: NDArray[np.int64], numbers: NDArray[np.float32]
) -> Order:
    """The n-grams of an order from 2 as keys, in their order."""
    kept = (words[:, 1:] != MARKERS["<s>"]).all(axis=1)
    arpa.repaired["begin_inside"] += int((~kept).sum())
    words, numbers = words[kept], numbers[kept]
    keys = words[:, 0]
    for below, column in zip([None, *arpa.orders[1:]], words.T[1:], strict=True):
        if below is not None:
            place = np.searchsorted(below.keys, keys)
            there = np.append(below.keys, -1)[place] == keys
            if not there.all():
                n_gram = " ".join(arpa.words.pieces(words[np.argmin(there)].tolist()))
                given = f"or has above it {n_gram!r} without them"
                raise lines.refused("lists the first words of each n-gram as well", given)
            keys = place
        keys = keys * len(arpa.words) + column
    order = np.argsort(keys, kind="stable")
    keys, numbers = keys[order], numbers[order]
    if (keys[1:] == keys[:-1]).any():
        given = f"or before it one of order {words.shape[1]} twice"
        raise lines.refused("has each n-gram once", given)
    return Order(keys, *np.ascontiguousarray(numbers.T))
