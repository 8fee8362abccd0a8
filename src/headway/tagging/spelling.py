"""What is seen of a token beside its pieces, as hashed features (Weinberger et al. 2009).

Of words: the word in small letters, its shape (`Mc-D9` is `Xx-Xd`), how it begins and ends. Where
tokens are characters: each with the one before it and the one behind. Each feature is a row of one
table, found by a hash of it; those of a token are summed onto the embedding of its first piece.
"""

import math
import zlib
from collections.abc import Callable, Sequence
from itertools import groupby

from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.embedding import TokenEmbedding

N_ROWS = 1 << 14
"""Of the table; the first one is zero, of what is no first piece."""


def shape(word: str) -> str:
    """Its letters as X, x and d, without repeats."""
    kinds = (
        "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word
    )
    return "".join(kind for kind, _ in groupby(kinds))


def _of_words(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    lowered = [token.lower() for token in tokens]
    return [
        (f"w{low}", f"s{shape(token)}", *(f"p{token[:n]}" for n in (2, 3, 4)),
         *(f"q{low[-n:]}" for n in (2, 3, 4)))
        for token, low in zip(tokens, lowered, strict=True)
    ]  # fmt: skip


def _of_characters(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    edged = ["<", *tokens, ">"]
    return [
        (f"b{before}{here}", f"a{here}{after}")
        for before, here, after in zip(edged, tokens, edged[2:], strict=False)
    ]


FEATURES: dict[str, tuple[int, Callable[[Sequence[str]], list[tuple[str, ...]]]]] = {
    "words": (8, _of_words),
    "characters": (2, _of_characters),
}
"""How many there are of a token, and what they are."""


def hashed(tokens: Sequence[str], kind: str) -> list[list[int]]:
    """The rows of each token of a sentence."""
    _, features = FEATURES[kind]
    found = features(tokens)
    return [[1 + zlib.crc32(one.encode()) % (N_ROWS - 1) for one in row] for row in found]


class SpellingTable(nn.Module):
    """The table."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.rows = TokenEmbedding(N_ROWS, d_model, padding=0)

    def forward(
        self, features: Int[Tensor, "batch length features"]
    ) -> Float[Tensor, "batch length d_model"]:
        """The sum of what each place has, as large as one embedding, however many are left out."""
        rows = self.rows(features.flatten(1)).unflatten(1, features.shape[1:])
        n_there = (features > 0).sum(2, keepdim=True).clamp(min=1)
        return rows.sum(2) * (math.sqrt(features.shape[2]) / n_there)
