"""A decoder small enough to enumerate: its probabilities are a fixed random table of prefixes."""

import itertools
from dataclasses import dataclass
from types import SimpleNamespace

import torch

from headway.core.hypothesis import Rules
from headway.core.interfaces import Step
from headway.translation.decoding import SamplingSettings

PADDING, BEGIN, END = 0, 1, 2
WORDS = (3, 4, 5)
FORBIDDEN = (PADDING, BEGIN)


@dataclass
class TableState:
    """The source and the tokens fed so far, one row per hypothesis."""

    source: torch.Tensor
    prefix: torch.Tensor
    selections: list

    def select(self, rows):
        assert rows.tolist() != list(range(len(self.source))), "a copy of what is already there"
        self.selections.append(rows.tolist())
        return TableState(self.source[rows], self.prefix[rows], self.selections)


class TableDecoder:
    """p(next | source, prefix) is random, but the same at every call; padding is not looked at."""

    longest = None

    def __init__(self, seed, sharpness=1.0, vocabulary=6, grid=None, shifted=False):
        self.shifted = shifted
        self.seed, self.sharpness, self.vocabulary, self.grid = seed, sharpness, vocabulary, grid
        self.table = {}
        self.selections = []
        self.rows_per_step = []

    def _row(self, source, prefix):
        key = (tuple(t for t in source if t != PADDING), tuple(prefix))
        if key not in self.table:
            generator = torch.Generator().manual_seed(hash((self.seed, key)) % 2**62)
            logits = torch.randn(self.vocabulary, generator=generator) * self.sharpness
            if self.grid:  # makes ties
                logits = (logits / self.grid).round() * self.grid
            weights = torch.rand(len(key[0]), generator=generator) + 0.01
            self.table[key] = logits.log_softmax(0), weights / weights.sum()
        return self.table[key]

    def log_probs(self, source, prefix):
        return self._row(source, prefix)[0]

    def attention(self, source, prefix):
        weights = self._row(source, prefix)[1]
        return torch.nn.functional.pad(weights, (0, len(source) - len(weights)))

    def start(self, source, prefix=None):
        return TableState(source, source.new_zeros(len(source), 0), self.selections)

    def step(self, state, last, want_attention=False):
        prefix = torch.cat([state.prefix, last.unsqueeze(1)], 1)
        rows = list(zip(state.source.tolist(), prefix.tolist(), strict=True))
        self.rows_per_step.append(len(rows))
        log_probs = torch.stack([self.log_probs(*row) for row in rows])
        weights = torch.stack([self.attention(*row) for row in rows]) if want_attention else None
        if self.shifted:  # log-probabilities but for a constant in each row
            log_probs = log_probs + torch.arange(len(rows)).unsqueeze(1)
        return Step(log_probs, TableState(state.source, prefix, self.selections), weights)

    def token_log_probs(self, source, ids):
        """Of the tokens and the end marker, one by one."""
        fed = [BEGIN, *ids]
        return [
            self.log_probs(source, fed[: i + 1])[token].item()
            for i, token in enumerate([*ids, END])
        ]

    def brute_force(self, source, limit, alpha):
        """Every sequence of at most `limit` words: (ids, score, log-probability), best first."""
        everything = []
        for length in range(limit + 1):
            for ids in itertools.product(WORDS, repeat=length):
                log_prob = sum(self.token_log_probs(source, ids))
                everything.append((list(ids), log_prob / ((5 + length + 1) / 6) ** alpha, log_prob))
        return sorted(everything, key=lambda item: -item[1])


def run(function, decoder, source, max_lengths, *, forbidden=FORBIDDEN, **options):
    """One of the searches, from the begin marker on; `options` of the settings and the rules."""
    rules = {name: options.pop(name) for name in Rules._fields if name in options}
    given = {name: options.pop(name) for name in ("generator",) if name in options}
    state, last = decoder.start(source), torch.full((len(source),), BEGIN)
    if function.__name__ == "sample":
        options["method"] = "sampling"
    settings = SamplingSettings(**{"length_penalty": 0.0, "max_extra_length": 0, **options})
    return function(
        decoder, state, last, Rules(settings, END, max_lengths, forbidden, **rules), **given
    )


def toy():
    """The toy decoder's class, its ids, and a padded batch of sources."""
    return SimpleNamespace(
        Decoder=TableDecoder,
        BEGIN=BEGIN,
        END=END,
        WORDS=WORDS,
        run=run,
        source=torch.tensor([[3, 4, 5, 2], [4, 2, 0, 0], [5, 5, 2, 0]]),
        limits=torch.tensor([4, 2, 3]),
    )
