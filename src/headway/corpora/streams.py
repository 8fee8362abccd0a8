"""Text end to end: stretches of one long stream of tokens, in lanes or in windows.

Every row of a store ends with its end marker, so the rows one after the other are the stream. What
a model is fed in the place before a token is the token before it; where that is an end marker, the
begin marker of the next line.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import DataError
from headway.core.rows import Indices

Tokens = NDArray[np.int64]


class TokenRows(NamedTuple):
    fed: Tokens
    wanted: Tokens
    """The token after each that is fed."""


class Stream:
    """A long text; the first token follows a begin marker, and behind the last comes the first."""

    def __init__(self, ids: NDArray[Any], *, begin: int, end: int) -> None:
        """Take all tokens, end markers included: [tokens]; they may be mapped from a file."""
        if not len(ids):
            raise DataError("a stream has at least one token; got none. Give more text.")
        self.ids, self.begin, self.end = ids, begin, end

    def __len__(self) -> int:
        return len(self.ids)

    def stretch(self, starts: Indices, length: int) -> TokenRows:
        """The `length` tokens from each of the `starts` on, and what is fed for them."""
        places = (starts[:, None] + np.arange(-1, length)) % len(self)
        tokens = self.ids[places].astype(np.int64)
        fed = tokens[:, :-1].copy()
        fed[fed == self.end] = self.begin
        fed[places[:, 1:] == 0] = self.begin
        return TokenRows(fed, tokens[:, 1:])


class StreamBatches:
    """Where the rows of each batch begin: for `headway.core.batching.BatchStream`.

    In lanes (`in_lanes`) each row goes on where it ended in the batch before, so that a state can
    be carried: an epoch begins at another place of the text each time. Else the text is cut into
    windows, at another place each time, which come in random order.
    """

    order = 0

    def __init__(
        self, n_tokens: int, *, batch_tokens: int, length: int, seed: int, in_lanes: bool
    ) -> None:
        """`length` is the tokens of a row; a text that is shorter makes them shorter."""
        self.n_tokens, self.batch_tokens, self.seed = n_tokens, batch_tokens, seed
        self.in_lanes = in_lanes
        most_rows = max(1, batch_tokens // length)
        self.length = max(1, min(length, n_tokens // most_rows or n_tokens))
        self.n_rows = max(1, min(most_rows, n_tokens // self.length))

    def __len__(self) -> int:
        return self.n_tokens

    def epoch(self, n: int) -> list[Indices]:
        """The starts of all rows, batch after batch, of epoch `n`; they depend on (seed, n)."""
        random = np.random.Generator(np.random.PCG64([self.seed, n]))
        if self.in_lanes:
            lane = self.n_tokens // self.n_rows
            starts = np.arange(self.n_rows) * lane + random.integers(lane)
            steps = range(0, lane - self.length + 1, self.length)
            return [(starts + step) % self.n_tokens for step in steps]
        n_windows = self.n_tokens // self.length
        phase = random.integers(self.length)
        windows = random.permutation(n_windows) * self.length + phase
        n_batches = n_windows // self.n_rows
        return np.split(windows[: n_batches * self.n_rows], n_batches)
