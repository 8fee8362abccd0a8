"""Attention between words, from attention between sub-word pieces."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

_MARKER = re.compile(r"<[a-z/]+>|\[[A-Z]+\]")
_BYTES = re.compile(r"(<0x[0-9A-F]{2}>)+")


class MergedWords(NamedTuple):
    """The words that pieces make up."""

    labels: list[str]
    groups: list[list[int]]
    """For each word the positions of its pieces, in order; every piece is in one word."""


def words_of(pieces: Sequence[str]) -> MergedWords:
    """Join the pieces of `Subwords.pieces` (`▁` for a space, `<0xE6>` for a byte) into words.

    A word starts at a space, a marker such as `</s>`, punctuation, or a character of a script
    without spaces; there each piece stays as it is. Bytes that make up a character become it.
    """
    groups: list[list[int]] = []
    previous = ""
    for i, piece in enumerate(pieces):
        if groups and _continues(previous, piece):
            groups[-1].append(i)
        else:
            groups.append([i])
        previous = piece
    return MergedWords([_label([pieces[i] for i in group]) for group in groups], groups)


def merge_pieces(
    weights: Float[np.ndarray, "*maps query key"],
    queries: Sequence[Sequence[int]],
    keys: Sequence[Sequence[int]],
) -> Float[np.ndarray, "*maps query_words key_words"]:
    """What words pay to words: the sum over a word's key pieces, the mean over its query pieces.

    `queries` and `keys` are `MergedWords.groups`. Rows that summed to 1 still do.
    """
    by_key = np.stack([weights[..., list(group)].sum(axis=-1) for group in keys], axis=-1)
    return np.stack([by_key[..., list(group), :].mean(axis=-2) for group in queries], axis=-2)


def _continues(previous: str, piece: str) -> bool:
    """Whether `piece` goes on with the word that `previous` belongs to."""
    if _BYTES.fullmatch(piece):
        return bool(_BYTES.fullmatch(previous))
    if any(_MARKER.fullmatch(p) or _stands_alone(p) for p in (previous.lstrip("▁"), piece)):
        return False
    return not piece.startswith("▁") and not _BYTES.fullmatch(previous)


def _stands_alone(piece: str) -> bool:
    """Punctuation (but for apostrophes and hyphens), or a script that puts no spaces."""
    if any(unicodedata.east_asian_width(c) in "WF" for c in piece):
        return True
    punctuation = (unicodedata.category(c)[0] in "PS" and c not in "'’-‑" for c in piece)
    return bool(piece) and all(punctuation)


def _label(pieces: list[str]) -> str:
    spelled = "".join(pieces)
    if not _BYTES.fullmatch(spelled):
        return spelled.lstrip("▁") or "▁"
    raw = bytes.fromhex(spelled.replace("<0x", "").replace(">", ""))
    text = raw.decode("utf-8", errors="replace")
    return spelled if "\ufffd" in text else text
