"""How likely outputs are that others wrote, by the compiled engine."""

from collections.abc import Sequence

import torch

from headway.core.hypothesis import DecodingSettings, Ids, SearchRequest
from headway.core.runtime import available_cores
from headway.core.subwords import SpecialIds
from headway.engine.engine import NativeEngine
from headway.engine.translating import translate


def log_probs_by(
    engine: NativeEngine, sources: Sequence[Ids], targets: Sequence[Ids], special: SpecialIds
) -> list[list[float]]:
    """Of each target the log-probability (nats) of each token, then of the end marker: a search of
    which all but the end is given. Nothing of what is left to torch. Ids are without markers."""
    results: list[list[float]] = [[] for _ in sources]
    if engine.foreign(engine.model, None):
        return results
    pairs = [
        ([*map(int, source), special.end], [*map(int, target)])
        for source, target in zip(sources, targets, strict=True)
    ]
    never, longest = {special.end, *special.unwritten}, engine.packed.longest
    some = [
        i
        for i, (row, target) in enumerate(pairs)
        if max(len(row), len(target) + 1) <= longest and never.isdisjoint(target)
    ]
    given = [pairs[i][1] for i in some]
    found = translate(
        engine.packed,
        [pairs[i][0] for i in some],
        [*map(len, given)],
        SearchRequest(special, DecodingSettings("greedy"), torch.device("cpu")),
        given,
        threads=min(torch.get_num_threads(), available_cores()),
    )
    for i, (one,) in zip(some, found, strict=True):
        results[i] = one.token_log_probs
    return results
