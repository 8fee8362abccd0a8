"""How a translator searches: by headway's own search, with what hangs on it here.

That is sampling, processes that share the batches, and an engine in the search's place.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import torch

from headway.decoding.hypothesis import Hypothesis
from headway.decoding.processes import may_fork, shared
from headway.decoding.sampling import sample
from headway.decoding.search import (
    METHODS,
    SHARES,
    Batch,
    Engine,
    Ids,
    Method,
    SearchRequest,
    Work,
    decode_all,
    in_turn,
)
from headway.errors import ConfigError
from headway.models.interfaces import StepDecoder
from headway.native.engine import prepare
from headway.native.matrices import Precision
from headway.runtime import EngineName, available_cores


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


class EngineChoice:
    """What [runtime] says of search on a processor: which engine, products in which precision."""

    def __init__(
        self,
        name: EngineName = "auto",
        precision: Precision = "fp32",
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`say` hears, once, that torch searches where products of fewer bits were asked for."""
        self.name, self.precision, self.say = name, precision, say

    def prepare(self, decoder: StepDecoder, device: torch.device) -> Engine | None:
        """The compiled engine with the model's weights as they are now; None where torch searches.

        Raises ConfigError where it is asked for by name, and there is none for this model or
        machine; and for another program, which has a run's own weights: `engines.settle`.
        """
        if self.name == "torch":
            return None
        if self.name == "ctranslate2":
            raise ConfigError(
                "runtime.engine ctranslate2 has the weights of a run's folder; these are others. "
                "Save them, and load that, or use --runtime.engine auto."
            )
        found = prepare(decoder, device, self.precision, self.leave)
        if isinstance(found, str):
            self.leave(found)
            return None
        return found

    def leave(self, reason: str) -> None:
        """Have torch search; raises ConfigError where the engine is asked for by its name."""
        if self.name == "native":
            raise ConfigError(
                f"runtime.engine native is for what it can do; {reason}. Use --runtime.engine auto."
            )
        if self.precision != "fp32":
            products = f"{self.precision} products are the compiled engine's"
            self.say(f"headway: torch translates, in fp32: {products}; {reason}")
            self.say = lambda _: None

    def decode(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
    ) -> list[list[Hypothesis]]:
        """As `decode_all`, by an engine that is prepared for this one call: of a model in training,
        whose weights are others the next time."""
        return decode(decoder, sources, request, self.prepare(decoder, request.device))
