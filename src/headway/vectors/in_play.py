"""Which rows of the two matrices are in play while word2vec learns from one place of a text."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

SHOWN = 5
"""So many numbers of each row are shown."""


class PlaceInText(NamedTuple):
    """A word of a text with what stands around it, and what a run knows of both."""

    direction: str
    """`cbow` or `skip-gram`: what the run learned by."""
    words: list[str]
    """The whole text, words without vectors too."""
    centre: int
    """Which of them is the middle one."""
    around: list[int]
    """Those that are its context."""
    noise: list[str]
    """Words drawn from the noise, which the true one is told from."""
    rows: dict[str, int]
    """Of each word that is in play, in both matrices."""
    vectors: Float[NDArray, "rows size"]
    """Q: one vector a word."""
    outputs: Float[NDArray, "rows size"]
    """What they are multiplied with."""


class RowInPlay(NamedTuple):
    """A row of a matrix that is read, and changed by what is learned."""

    number: int
    word: str
    numbers: list[float]
    """The first few."""
    wanted: int | None = None
    """Of outputs: 1 of the true word, 0 of noise."""
    probability: float | None = None
    """Of outputs: how true the run holds it to be, the logistic function of the product."""


class RowsInPlay(NamedTuple):
    """One update of negative sampling: `given` of Q, their mean, and `asked` of the outputs."""

    given: list[RowInPlay]
    mean: list[float]
    asked: list[RowInPlay]


def rows_in_play(place: PlaceInText, direction: str) -> RowsInPlay:
    """CBOW reads the rows of the context and asks for the word in the middle; skip-gram reads the
    row of the middle and asks for a word of the context (the first; the others follow alike)."""
    centre, context = place.words[place.centre], [place.words[i] for i in place.around]
    given, true = (context, centre) if direction == "cbow" else ([centre], context[0])
    read = [place.vectors[place.rows[word]] for word in given]
    mean = np.asarray(np.mean(read, axis=0, dtype=np.float32))
    asked = []
    for word in [true, *place.noise]:
        output = place.outputs[place.rows[word]]
        share = float(1 / (1 + np.exp(-float(mean @ output))))
        numbers = output[:SHOWN].tolist()
        asked.append(RowInPlay(place.rows[word], word, numbers, int(word == true), share))
    rows = [
        RowInPlay(place.rows[word], word, row[:SHOWN].tolist())
        for word, row in zip(given, read, strict=True)
    ]
    return RowsInPlay(rows, mean[:SHOWN].tolist(), asked)


def places(
    words: Sequence[str], known: Sequence[bool], window: int, seen: int
) -> tuple[int, list[int]]:
    """The word with the fullest context, nearest to the middle of a text, and the places of it.

    Words without vectors are no context: word2vec leaves them out before it looks around. Of the
    others those count that are at most `seen` words away; there may be none.
    """
    kept = [i for i, one in enumerate(known) if one]
    middle = len(words) / 2
    found = []
    for at, centre in enumerate(kept):
        around = kept[max(0, at - window) : at] + kept[at + 1 : at + 1 + window]
        around = [one for one in around if abs(one - centre) <= seen]
        found.append((-len(around), abs(centre - middle), centre, around))
    _, _, centre, around = min(found, default=(0, 0, 0, []))
    return centre, around
