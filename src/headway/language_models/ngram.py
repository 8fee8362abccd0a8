"""Counting models of text: the next word given the n - 1 before it, by what was counted.

Arrays hold, for each order, the n-grams in the order of their words. An n-gram is one 64-bit key:
the place of its first n - 1 words in the order below, times the size of the vocabulary, plus its
last word. What follows a context is therefore a slice, and where an n-gram stands is a search.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.errors import ConfigError, refuse_beyond
from headway.core.interfaces import Step
from headway.language_models.interfaces import Carried, Scored

Smoothing = Literal["none", "add-one", "add-k", "kneser-ney", "modified-kneser-ney", "backoff"]

MOST_WORDS = 20
"""No n-gram is longer."""

_LN_10 = math.log(10.0)


@dataclass(frozen=True)
class NgramConfig:
    """Section [model] of a counting model."""

    order: int = 5
    """Words of the longest n-grams: the next word depends on one fewer."""
    smoothing: Smoothing = "modified-kneser-ney"
    """What becomes of what was never counted: `none` (maximum likelihood: it is impossible),
    `add-one` (Laplace), `add-k`, `kneser-ney` (interpolated) and `modified-kneser-ney` (Chen and
    Goodman 1998). `backoff` is what an ARPA file says, and is not counted."""
    k: float = 1.0
    """What `add-k` adds to each count."""
    n_grams: tuple[int, ...] = ()
    """How many there are of each order, the first the size of the vocabulary; filled in when they
    are counted."""

    def __post_init__(self) -> None:
        """Raise ConfigError for numbers that mean nothing."""
        refuse_beyond(self, {"order": MOST_WORDS, "k": 1e6}, above="model.")
        if self.order < 1:
            raise ConfigError(f"model.order is at least 1; got {self.order}. Try 3.")
        if not self.k > 0 or (self.smoothing != "add-k" and self.k != 1.0):
            raise ConfigError(
                f"model.k is what add-k adds to a count, above 0; got {self.k} with smoothing "
                f"{self.smoothing}. Set model.smoothing to add-k, or leave model.k out."
            )
        if self.n_grams and (len(self.n_grams) != self.order or min(self.n_grams) < 0):
            raise ConfigError(
                f"model.n_grams has a number for each order up to {self.order}; got "
                f"{list(self.n_grams)}. Leave it out: it is filled in when they are counted."
            )

    @property
    def added(self) -> float:
        """What is added to each count."""
        return {"none": 0.0, "add-one": 1.0}.get(self.smoothing, self.k)


class NgramState(NamedTuple):
    """The last words that were fed, -1 where there was none: [rows, order - 1]."""

    fed: Int[Tensor, "rows before"]

    def select(self, rows: Int[Tensor, " kept"]) -> "NgramState":
        """The state of the given rows."""
        return NgramState(self.fed[rows])


class OrderSteps(NamedTuple):
    """How the orders are put together, from words alone up to the longest n-grams.

    What is between is a probability or its decimal logarithm, as it comes easier.
    """

    begin: Callable[[Tensor], Tensor]
    """From the decimal logarithms of words alone."""
    thinned: Callable[[Tensor, Tensor, Tensor], Tensor]
    """What the order below says, in a context of which the back-off weight (a decimal logarithm, 0
    for a context that was never seen) and whether it is there at all are given."""
    seen: Callable[[Tensor, Tensor], Tensor]
    """That, for a word that was seen there, whose weight (a decimal logarithm) is given."""
    end: Callable[[Tensor], Tensor]
    """To natural logarithms."""


def power_of_ten(exponent: Tensor) -> Tensor:
    """10 ** exponent."""
    return torch.exp(exponent * _LN_10)


INTERPOLATED = OrderSteps(
    begin=power_of_ten,
    thinned=lambda below, backoff, _there: below * power_of_ten(backoff),
    seen=lambda thinned, weight: thinned + power_of_ten(weight),
    end=torch.log,
)
"""p(w|h) = weight(h w) + backoff(h) p(w|h'), as Kneser-Ney's in Chen and Goodman 1998, eq. 21: h'
is the context without its first word."""

BACKED_OFF = OrderSteps(
    begin=lambda weight: weight,
    thinned=lambda below, backoff, _there: below + backoff,
    seen=lambda _thinned, weight: weight,
    end=lambda logarithm: logarithm * _LN_10,
)
"""p(w|h) = weight(h w) where there is one, else backoff(h) p(w|h'), as an ARPA file means it."""


def additive(n_predictable: int) -> OrderSteps:
    """p(w|h) = weight(h w) + backoff(h) / |V|, with the longest context that is there.

    As (c(h, w) + k) / (c(h) + k|V|) is a mixture of c(h, w) / c(h) and 1 / |V|, these are its two
    parts. In a context that was never seen, it is 1 / |V|, for every k.
    """
    return OrderSteps(
        begin=power_of_ten,
        thinned=lambda below, backoff, there: torch.where(
            there, power_of_ten(backoff) / n_predictable, below
        ),
        seen=INTERPOLATED.seen,
        end=torch.log,
    )


class Ngram(nn.Module):
    """A model of n-grams: a `LanguageModel` and a `StepDecoder`.

    Weights and back-off weights are decimal logarithms, as in ARPA files. Nothing is predicted but
    words, the unknown word and `</s>`: these are |V|, and their probabilities sum to 1 in every
    context. `<s>` only stands before; no context reaches back over it. A `</s>` that is fed stands
    for the `<s>` that follows it.

    The arrays have no content until they are loaded or filled; they stay float32, on any device.
    """

    def __init__(
        self, config: NgramConfig, *, vocabulary_size: int, padding: int, begin: int, end: int
    ) -> None:
        super().__init__()
        self.config, self.vocabulary_size = config, vocabulary_size
        self.padding, self.begin, self.end = padding, begin, end
        self.n_predictable = vocabulary_size - len({padding, begin})
        self.reading = {
            "kneser-ney": INTERPOLATED,
            "modified-kneser-ney": INTERPOLATED,
            "backoff": BACKED_OFF,
        }.get(config.smoothing, additive(self.n_predictable))
        n_grams = config.n_grams or (vocabulary_size, *[0] * (config.order - 1))
        for order, n in enumerate(n_grams, start=1):
            if order > 1:
                self.register_buffer(f"keys_{order}", torch.empty(n, dtype=torch.int64))
            self.register_buffer(f"weights_{order}", torch.empty(n))
            if order < config.order:
                self.register_buffer(f"backoffs_{order}", torch.empty(n))

    @property
    def carries(self) -> bool:
        """What is carried are the last words."""
        return False

    @property
    def longest(self) -> int | None:
        """There is no end."""
        return None

    @property
    def backward_half(self) -> None:
        """It reads one way."""
        return None

    def foretold(self, ids: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """See `headway.language_models.interfaces.LanguageModel`: all that it knows."""
        return ids

    def keys(self, order: int) -> Int[Tensor, " n_grams"]:
        """Those of an order from 2."""
        return self.get_buffer(f"keys_{order}")

    def weights(self, order: int) -> Float[Tensor, " n_grams"]:
        """Decimal logarithms: of probabilities where the order is 1, or smoothing is `backoff`;
        else of what n-grams of this order add."""
        return self.get_buffer(f"weights_{order}")

    def backoffs(self, order: int) -> Float[Tensor, " n_grams"]:
        """Decimal logarithms, of contexts of so many words."""
        return self.get_buffer(f"backoffs_{order}")

    # -- text that is there -------------------------------------------------------------------

    def log_probs(
        self,
        fed: Int[Tensor, "batch length"],
        wanted: Int[Tensor, "batch length"],
        carried: Carried | None = None,
    ) -> Scored:
        """Of each wanted token, given what is fed up to its place and what was carried there.

        In float64: many words have one and the same value, whose rounding would add up. What
        maximum likelihood holds for impossible has minus infinity.
        """
        n_before = self.config.order - 1
        before = carried["fed"] if carried else fed.new_full((len(fed), n_before), -1)
        words = torch.cat([before, fed], dim=1)
        contexts, there = self.contexts(words)
        natural = self._natural(
            [ids[:, n_before:] for ids in contexts], [some[:, n_before:] for some in there], wanted
        )
        scores = natural.masked_fill(wanted == self.padding, 0.0)
        return Scored(scores, {"fed": words[:, words.shape[1] - n_before :]})

    def last_log_probs(self, n_grams: Int[Tensor, "rows n"]) -> Float[Tensor, " rows"]:
        """Of the last word of each n-gram, given those before it: natural logarithms, in float64.

        As many words as the order stand there at most.
        """
        before = n_grams[:, :-1]
        contexts, there = self.contexts(before) if before.shape[1] else ([], [])
        natural = self._natural(
            [ids[:, -1:] for ids in contexts[: n_grams.shape[1] - 1]],
            [some[:, -1:] for some in there],
            n_grams[:, -1:],
        )
        return natural[:, 0]

    def _natural(
        self, contexts: list[Tensor], there: list[Tensor], wanted: Tensor
    ) -> Float[Tensor, "rows length"]:
        """The natural logarithms of probabilities, in float64, given what stands before."""
        score = self.reading.begin(self.weights(1)[wanted].double())
        for order, (context, enough) in enumerate(zip(contexts, there, strict=False), start=2):
            backoff = self._backoff(order - 1, context).double()
            score = self.reading.thinned(score, backoff, enough)
            place = self.find(order, context, wanted)
            found = self.weights(order)[place.clamp(min=0)] if len(self.keys(order)) else score
            score = torch.where(place >= 0, self.reading.seen(score, found.double()), score)
        return self.reading.end(score)

    def contexts(self, words: Int[Tensor, "batch length"]) -> tuple[list[Tensor], list[Tensor]]:
        """For 1 to n - 1 words: which n-gram the last so many are at each place, -1 for one never
        seen; and whether there are so many in the line."""
        words = torch.where(words == self.end, self.begin, words)
        first = words >= 0
        inside = first & (words != self.begin)
        ids, there = [words], [first]
        for order in range(2, self.config.order):
            ids.append(self.find(order, _shifted(ids[-1], -1), words))
            there.append(_shifted(there[-1], False) & inside)
        return ids[: self.config.order - 1], there[: self.config.order - 1]

    def find(self, order: int, context: Tensor, word: Tensor) -> Tensor:
        """The places of n-grams, given the places of their first words in the order below; -1 for
        one that is not there."""
        keys = self.keys(order)
        if not len(keys):
            return torch.full_like(context, -1)
        key = context * self.vocabulary_size + word
        place = torch.searchsorted(keys, key).clamp_(max=len(keys) - 1)
        return torch.where((keys[place] == key) & (context >= 0), place, -1)

    def _backoff(self, order: int, context: Tensor) -> Tensor:
        """The back-off weights of contexts; 0 for one that was never seen."""
        if not len(self.backoffs(order)):
            return torch.zeros_like(context, dtype=torch.float32)
        return self.backoffs(order)[context.clamp(min=0)].masked_fill(context < 0, 0.0)

    # -- text that is being written -----------------------------------------------------------

    def start(
        self,
        source: Int[Tensor, "rows source"] | None = None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> NgramState:
        """What was fed before; without a prefix nothing, for any number of rows."""
        n_before = self.config.order - 1
        nothing = torch.full((1, n_before), -1, device=self.weights(1).device)
        if prefix is None:
            return NgramState(nothing)
        fed = torch.cat([nothing.expand(len(prefix), -1), prefix], dim=1)
        return NgramState(fed[:, fed.shape[1] - n_before :])

    def step(
        self, state: NgramState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """The natural logarithms of all next words' probabilities; there is no attention."""
        before = state.fed.expand(len(last), -1)
        fed = torch.cat([before, last[:, None]], dim=1)[:, 1:]
        contexts, there = self.contexts(fed)
        score = self.reading.begin(self.weights(1)).repeat(len(last), 1)
        for order in range(2, self.config.order + 1):
            context = contexts[order - 2][:, -1]
            backoff = self._backoff(order - 1, context)
            score = self.reading.thinned(
                score, backoff[:, None], there[order - 2][:, -1:].expand_as(score)
            )
            place, cell = self._following(order, context)
            weight = self.weights(order).index_select(0, place)
            cells = score.view(-1)
            cells.scatter_(0, cell, self.reading.seen(cells.index_select(0, cell), weight))
        for never in {self.padding, self.begin}:
            score[:, never] = self.reading.begin(torch.tensor(-math.inf))
        return Step(self.reading.end(score), NgramState(fed), None)

    def _following(self, order: int, context: Int[Tensor, " rows"]) -> tuple[Tensor, Tensor]:
        """All n-grams that begin with each row's context: their places, and the cells that their
        last words have among the scores of all words, row after row."""
        edges = torch.stack([context, context + 1]) * self.vocabulary_size
        begin, end = torch.searchsorted(self.keys(order), edges).unbind()
        n = (end - begin).masked_fill(context < 0, 0)
        row = torch.arange(len(n), device=n.device)
        place = torch.repeat_interleave(begin - n.cumsum(0) + n, n)
        place += torch.arange(len(place), device=n.device)
        cell = torch.repeat_interleave((row - context) * self.vocabulary_size, n)
        return place, cell.add_(self.keys(order).index_select(0, place))


def _shifted(values: Tensor, before: int | bool) -> Tensor:
    """One place later along the last axis."""
    return torch.cat([values.new_full((len(values), 1), before), values[:, :-1]], dim=1)
