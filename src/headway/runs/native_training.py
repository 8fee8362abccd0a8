"""Updates by the compiled engine: it makes losses with their gradients, where it can.

All else of a training is as ever: batches and their order, Adam, checkpoints, recovery. The model
is float32 then, whatever products are computed in, and a loss that is torch's is one of that model.
"""

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.core.rows import SIDES
from headway.core.runtime import ProductPrecision
from headway.core.training_interfaces import Batch
from headway.core.translation_task import TranslationTask
from headway.engine.compiling import NoEngineError
from headway.engine.engine import CHANGED
from headway.engine.learner import training_library
from headway.engine.training import NativeStep, unsupported_training
from headway.operations.time_budget import PlannedTraining
from headway.runs.task_spec import Run


class NativeLoss:
    """What takes the place of a translation task's `loss`."""

    def __init__(self, task: TranslationTask, model: nn.Module, step: NativeStep) -> None:
        self.task, self.model, self.step = task, model, step
        self.by_torch: Callable[[nn.Module, Batch], Tensor] = task.loss

    def __call__(self, model: nn.Module, batch: Batch) -> Tensor:
        """See `headway.core.training_interfaces.Task`; of another model, or of one that something
        looks into by now, it is torch's."""
        if model is not self.model or has_hooks(model):
            return self.by_torch(model, batch)
        store, rows = batch.rows
        sources, targets = ([store[side][int(i)] for i in rows] for side in SIDES)
        return self.step.loss(sources, targets, self.task.special, self.task.label_smoothing)


def learn_natively(run: Run, model: nn.Module, task: Any) -> torch.dtype:
    """Have the compiled engine make the losses of a task of pairs; the type of the model's numbers,
    which is torch's for products where the losses stay torch's.

    `task.computed_by` says in words who makes those of pairs. Raises ConfigError where [runtime]
    engine is native and it is not for this.
    """
    dtype, threads = run.runtime.dtype, run.runtime.threads
    precision: ProductPrecision = "bf16" if dtype == torch.bfloat16 else "fp32"
    reason = left_to_torch(run, model, task)
    try:
        if not reason and precision == "bf16" and not training_library().has_bfloat16:
            reason = "it was compiled for a processor without products of bfloat16"
        if not reason:
            task.loss = NativeLoss(task, model, NativeStep(cast(Any, model), precision, threads))
    except NoEngineError as error:
        reason = str(error)
    if reason and run.settings.runtime.engine == "native":
        raise ConfigError(
            f"runtime.engine native is for what it can do; {reason}. Use --runtime.engine auto."
        )
    if isinstance(task, TranslationTask):
        by_engine = f"the compiled engine, {precision}, {threads} thread{'s' * (threads > 1)}"
        cast(Any, task).computed_by = f"torch ({reason})" if reason else by_engine
    return dtype if reason else torch.float32


def left_to_torch(run: Run, model: nn.Module, task: Any) -> str:
    """Why torch makes the losses; nothing if the engine can."""
    training: PlannedTraining = run.settings.training
    if not isinstance(task, TranslationTask):
        return "it trains translators alone"
    if training.compile:
        return "torch compiles its layers"
    if training.in_parts:
        return "not all weights learn alike"
    if run.folder.data.exists() and "losses_by" not in run.folder.record():
        return "it was begun so by an earlier version"
    stood_in_for = "loss", "cross_entropy", "tensors"
    if any(getattr(type(task), one) is not getattr(TranslationTask, one) for one in stood_in_for):
        return "its batches have a loss of their own"
    return unsupported_training(model, run.runtime.device) or (CHANGED if has_hooks(model) else "")


def has_hooks(model: nn.Module) -> bool:
    """Whether anything looks into a model's parts, or at a gradient on its way."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    hooks = (getattr(part, kind) for part in model.modules() for kind in kinds)
    return any(hooks) or any(one._backward_hooks for one in model.parameters())
