"""What each head does, in numbers: how much of its weight goes where, beside what chance would pay.

A habit is a set of places for every query: the token before it, the end marker, .. Its share is the
weight that falls there; "even" is what falls there if a query weighs all that it sees alike.
"""

import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

CLEAR = 0.3
"""From this strength on a head is named after its strongest habit."""
DIFFUSE = 0.9
"""A head that is named after none is diffuse from this spread on."""


class Weights(NamedTuple):
    """One kind of attention over one text: every layer and head of it."""

    maps: Float[np.ndarray, "layers heads rows columns"]
    visible: Bool[np.ndarray, "rows columns"]
    """Which columns a row may look at."""
    rows: Sequence[str]
    """Pieces that look; where rows and columns are one text, the same as `columns`."""
    columns: Sequence[str]
    markers: Bool[np.ndarray, " columns"]
    """Which columns are markers (`<s>`, `</s>`)."""
    across: bool = False
    """Rows and columns are two texts."""


class HeadStatistics(NamedTuple):
    """What the heads do. Where no query can tell, shares and strengths are NaN."""

    names: list[str]
    shares: Float[np.ndarray, "layers heads habits"]
    """Of the weight of those queries that have such a place and see others too."""
    even: Float[np.ndarray, " habits"]
    """What the share would be if each query weighed all that it sees alike."""
    spread: Float[np.ndarray, "layers heads"]
    """Entropy over the largest possible one, mean over queries: 1 = all that is seen alike."""

    @property
    def strengths(self) -> Float[np.ndarray, "layers heads habits"]:
        """0 where the share is what chance pays, 1 where all weight goes there."""
        strengths: np.ndarray = (self.shares - self.even) / (1 - self.even)
        return strengths

    def names_of_heads(self) -> list[list[str]]:
        """For each layer and head its strongest habit, "diffuse", or "mixed"."""
        strengths = np.nan_to_num(self.strengths, nan=-1.0)
        return [
            [self._name(strengths[layer, head], self.spread[layer, head]) for head in heads]
            for layer, heads in enumerate([range(self.spread.shape[1])] * len(self.spread))
        ]

    def _name(self, strengths: Float[np.ndarray, " habits"], spread: float) -> str:
        strongest = int(strengths.argmax())
        if strengths[strongest] >= CLEAR:
            return self.names[strongest]
        return "diffuse" if spread >= DIFFUSE else "mixed"


def habits(text: Weights) -> HeadStatistics:
    """What the heads of one kind of attention do, over all queries of the text."""
    finders = _ACROSS if text.across else _WITHIN
    n_seen = text.visible.sum(1)
    shares, even = [], []
    for places_of in finders.values():
        places = places_of(text) & text.visible
        n_places = places.sum(1)
        told = (n_places > 0) & (n_places < n_seen)  # where all is such a place, none is chosen
        n_queries = np.float64(told.sum())
        with np.errstate(invalid="ignore"):
            shares.append((text.maps * places).sum(-1)[..., told].sum(-1) / n_queries)
            even.append((n_places[told] / n_seen[told]).sum() / n_queries)
    chosen = n_seen > 1
    entropy = -(text.maps * np.log(np.maximum(text.maps, 1e-30))).sum(-1)
    spread = (entropy[..., chosen] / np.log(n_seen[chosen])).sum(-1) / max(int(chosen.sum()), 1)
    return HeadStatistics(list(finders), np.stack(shares, -1), np.array(even), spread)


# -- places: for every row the columns of a habit -----------------------------------------------


def _offset(text: Weights, distance: int) -> Bool[np.ndarray, "rows columns"]:
    n_rows, n_columns = text.visible.shape
    return np.eye(n_rows, n_columns, distance, bool)


def _same_word(text: Weights) -> Bool[np.ndarray, "rows columns"]:
    """The same piece elsewhere; across texts, the same piece."""
    rows = np.array([_bare(piece) for piece in text.rows])
    columns = np.array([_bare(piece) for piece in text.columns])
    alike = (rows[:, None] == columns) & ~text.markers
    return alike if text.across else alike & ~_offset(text, 0)


def _first(text: Weights) -> Bool[np.ndarray, "rows columns"]:
    return np.broadcast_to(np.arange(len(text.columns)) == 0, text.visible.shape)


def _marker(text: Weights) -> Bool[np.ndarray, "rows columns"]:
    return np.broadcast_to(text.markers, text.visible.shape)


def _punctuation(text: Weights) -> Bool[np.ndarray, "rows columns"]:
    signs = np.array([_is_sign(_bare(piece)) for piece in text.columns]) & ~text.markers
    return np.broadcast_to(signs, text.visible.shape)


def _same_place(text: Weights) -> Bool[np.ndarray, "rows columns"]:
    """As far along its text as the row in its own, and one to each side."""
    n_rows, n_columns = text.visible.shape
    along = np.arange(n_rows) * (n_columns - 1) / max(n_rows - 1, 1)
    return np.abs(np.arange(n_columns) - along[:, None]) < 1.5


def _bare(piece: str) -> str:
    return piece.lstrip("▁").lower()


def _is_sign(label: str) -> bool:
    return bool(label) and all(unicodedata.category(c)[0] in "PS" for c in label)


_Places = Callable[[Weights], Bool[np.ndarray, "rows columns"]]
_WITHIN: dict[str, _Places] = {
    "previous": lambda text: _offset(text, -1),
    "itself": lambda text: _offset(text, 0),
    "next": lambda text: _offset(text, 1),
    "same word": _same_word,
    "punctuation": _punctuation,
    "first": lambda text: _first(text) & ~_marker(text),
    "marker": _marker,
}
_ACROSS: dict[str, _Places] = {
    "same place": _same_place,
    "same word": _same_word,
    "punctuation": _punctuation,
    "first": _first,
    "marker": _marker,
}
