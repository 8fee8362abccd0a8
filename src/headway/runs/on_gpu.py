"""What is done otherwise on a GPU: batches of one shape, and the search of small translators by the
processors beside it.

Batches get one shape where they can have one: what learns from them is recorded there once, and
replayed (`headway.operations.captured`).

A step of search is some hundred products of microseconds, which torch asks a GPU for one by one: a
sentence alone takes it half as long with 2.6 million parameters as with 63 million. The compiled
engine's time grows with the parameters, and falls with every core.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
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
from headway.operations.time_budget import PlannedTraining
from headway.runs.loading import LoadedRun
from headway.runs.task_spec import Run

PER_CORE = 1_000_000
"""So many parameters for each core are searched as fast as by a GPU (an H100 beside 16 cores:
docs/results.md)."""
PROCESSORS = torch.device("cpu")


def fit_rows(run: Run, training: PlannedTraining) -> PlannedTraining:
    """Rows of pairs side by side, where the task can and nobody chose; not for a model of which
    parts learn apart, or that was another run's."""
    chosen = "pack_length" in run.given.get("training", {})
    if chosen or training.in_parts or training.init_from or not run.spec.row_length:
        return training
    length = run.spec.row_length(run.settings, run.data)
    if not 0 < length <= training.batch_tokens:
        return training
    run.say(f"pairs stand side by side in rows of {length} tokens: batches of one shape, which a "
            "GPU learns from fastest; --training.pack-length 0 is without")  # fmt: skip
    return replace(training, pack_length=length)  # type: ignore[call-arg]


def speed_up(run: Run, model: nn.Module, task: Any) -> None:
    """Make the updates of a training quicker, and its validations."""
    accelerate(model, task, run.settings.training)
    on_gpu = run.runtime.device.type == "cuda"
    by_engine = hasattr(task, "decode") and run.settings.runtime.engine != "torch"
    if on_gpu and by_engine and faster_on_cpu(model) and compiled():  # not in the first validation
        task.decode = SearchBeside(task.decode)


def beside(opened: LoadedRun) -> LoadedRun:
    """A run on a GPU, moved to the processors where they search quicker."""
    if not searched_beside(opened.model):
        return opened
    return opened._replace(model=opened.model.to(PROCESSORS), device=PROCESSORS)


def searched_beside(model: Any) -> bool:
    """Whether the compiled engine searches with it, and is quicker than a GPU."""
    return faster_on_cpu(model) and compiled() and not unsupported(model, PROCESSORS)


def faster_on_cpu(model: nn.Module) -> bool:
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
