"""Models of n-grams in ARPA files, which kenlm, SRILM and others read.

A file lists n-grams with the decimal logarithm of a probability, and of a back-off weight: what is
not listed has the probability in a context of one word less, times the weight of the context.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from headway.core.disk import whole_text
from headway.core.errors import DataError
from headway.language_models.ngram import Ngram

IMPOSSIBLE = -99.0
"""What the format has for the logarithm of 0."""

_CHUNK = 1 << 16  # n-grams at a time
_LN_10 = math.log(10.0)
_PARTS_FIELDS = frozenset(" \t\r\n\0")


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
