"""How likely text is under a model: token by token, alone or in its context."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from headway.core.rows import pad
from headway.core.subwords import SpecialIds
from headway.corpora.streams import Stream, TokenRows
from headway.language_models.interfaces import Carried, LanguageModel
from headway.languages.segmenting import parts_no_words

LogProbs = NDArray[np.float64]
Ids = Sequence[int] | NDArray[Any]

BATCH_TOKENS = 8192
"""Tokens read at a time, padding included."""
LANES, LEAST_LANE = 16, 4_000
"""A long text is read in so many lanes by a model that carries a state, if none is shorter. A line
that is scored by itself is read in one."""
POSITIONS = (5, 50, 200, 500)
"""Perplexity is told of tokens with up to so many before them."""


class Scorer:
    """A model, and how much of a text it sees at once."""

    def __init__(
        self, model: nn.Module, special: SpecialIds, *, window: int, device: torch.device
    ) -> None:
        self.model, self.special, self.device = cast(LanguageModel, model), special, device
        self.window = window

    def lines(
        self, lines: Sequence[Ids], done: Callable[[int], None] = lambda n: None
    ) -> list[LogProbs]:
        """Of each line by itself: one log-probability for each of its ids, one for its end.

        Lines are ids without markers. A model that carries a state has seen all of the line before,
        another one as much as in `stream`. `done` hears how many more are scored.
        """
        scored: list[LogProbs] = [np.zeros(0)] * len(lines)
        order = sorted(range(len(lines)), key=lambda i: -len(lines[i]))
        most = BATCH_TOKENS if self.model.carries else self.window
        while order:
            longest = len(lines[order[0]]) + 1
            n_rows = max(1, BATCH_TOKENS // longest) if longest <= most else 1
            batch, order = order[:n_rows], order[n_rows:]
            if longest > most:
                ids = np.array([*lines[batch[0]], self.special.end], np.int64)
                scored[batch[0]] = self.stream(ids, lanes=1)
            else:
                for i, row in zip(batch, self._batch([lines[i] for i in batch]), strict=True):
                    scored[i] = row[: len(lines[i]) + 1]
            done(len(batch))
        return scored

    def _batch(self, lines: Sequence[Ids]) -> LogProbs:
        special, arrays = self.special, [np.asarray(line, np.int64) for line in lines]
        fed = pad(arrays, special.padding, begin=special.decoder_begin)
        wanted = pad(arrays, special.padding, end=special.end)
        return self._scored(TokenRows(fed, wanted), None)[0]

    def _scored(self, stretch: TokenRows, carried: Carried | None) -> tuple[LogProbs, Carried]:
        fed, wanted = (torch.from_numpy(ids).to(self.device) for ids in stretch)
        with torch.inference_mode():
            scored = self.model.log_probs(fed, wanted, carried)
        return scored.log_probs.double().cpu().numpy(), scored.carried

    def stream(self, ids: Ids, *, lanes: int = LANES) -> LogProbs:
        """Of each token of one long text, given those before it; end markers part its lines.

        A model that carries a state has seen all text before (long texts are read in up to so many
        `lanes`, each of which begins with nothing). Another one sees at least half a window, or all
        that there is.
        """
        special = self.special
        text = Stream(np.asarray(ids), begin=special.decoder_begin, end=special.end)
        return self._in_lanes(text, lanes) if self.model.carries else self._in_windows(text)

    def _in_lanes(self, text: Stream, most: int) -> LogProbs:
        n_lanes = max(1, min(most, len(text) // LEAST_LANE))
        lane = -(-len(text) // n_lanes)
        starts = np.arange(n_lanes) * lane
        carried: Carried | None = None
        length = max(1, min(self.window, BATCH_TOKENS // n_lanes))
        rows = []
        for step in range(0, lane, length):
            stretch = text.stretch(starts + step, min(length, lane - step))
            log_probs, carried = self._scored(stretch, carried)
            rows.append(log_probs)
        return np.concatenate(rows, axis=1).reshape(-1)[: len(text)]

    def _in_windows(self, text: Stream) -> LogProbs:
        window, stride = self.window, max(1, self.window // 2)
        if len(text) <= window:
            return self._scored(text.stretch(np.zeros(1, np.int64), len(text)), None)[0][0]
        found = np.empty(len(text))
        starts = np.arange(0, len(text) - window + stride, stride)
        starts = np.unique(np.minimum(starts, len(text) - window))
        n_rows = max(1, BATCH_TOKENS // window)
        for first in range(0, len(starts), n_rows):
            some = starts[first : first + n_rows]
            log_probs, _ = self._scored(text.stretch(some, window), None)
            for start, row in zip(some, log_probs, strict=True):
                new = 0 if not start else window - stride
                found[start + new : start + window] = row[new:]
        return found

    def from_the_end(self, ids: Ids) -> LogProbs | None:
        """The same of a model's backward half, if it has one: of each token of the text, and the
        begin markers of its lines, given those behind it; the last one first."""
        half, special = self.model.backward_half, self.special
        if half is None:
            return None
        text = Stream(np.asarray(ids), begin=special.decoder_begin, end=special.end)
        fed = text.stretch(np.zeros(1, np.int64), len(text)).fed[0]
        turned = replace(special, begin=special.end, end=special.decoder_begin)
        model = cast(nn.Module, half)
        return Scorer(model, turned, window=self.window, device=self.device).stream(fed[::-1])

    def foretold(self, ids: Ids) -> NDArray[np.int64]:
        """Each token as the model can foretell it: what it cannot is the unknown word."""
        return self.model.foretold(torch.from_numpy(np.array(ids, np.int64))).numpy()

    def n_unknown(self, ids: Ids) -> int:
        """How many of some tokens are scored as the unknown word."""
        return int((self.foretold(ids) == self.special.unknown).sum())

    def by_position(self, ids: Ids, length: int = POSITIONS[-1] + 12) -> LogProbs:
        """Of stretches that begin with nothing before them, each token: [stretches, length]."""
        special = self.special
        text = Stream(np.asarray(ids), begin=special.decoder_begin, end=special.end)
        length = min(length, len(text), length if self.model.carries else self.window)
        starts = np.arange(len(text) // length) * length
        n_rows = max(1, BATCH_TOKENS // length)
        rows = [
            self._scored(text.stretch(starts[i : i + n_rows], length), None)[0]
            for i in range(0, len(starts), n_rows)
        ]
        return np.concatenate(rows)


class PerUnit(NamedTuple):
    """A perplexity that people can compare, and what it is divided by."""

    unit: str
    """`word` or `character`."""
    perplexity: float
    divided_by: str

    def shown(self, decimals: int = 2) -> str:
        """For people: a huge one by its power of ten."""
        value = self.perplexity
        return f"{value:,.{decimals}f}" if value < 1e7 else f"{value:.1e}"


class TextScores(NamedTuple):
    """What a text has cost, in all, and what that is divided by."""

    nats: float
    n_tokens: int
    """Line ends included."""
    n_words: int
    """What white space separates; each line end counts as one more."""
    n_characters: int
    """Each line end counts as one more."""
    n_ends: int
    """Line ends."""
    n_unknown: int

    @property
    def per_token(self) -> float:
        """Perplexity per token: only models of one vocabulary compare."""
        return perplexity(self.nats / self.n_tokens)

    @property
    def per_word(self) -> float:
        """Perplexity per word."""
        return perplexity(self.nats / self.n_words)

    @property
    def per_unit(self) -> PerUnit:
        """Perplexity per word; where white space parts no words, per character."""
        if parts_no_words(self.n_characters - self.n_ends, self.n_words - self.n_ends):
            found = perplexity(self.nats / self.n_characters)
            return PerUnit("character", found, f"{self.n_characters:,} characters and line ends")
        return PerUnit("word", self.per_word, f"{self.n_words:,} words and line ends")

    @property
    def bits_per_character(self) -> float:
        """Bits, log to the base 2."""
        return self.nats / math.log(2) / self.n_characters


def perplexity(nats: float) -> float:
    """exp(nats); infinite where that is too large to be written."""
    return math.exp(nats) if nats < 700 else math.inf
