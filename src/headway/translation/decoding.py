"""How a translator searches: by headway's own search, with what hangs on it here.

That is sampling, processes that share the batches, and an engine in the search's place.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

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
) -> list[list[Hypothesis]]:
    """As `decode_all`, with what hangs on it here; see `headway.decoding.sampling`."""
    drawn = partial(sample, generator=request.generator)
    methods: dict[str, Method] = {**METHODS, "sampling": drawn}
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


class EngineSearch:
    """`decode` by an engine that is prepared at the first search: it has the weights as they are
    then, and torch searches where there is none."""

    def __init__(self) -> None:
        self.choice = EngineChoice()
        self.prepared: tuple[Engine | None] | None = None

    def __call__(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
    ) -> list[list[Hypothesis]]:
        """See `decode`."""
        if self.prepared is None:
            self.prepared = (self.choice.prepare(decoder, request.device),)
        return decode(decoder, sources, request, *self.prepared)

    def refresh(self) -> None:
        """Have the next search take up the weights and the choice of an engine as they are then."""
        self.prepared = None

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: without what an engine made of the weights in this process."""
        name, precision, _ = self.choice
        choice = EngineChoice("auto" if name == "ctranslate2" else name, precision)
        return {"choice": choice, "prepared": None}


def decode_anew(engine: EngineName = "auto") -> Decode:
    """`decode` by an engine that is prepared for every call: for a model in training, whose weights
    are others each time."""
    if engine == "torch":
        return decode
    choice = EngineChoice(engine)
    return lambda model, sources, request: decode(
        model, sources, request, choice.prepare(model, request.device)
    )
