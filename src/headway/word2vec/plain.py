"""The updates where no C compiler is: batches of centre words as matrix products, in torch.

The same random numbers make the same words, windows and noise as in `kernel.c`, but a batch of
centre words is learned at once, from the rows as they were before it.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from numpy.typing import NDArray
from torch import Tensor

from headway.word2vec.objective import STRIDE, Counted, Law, RandomStates, refuse_lines

MOST_CENTRES = 64
"""Centre words of a batch: more are quicker, but learn from staler rows."""
MOST_OF_ONE_ROW = 64
"""Gradients that a row gets from a batch, on average; many more, taken at one place, overshoot."""


class Kept(NamedTuple):
    """Words that thinning left, and where each one's line begins and ends among them."""

    words: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]


class Targets(NamedTuple):
    """Rows of outputs for each centre word, and 1 for a true one, -1 for noise, 0 for none."""

    rows: Int64[Tensor, "centres targets"]
    signs: Float[Tensor, "centres targets"]


class PlainUpdates:
    """`Updates` without a compiler."""

    def __init__(
        self,
        vectors: NDArray[np.float32],
        outputs: NDArray[np.float32],
        law: Law,
        states: RandomStates,
    ) -> None:
        self._vectors, self._outputs = torch.from_numpy(vectors), torch.from_numpy(outputs)
        self._law, self.states = law, states
        self.centres = centres_of_a_batch(law)

    def update(
        self,
        ids: NDArray[np.uint32],
        lengths: NDArray[np.int32],
        rate: float,
        last_rate: float,
        thread: int = 0,
    ) -> Counted:
        """See `Updates`."""
        refuse_lines(ids, lengths, len(self._vectors))
        state, draws, window = self.states[thread], self._law.draws, self._law.objective.window
        kept = self._thinned(ids, lengths, state)
        n = len(kept.words)
        numbers = random_at(state, len(ids), n * draws).reshape(n, draws)
        reach = (1 + ((numbers[:, 0] >> 32) * np.uint64(window) >> 32)).astype(np.int64)
        low = np.maximum(np.arange(n) - reach, kept.low)
        high = np.minimum(np.arange(n) + reach + 1, kept.high)
        centres = np.flatnonzero(high - low > 1)
        rates = torch.from_numpy(rate + (last_rate - rate) / max(n, 1) * centres).float()
        n_pairs, nats = 0, 0.0
        for first in range(0, len(centres), self.centres):
            some = centres[first : first + self.centres]
            places = low[some, None] + np.arange((high - low)[some].max())
            visible = (places < high[some, None]) & (places != some[:, None])
            contexts = torch.from_numpy(kept.words[np.minimum(places, n - 1)])
            targets = self._targets(kept.words[some], numbers[some, 1:])
            rate_of = rates[first : first + self.centres]
            nats += self._learn(contexts, torch.from_numpy(visible), targets, rate_of)
            n_pairs += int(visible.sum()) if self._skip_gram else len(some)
        self.states.advance(thread, len(ids) + n * draws)
        return Counted(len(ids), n, n_pairs, nats)

    @property
    def _skip_gram(self) -> bool:
        return self._law.objective.direction == "skip-gram"

    def _thinned(self, ids: NDArray[np.uint32], lengths: NDArray[np.int32], state: int) -> Kept:
        stays = random_at(state, 0, len(ids)) >> 33 < self._law.kept[ids]
        line = np.repeat(np.arange(len(lengths)), lengths)[stays]
        ends = np.cumsum(np.bincount(line, minlength=len(lengths)))
        begins = np.concatenate([[0], ends])
        return Kept(ids[stays].astype(np.int64), begins[line], ends[line])

    def _targets(self, words: NDArray[np.int64], numbers: NDArray[np.uint64]) -> Targets:
        if not self._law.objective.hierarchical:
            noise = self.noise_from(numbers)
            rows = np.concatenate([words[:, None], noise], axis=1)
            signs = np.where(noise == words[:, None], 0.0, -1.0)
            signs = np.concatenate([np.ones((len(words), 1)), signs], axis=1)
            return Targets(torch.from_numpy(rows), torch.from_numpy(signs).float())
        starts, nodes, turns = self._law.tree
        if not nodes.size:  # of a single word
            return Targets(torch.zeros((len(words), 0)).long(), torch.zeros((len(words), 0)))
        ends = starts[words + 1][:, None]
        steps = starts[words][:, None] + np.arange((ends[:, 0] - starts[words]).max())
        at = np.minimum(steps, len(nodes) - 1)
        signs = np.where(steps < ends, turns[at], 0)
        return Targets(torch.from_numpy(nodes[at].astype(np.int64)), torch.from_numpy(signs))

    def noise_from(self, numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Words by the alias table, one for each random number."""
        threshold, other = self._law.noise
        word = (numbers >> 32) * np.uint64(len(threshold)) >> 32
        alone = (numbers & np.uint64(2**32 - 1)) < threshold[word]
        return np.where(alone, word, other[word]).astype(np.int64)

    @torch.no_grad()
    def _learn(
        self,
        contexts: Int64[Tensor, "centres words"],
        visible: Bool[Tensor, "centres words"],
        targets: Targets,
        rates: Float[Tensor, " centres"],
    ) -> float:
        """One step down the gradient of -sum ln sigmoid(sign given . target); gives the sum."""
        given = self._vectors[contexts] * visible[..., None]
        if not self._skip_gram:
            given = given.sum(1, keepdim=True) / visible.sum(1)[:, None, None]
            counted = visible.new_ones((len(visible), 1))
        else:
            counted = visible
        rows = self._outputs[targets.rows]
        signed = targets.signs[:, None] * counted[..., None]
        scores = signed * (given @ rows.mT)
        slopes = rates[:, None, None] * signed * torch.sigmoid(-scores)
        change = (slopes @ rows).expand(*contexts.shape, -1) * visible[..., None]
        self._outputs.index_add_(0, targets.rows.flatten(), (slopes.mT @ given).flatten(0, 1))
        self._vectors.index_add_(0, contexts.flatten(), change.flatten(0, 1))
        return float((torch.nn.functional.softplus(-scores) * signed.abs()).sum())


def centres_of_a_batch(law: Law) -> int:
    """So few that not even the most frequent row of inputs or outputs gets too much at once."""
    objective, occurrences = law.objective, law.counts * law.kept.astype(np.float64)
    most = occurrences.max() / occurrences.sum()
    noise = (law.counts**0.75).max() / (law.counts**0.75).sum()
    words = objective.window + 1  # of a context, on average
    predictions = words if objective.direction == "skip-gram" else 1
    share = 1.0 if objective.hierarchical else most + objective.negatives * noise
    n_targets = np.log2(len(law.counts)) if objective.hierarchical else law.draws
    busiest = max(predictions * share, words * most * n_targets)
    return int(np.clip(MOST_OF_ONE_ROW / busiest, 1, MOST_CENTRES))


def random_at(state: int, first: int, n: int) -> NDArray[np.uint64]:
    """Numbers first to first + n - 1 from a state of splitmix64; they wrap around at 2^64."""
    counter = np.arange(first + 1, first + n + 1, dtype=np.uint64)
    z: NDArray[np.uint64] = counter * np.uint64(STRIDE) + np.uint64(state)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)
