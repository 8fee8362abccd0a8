"""One word, many vectors: what a model makes of each word of a text, and where a word is used.

A model reads pieces: sub-words, words, characters. A word's vector is the mean of those of the
pieces that it has letters in.
"""

import heapq
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, tee
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headway.core.errors import ConfigError
from headway.languages.scripts import UNSPACED
from headway.vectors.word_vectors import unit

Span = tuple[int, int]
"""From a character on, and up to another one."""
Sees = Literal["the word alone", "the words before it", "the words on both sides"]

_PARTED = re.compile(f"[{UNSPACED}]\\s+[{UNSPACED}]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_AT_ONCE = 100
"""Lines with the word that are embedded together."""
_ALIKE = 1e-5
"""Cosines that differ by less are of one vector."""


@dataclass(frozen=True)
class EmbeddedText:
    """One text, as a model has read it."""

    text: str
    """In NFC, with spaces where the run's segmenter puts them."""
    pieces: Sequence[Span]
    """Which characters each piece stands for, in order."""
    vectors: Float[NDArray, "layers pieces size"]
    unknown: Sequence[bool]
    """Whether a piece is the model's one unknown word."""

    def words(self) -> list[Span]:
        """The words: what white space separates. Where a script without spaces is written without
        them, too, the pieces of the model stand for its words."""
        parted = _PARTED.search(self.text) is not None
        found: list[Span] = []
        for one in re.finditer(r"\S+", self.text):
            if parted or not _UNSPACED.search(one[0]):
                found.append(one.span())
            else:
                found += self._within(*one.span())
        return found

    def _within(self, begin: int, end: int) -> list[Span]:
        """The pieces of a stretch; those that share a character are one."""
        found: list[Span] = []
        for start, stop in self.pieces[slice(*self._pieces_of((begin, end)))]:
            if found and start < found[-1][1]:
                found[-1] = found[-1][0], min(max(stop, found[-1][1]), end)
            elif start < stop:
                found.append((max(start, begin), min(stop, end)))
        return found

    def of(self, spans: Sequence[Span]) -> Float[NDArray, "layers spans size"]:
        """The mean of the pieces that have a character in a span; zeros where none has."""
        n_layers, _, size = self.vectors.shape
        found = np.zeros((n_layers, len(spans), size), np.float32)
        for n, (first, last) in enumerate(map(self._pieces_of, spans)):
            if first < last:
                found[:, n] = self.vectors[:, first:last].mean(1)
        return found

    def knows(self, span: Span) -> bool:
        """Whether a span has a piece that is no unknown word."""
        first, last = self._pieces_of(span)
        return not all(self.unknown[first:last])

    def form(self, span: Span) -> str:
        """The pieces of a span, as they are written: `Apple,` where that is one."""
        first, last = self._pieces_of(span)
        whole = self.text[self.pieces[first][0] : self.pieces[last - 1][1]] if first < last else ""
        return whole.strip()

    def _pieces_of(self, span: Span) -> Span:
        """The first piece with a character in a span, and the one behind the last."""
        starts, ends = self._ends
        first, last = np.searchsorted(ends, span[0], "right"), np.searchsorted(starts, span[1])
        return int(first), int(last)

    @cached_property
    def _ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        found = np.array(self.pieces, np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]


@runtime_checkable
class Embedder(Protocol):
    """A model that gives each word of a text a vector."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Their names, the first one counts as 0."""
        ...

    @property
    def sees(self) -> Sees:
        """What a vector of the last layer depends on."""
        ...

    def embed(self, texts: Iterable[str]) -> Iterator[EmbeddedText]:
        """Each text by itself, in order; a few thousand pieces are held at a time."""
        ...


def embedded_texts(
    texts: Iterable[str],
    vocabulary: Any,
    vectors_of: Callable[[Iterable[Any]], Iterator[Float[NDArray, "layers length size"]]],
) -> Iterator[EmbeddedText]:
    """What a model that reads the pieces of a vocabulary makes of each text; `vectors_of` gives the
    vectors of some rows of ids."""
    normal = (unicodedata.normalize("NFC", text) for text in texts)
    given, read = tee((text, vocabulary.encode(text) if text.strip() else []) for text in normal)
    for (text, ids), vectors in zip(given, vectors_of(ids for _, ids in read), strict=True):
        pieces = vocabulary.source_spans(text) if ids else []
        unknown = [one == vocabulary.special.unknown for one in ids]
        yield EmbeddedText(text, pieces, vectors, unknown)


class Layers:
    """Which layers of an embedder are asked for."""

    def __init__(self, asked: str | None, names: Sequence[str]) -> None:
        """A layer by number or name, `mean` for the mean of all, None for all of them.

        Raises ConfigError for a layer that is not there, which names those that are.
        """
        numbers = {str(n): n for n in range(len(names))} | {name: n for n, name in enumerate(names)}
        if asked not in (None, "mean", *numbers):
            listed = ", ".join(
                f"{n} ({name})" if name != str(n) else name for n, name in enumerate(names)
            )
            raise ConfigError(
                f"--layer is one of the model's, or mean; got {asked}. It has {listed}."
            )
        self.asked, self.number = asked, numbers.get(asked or "")
        self.names = [*names] if asked is None else ["mean"]
        """What is given, in its order."""
        if self.number is not None:
            self.names = [names[self.number]]

    def of(self, vectors: Float[NDArray, "layers words size"]) -> Float[NDArray, "words ..."]:
        """[words, size] of one layer or the mean, [words, layers, size] of all."""
        if self.number is not None:
            return vectors[self.number]
        return vectors.mean(0) if self.asked else vectors.swapaxes(0, 1)


# -- where a word is used ---------------------------------------------------------------------


class WordUse(NamedTuple):
    """A word somewhere in a text."""

    line: int
    """From 1."""
    text: str
    span: Span
    form: str
    """What the model has read there: its pieces."""
    cosine: float = 0.0

    def marked(self, around: int) -> str:
        """The text with the word in brackets; only so many characters on either side."""
        begin, end = self.span
        first, last = max(0, begin - around), end + around
        shown = f"{self.text[first:begin]}[{self.text[begin:end]}]{self.text[end:last]}"
        return f"{'..' * (first > 0)}{shown}{'..' * (last < len(self.text))}"


def occurrences(text: str, word: str) -> list[Span]:
    """Where a word stands in a text of NFC, however it is capitalized; not within a longer word,
    but in scripts without spaces."""
    word = unicodedata.normalize("NFC", word)
    before, behind = (
        "" if _UNSPACED.match(end) or not end.isalnum() else r"\b" for end in (word[0], word[-1])
    )
    return [one.span() for one in re.finditer(before + re.escape(word) + behind, text, re.I)]


def uses(
    embedder: Embedder, lines: Iterable[tuple[int, str]], word: str
) -> Iterator[tuple[WordUse, Float[NDArray, "layers size"]]]:
    """Every use of a word in numbered lines with its vectors; lines without it, and those that
    stood there before, are not read by the model. Cosines are still to be found."""
    seen = set[int]()

    def has_word(line: str) -> bool:
        """And was not there before."""
        normal = unicodedata.normalize("NFC", line)
        found = bool(occurrences(normal, word)) and hash(line) not in seen
        seen.update([hash(line)] * found)
        return found

    with_word = ((n, line) for n, line in lines if has_word(line))
    while some := list(islice(with_word, _AT_ONCE)):
        read = embedder.embed([line for _, line in some])
        for (number, _), one in zip(some, read, strict=True):
            spans = [span for span in occurrences(one.text, word) if one.knows(span)]
            for span, vectors in zip(spans, one.of(spans).swapaxes(0, 1), strict=True):
                yield WordUse(number, one.text, span, one.form(span)), vectors


class NearestUses(NamedTuple):
    """Uses of a word, the nearest to some vector first."""

    nearest: list[WordUse]
    n_uses: int
    """In all of the corpus."""
    mean: float
    """Of their cosines: vectors of one word, and of one layer, are alike before any looks at
    them."""
    same: bool
    """Whether all that are read alike are equally near: a word has one vector."""


def nearest_uses(
    found: Iterable[tuple[WordUse, Float[NDArray, "layers size"]]],
    vector: Float[NDArray, " size"],
    layers: Layers,
    top: int,
) -> NearestUses:
    """Those whose vectors of a layer are nearest to another one, by cosine; of equals the first."""
    target, n_uses, total = unit(vector), 0, 0.0
    heap: list[tuple[float, int, WordUse]] = []
    bounds: dict[str, tuple[float, float]] = {}
    for n_uses, (use, vectors) in enumerate(found, start=1):
        cosine = float(unit(layers.of(vectors[:, None])[0]) @ target)
        total += cosine
        least, most = bounds.get(use.form, (cosine, cosine))
        bounds[use.form] = min(least, cosine), max(most, cosine)
        one = (cosine, -n_uses, use._replace(cosine=cosine))
        (heapq.heappush if len(heap) < top else heapq.heappushpop)(heap, one)
    nearest = [use for _, _, use in sorted(heap, key=lambda one: one[:2], reverse=True)]
    same = len(bounds) < n_uses and all(most - least < _ALIKE for least, most in bounds.values())
    return NearestUses(nearest, n_uses, total / max(1, n_uses), same)
