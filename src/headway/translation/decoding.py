"""How a translator searches: by headway's own search, with what hangs on it here.

That is sampling, processes that share the batches, and an engine in the search's place.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import torch

from headway.core.hypothesis import Hypothesis
from headway.core.interfaces import StepDecoder
from headway.core.runtime import EngineName, available_cores
from headway.core.search import (
    METHODS,
    SHARES,
    Batch,
    Decode,
    Engine,
    Ids,
    Method,
    SearchRequest,
    Work,
    decode_all,
    in_turn,
)
from headway.decoding.sampling import sample
from headway.engine.engine import EngineChoice
from headway.operations.processes import may_fork, shared


def decode(
    decoder: StepDecoder,
    sources: Sequence[Ids],
    request: SearchRequest,
    engine: Engine | None = None,
    generator: torch.Generator | None = None,
) -> list[list[Hypothesis]]:
    """As `decode_all`; what is drawn comes from `generator`, see `headway.decoding.sampling`."""
    methods: dict[str, Method] = {**METHODS, "sampling": partial(sample, generator=generator)}
    together = request.device.type == "cpu" and not request.settings.draws
    share = in_processes if together else in_turn
    return decode_all(decoder, sources, request, engine, methods, share)


def in_processes(
    work: Work, batches: Sequence[Batch]
) -> Iterable[tuple[int, list[list[Hypothesis]]]]:
    """As many processes as torch has threads share the batches, if there is enough to do."""
    if len(batches) < SHARES:
        return in_turn(work, batches)
    n = min(torch.get_num_threads(), available_cores())
    return shared(work, batches, n) if n > 1 and may_fork() else in_turn(work, batches)


def decode_anew(engine: EngineName = "auto") -> Decode:
    """`decode` by an engine that is prepared for every call: for a model in training, whose weights
    are others each time."""
    if engine == "torch":
        return decode
    choice = EngineChoice(engine)
    return lambda model, sources, request: decode(
        model, sources, request, choice.prepare(model, request.device)
    )
