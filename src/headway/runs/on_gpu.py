"""What the processors beside a GPU do better: the search of small translators.

A step of search is some hundred products of microseconds, which torch asks a GPU for one by one: a
sentence alone takes it half as long with 2.6 million parameters as with 63 million. The compiled
engine's time grows with the parameters, and falls with every core.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from headway.core.hypothesis import Hypothesis, Ids, SearchRequest
from headway.core.interfaces import StepDecoder
from headway.core.runtime import available_cores
from headway.engine.building import engine_library
from headway.engine.compiling import NoEngineError
from headway.engine.engine import unsupported
from headway.operations.acceleration import accelerate
from headway.runs.loading import LoadedRun
from headway.runs.task_spec import Run

PER_CORE = 1_000_000
"""So many parameters for each core are searched as fast as by a GPU (an H100 beside 16 cores:
docs/results.md)."""
PROCESSORS = torch.device("cpu")


def make_busy(run: Run, model: nn.Module, task: Any) -> None:
    """Whatever makes the updates of a training quicker, and its validations."""
    accelerate(model, task, run.settings.training)
    on_gpu = run.runtime.device.type == "cuda"
    by_engine = hasattr(task, "decode") and run.settings.runtime.engine != "torch"
    if on_gpu and by_engine and small(model) and compiled():  # now, not in the first validation
        task.decode = SearchBeside(task.decode)


def beside(opened: LoadedRun) -> LoadedRun:
    """A run on a GPU, moved to the processors where they search quicker."""
    if not searched_beside(opened.model):
        return opened
    return opened._replace(model=opened.model.to(PROCESSORS), device=PROCESSORS)


def searched_beside(model: Any) -> bool:
    """Whether the compiled engine searches with it, and is quicker than a GPU."""
    return small(model) and compiled() and not unsupported(model, PROCESSORS)


def small(model: nn.Module) -> bool:
    """Whether the processors are quicker than a GPU."""
    return sum(one.numel() for one in model.parameters()) <= PER_CORE * available_cores()


def compiled() -> bool:
    """Whether there is a compiled engine; where there is a compiler, it is made."""
    try:
        engine_library()
    except NoEngineError:
        return False
    return True


class SearchBeside:
    """A validation's search: of a copy on the processors, where that is quicker."""

    def __init__(self, decode: Callable[..., list[list[Hypothesis]]]) -> None:
        self.decode = decode

    def __call__(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
    ) -> list[list[Hypothesis]]:
        """See `headway.core.hypothesis.Decode`."""
        if searched_beside(decoder):
            with torch.inference_mode(False), torch.no_grad():  # parameters as any others
                decoder = deepcopy(decoder).cpu()  # type: ignore[attr-defined]
            request = request._replace(device=PROCESSORS)
        return self.decode(decoder, sources, request)
