"""Updates of word vectors: by a compiled kernel where there is a C compiler, else by torch.

Both change the arrays in place, and draw the same random numbers.
"""

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import ConfigError, DataError
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

    Raises:
        ConfigError: a setting makes no sense.
        DataError: the arrays do not belong together, or no word occurs.
    """
    _refuse(vectors, outputs, counts, objective)
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


def _refuse(
    vectors: NDArray[np.float32],
    outputs: NDArray[np.float32],
    counts: NDArray[np.int64],
    objective: Objective,
) -> None:
    for name, array in {"vectors": vectors, "outputs": outputs}.items():
        good = array.dtype == np.float32 and array.ndim == 2 and array.flags.c_contiguous
        if not (good and array.flags.writeable and len(array) == len(counts) and array.shape[1]):
            raise DataError(
                f"{name} are float32 [vocabulary of {len(counts)}, size], row by row, that may be "
                f"written to; got {array.dtype} {list(array.shape)}."
            )
    if outputs.shape != vectors.shape:
        raise DataError(f"outputs are as large as vectors; got {outputs.shape}, {vectors.shape}.")
    if len(counts) >= 2**31 or counts.min(initial=0) < 0 or not counts.any():
        raise DataError("counts of words are 0 or more, and some word occurs; got none that does.")
    least = {"window": objective.window, "negatives": objective.negatives}
    for name, value in least.items():
        if value < 1:
            raise ConfigError(f"{name} is at least 1; got {value}. Try 5.")
    if not 0 <= objective.thin < float("inf"):
        raise ConfigError(f"thin is a share of the text, or 0; got {objective.thin}. Try 1e-3.")
