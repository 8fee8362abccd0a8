"""Updates of word vectors: by a compiled kernel where there is a C compiler, else by torch.

Both change the arrays in place, and draw the same random numbers.
"""

import numpy as np
from numpy.typing import NDArray

from headway.word2vec.kernel import KernelUpdates, kernel_library
from headway.word2vec.noise import huffman_tree, kept_of_2_to_31, noise_table
from headway.word2vec.objective import Counted, Law, Objective, RandomStates, Updates
from headway.word2vec.plain import PlainUpdates

__all__ = ["Counted", "Objective", "Updates", "updates"]


def updates(
    vectors: NDArray[np.float32],
    outputs: NDArray[np.float32],
    counts: NDArray[np.int64],
    objective: Objective,
    *,
    seed: int,
    threads: int,
    want_c: bool = True,
) -> Updates:
    """What learns `vectors` and `outputs` [vocabulary, size] in place; the caller keeps them alive.

    `counts` are the words' occurrences in the text; words of count 0 are passed over wherever they
    stand. With hierarchical softmax row i of `outputs` is inner node i of the tree.
    """
    law = Law(
        objective,
        counts,
        kept_of_2_to_31(counts, objective.thin),
        noise_table(counts),
        huffman_tree(counts) if objective.hierarchical else huffman_tree(counts[:0]),
    )
    states = RandomStates(seed, threads)
    if want_c and not isinstance(library := kernel_library(), str):
        return KernelUpdates(library, vectors, outputs, law, states)
    return PlainUpdates(vectors, outputs, law, states)
