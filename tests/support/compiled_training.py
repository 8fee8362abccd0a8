"""Trainings with and without compiled layers, without the checks of shapes that tests have: torch
cannot compile those.

    python tests/support/compiled_training.py FOLDER

prints what became of them.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch
from regression import Listener, everything, never, stop_after
from safetensors import safe_open
from torch._dynamo.utils import counters

from headway.core.run_folder import RunFolder
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Batch, TaskState, Validation
from headway.core.transformer import Transformer, TransformerConfig
from headway.operations.acceleration import compile_layers
from headway.operations.time_budget import PlannedTraining
from headway.runs.gradient import trainer_of

TRAINING = PlannedTraining(
    max_steps=6, checkpoint_every=3, log_every=2, warmup_steps=2, dropout_warmup=5,
    learning_rate=0.01, average=2,
)  # fmt: skip


class Copying:
    """Random ids, to be copied; the batches have one shape, or any."""

    unit, counted = "tokens", ("tokens",)

    def __init__(self, *, one_shape: bool) -> None:
        self.n, self.one_shape = 0, one_shape

    def next_batch(self) -> Batch:
        self.n += 1
        shape = (4, 7) if self.one_shape else (2 + self.n % 4, 5 + self.n)
        ids = torch.randint(4, 20, shape, generator=torch.Generator().manual_seed(self.n))
        return Batch(ids, ids.numel(), {"tokens": ids.numel()})

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        logits = model(batch.rows, batch.rows.roll(1, 1))
        return torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), batch.rows.flatten(), reduction="sum"
        )

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        raise AssertionError

    def validate(self, model: torch.nn.Module) -> Validation:
        return Validation(1.0, -model.output_weight.abs().sum().item(), "bleu")  # type: ignore[operator, union-attr]

    def state_dict(self) -> TaskState:
        return TaskState({"n": self.n}, {})

    def load_state_dict(self, state: TaskState) -> None:
        self.n = state.countable["n"]


def model_of(dropout: float) -> Transformer:
    torch.manual_seed(1)
    config = TransformerConfig(
        encoder_layers=1, decoder_layers=1, d_model=16, d_ff=16, heads=2, dropout=dropout
    )
    return Transformer(config, vocabulary_size=20)


def trained(
    path: Path, *, compiled: bool, one_shape: bool = True, dropout: float = 0.0, stop: int = 0
) -> Trainer[Copying]:
    path.mkdir(exist_ok=True)
    model = model_of(dropout)
    compile_layers(model, one_shape=one_shape, backend="eager")
    if not compiled:
        model.apply(forget_to_compile)
    trainer = trainer_of(
        model, model_of(dropout), Copying(one_shape=one_shape), RunFolder(path), TRAINING,
        dtype=torch.float32, reporter=Listener(),
    )  # fmt: skip
    trainer.resume()
    trainer.train(stop_after(stop, trainer) if stop else never)
    return trainer


def forget_to_compile(module: torch.nn.Module) -> None:
    """Have it as it was, but for the kind of dropout."""
    module._compiled_call_impl = None


def compared(folder: Path, *, one_shape: bool, dropout: float) -> dict[str, Any]:
    """How far weights are apart, what was compiled, and what is in the run."""
    how = {"one_shape": one_shape, "dropout": dropout}
    before = counters["stats"]["unique_graphs"]
    plain = trained(folder / "plain", compiled=False, **how)
    assert counters["stats"]["unique_graphs"] == before
    same = trained(folder / "compiled", compiled=True, **how)
    expected = plain.optimizer.weights()
    apart = {
        name: float((weight - expected[name]).abs().max())
        for name, weight in same.optimizer.weights().items()
        if "to_key.bias" not in name  # no gradient but rounding: softmax does not see it
    }
    graphs, breaks = counters["stats"]["unique_graphs"] - before, dict(counters["graph_break"])
    for stop in (2, 0):
        trained(folder / "stopped", compiled=True, stop=stop, **how)
    with safe_open(folder / "compiled" / "model.safetensors", "pt") as saved:
        names = sorted(saved.keys())
    resumed = everything(folder / "compiled") == everything(folder / "stopped")
    strength = same.model.encoder[0].around_feed_forward.dropout.strength
    return {"apart": max(apart.values()), "graphs": graphs, "breaks": breaks, "names": names,
            "resumed": resumed, "strength": strength}  # fmt: skip


if __name__ == "__main__":
    place = Path(sys.argv[1])
    for one in ("one shape", "any shape"):
        (place / one).mkdir()
    told = {
        "one shape": compared(place / "one shape", one_shape=True, dropout=0.2),
        "any shape": compared(place / "any shape", one_shape=False, dropout=0.1),
    }
    print(json.dumps(told))
