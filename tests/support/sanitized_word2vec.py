"""The kernel of word2vec under address and undefined-behaviour sanitizers: sizes of every kind."""

import itertools
from pathlib import Path

import numpy as np
from sanitizing import SANITIZED

from headway.engine import compiling
from headway.engine.compiling import sources_of
from headway.word2vec import kernel, updates
from headway.word2vec.objective import Objective


def main(compiler: str, folder: Path) -> None:
    """Compile for this processor and for any, then learn."""
    cases, draw = 0, np.random.default_rng(1)
    for flags in (compiling.THIS_PROCESSOR[:1], ()):
        file = folder / f"word2vec-{len(flags)}.so"
        compiling.compiled(compiler, sources_of("word2vec")[0], file, *SANITIZED, *flags)
        library = kernel.opened(file)
        updates.kernel_library = lambda library=library: library
        for size, (window, negatives) in itertools.product((1, 7, 100), ((1, 1), (5, 5), (50, 20))):
            n_words = int(draw.choice([1, 2, 60]))
            counts = np.concatenate([np.zeros(4, np.int64), draw.integers(1, 1000, n_words)])
            lengths = np.array([0, *draw.integers(0, 12, 5), 150, 0], np.int32)
            ids = draw.integers(0, len(counts), lengths.sum()).astype(np.uint32)
            for direction, hierarchical in itertools.product(("cbow", "skip-gram"), (0, 1)):
                arrays = [np.zeros((len(counts), size), np.float32) for _ in range(2)]
                objective = Objective(direction, window, negatives, bool(hierarchical), 1e-2)
                learner = updates.updates(*arrays, counts, objective, seed=cases, threads=1)
                assert isinstance(learner, kernel.KernelUpdates)
                arrays[0] += draw.normal(size=arrays[0].shape)
                counted = learner.update(ids, lengths, 0.05, 0.01)
                assert np.isfinite(arrays).all()
                assert np.isfinite(counted.nats)
                cases += 1
    print(f"{cases} cases")
