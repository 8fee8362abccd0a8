"""What is learned of word vectors, by chance of what, and what learns it."""

from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import DataError
from headway.word2vec.noise import AliasTable, HuffmanTree

STRIDE = 0x9E3779B97F4A7C15
"""Of the states of splitmix64 (Steele, Lea and Flood 2014)."""


class Objective(NamedTuple):
    """What is learned from a text."""

    direction: Literal["cbow", "skip-gram"]
    window: int
    negatives: int
    hierarchical: bool
    """Hierarchical softmax instead of negative sampling."""
    thin: float
    """Words of a larger share of the text than this are thinned out; 0: none are."""


class Counted(NamedTuple):
    """What a stretch of text was."""

    n_words: int
    """Words that were offered."""
    n_kept: int
    """Of those, the ones that thinning left."""
    n_pairs: int
    """Predictions: one for each pair of words in skip-gram, one for each context in CBOW."""
    nats: float
    """The loss of all of them together, noise included."""


class RandomStates:
    """A splitmix64 for each thread: the i-th number from a state is a function of both."""

    def __init__(self, seed: int, threads: int) -> None:
        states = np.random.SeedSequence(seed).generate_state(threads, np.uint64)
        self._states = states.astype(np.uint64)

    def __getitem__(self, thread: int) -> int:
        return int(self._states[thread])

    def advance(self, thread: int, n: int) -> None:
        """Step over n numbers."""
        self._states[thread] = (self[thread] + n * STRIDE) % 2**64

    def all(self) -> NDArray[np.uint64]:
        """A copy of all states."""
        return self._states.copy()

    def set(self, states: NDArray[np.uint64]) -> None:
        """Go on from a copy; raises DataError for another number of threads."""
        if states.shape != self._states.shape or states.dtype != np.uint64:
            raise DataError(
                f"there is one random state for each of {len(self._states)} threads; got "
                f"{states.dtype} {list(states.shape)}. Resume with as many threads as before."
            )
        self._states[:] = states


@runtime_checkable
class Updates(Protocol):
    """Learns from stretches of text."""

    states: RandomStates

    def update(
        self,
        ids: NDArray[np.uint32],
        lengths: NDArray[np.int32],
        rate: float,
        last_rate: float,
        thread: int = 0,
    ) -> Counted:
        """Learn from whole lines, which stand in `ids` end to end.

        The rate falls in a line from the first word to the last. Threads with different numbers
        may call at once: they write to the same rows without locks (Niu et al. 2011), so that what
        they learn together does not repeat to the last bit. One thread's does.

        Raises:
            DataError: an id is not in the vocabulary, or the lengths are not those of the lines.
        """
        ...


class Law(NamedTuple):
    """An objective, made ready for a vocabulary."""

    objective: Objective
    counts: NDArray[np.int64]
    kept: NDArray[np.uint32]
    noise: AliasTable
    tree: HuffmanTree

    @property
    def draws(self) -> int:
        """Random numbers that a centre word takes: its window, and words of noise."""
        return 1 if self.objective.hierarchical else 1 + self.objective.negatives


def refuse_lines(ids: NDArray[np.uint32], lengths: NDArray[np.int32], n_words: int) -> None:
    """Raise DataError for ids beyond the vocabulary, and lengths that are not those of lines."""
    assert (ids.dtype, lengths.dtype) == (np.uint32, np.int32), "what the kernel reads"
    if ids.size and (largest := int(ids.max())) >= n_words:
        raise DataError(f"ids are below the vocabulary's size of {n_words}; got {largest}.")
    if (lengths < 0).any() or (total := int(lengths.sum(dtype=np.int64))) != ids.size:
        raise DataError(
            f"the lengths of lines add up to the number of ids, {ids.size}; got "
            f"{'a negative one' if (lengths < 0).any() else total}."
        )
