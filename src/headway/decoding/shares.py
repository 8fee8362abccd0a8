"""Batches that several processes share."""

from collections.abc import Iterable, Sequence

import torch

from headway.core.hypothesis import Hypothesis
from headway.core.runtime import available_cores
from headway.core.search import Batch, Work, in_turn, like_lengths
from headway.operations.processes import may_fork, shared

SHARES = 4
"""More than one batch are evened to a multiple of so many, for several processes to share."""
LEAST_SHARE = 2048
"""Batches are not made smaller than this many tokens for it."""


def even_batches(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Batches of at most `batch_tokens`: of several a multiple of `SHARES`, of like size, as far as
    none gets smaller than `LEAST_SHARE`."""
    n_tokens = sum(lengths)
    n_batches = len(batches := like_lengths(lengths, batch_tokens))
    wanted = min(-(-n_batches // SHARES) * SHARES, n_tokens // LEAST_SHARE)
    if wanted <= n_batches:
        return batches
    share = n_tokens // wanted
    while len(batches := like_lengths(lengths, share)) > wanted:  # padding and whole rows
        share += 1 + share // 32
    return batches


def in_processes(
    work: Work, batches: Sequence[Batch]
) -> Iterable[tuple[int, list[list[Hypothesis]]]]:
    """As many processes as torch has threads share the batches, if there is enough to do."""
    if len(batches) < SHARES:
        return in_turn(work, batches)
    n = min(torch.get_num_threads(), available_cores())
    return shared(work, batches, n) if n > 1 and may_fork() else in_turn(work, batches)
