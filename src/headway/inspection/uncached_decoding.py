"""Decoding without a cache: the model reads all that was written again, at every step.

Then each token is written by the very pass that is looked at, whatever was changed in it: where a
token may change what stands before it, no cache can hold.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from headway.core.embedding import project
from headway.core.interfaces import Step
from headway.inspection.patching import patched
from headway.language_models.interfaces import prompt


@dataclass(frozen=True)
class Reread:
    """The source, if there is one, and what each row was fed; a `State` of search."""

    source: Int[Tensor, "rows source"] | None
    fed: Int[Tensor, "rows fed"]

    def select(self, rows: Int[Tensor, " kept"]) -> "Reread":
        """The state of the given rows; see `headway.core.interfaces.State`."""
        return Reread(None if self.source is None else self.source[rows], self.fed[rows])


@contextmanager
def rereading(model: nn.Module) -> Iterator[None]:
    """While it is open, the model's `start` and `step` keep no cache.

    It is a `Seq2Seq` or a `NeuralLanguageModel`. Steps give no attention.
    """
    of_pairs = hasattr(model, "features")
    with (
        patched(model, "start", _start_of_pairs if of_pairs else _start_of_text(model)),
        patched(model, "step", _step(model, _of_pairs if of_pairs else _of_text)),
    ):
        yield


def _start_of_pairs(source: Tensor, prefix: Tensor | None = None) -> Reread:
    return Reread(source, source[:, :0] if prefix is None else prefix)


def _start_of_text(model: Any) -> Callable[..., Reread]:
    def start(source: Tensor | None, prefix: Tensor | None = None) -> Reread:
        return Reread(None, prompt(source, prefix, model.output_weight))

    return start


def _of_pairs(model: Any, state: Reread) -> Tensor:
    features: Tensor = model.features(state.source, state.fed)
    return features


def _of_text(model: Any, state: Reread) -> Tensor:
    features: Tensor = model.read(state.fed).features
    return features


def _step(model: Any, features_of: Callable[[Any, Reread], Tensor]) -> Callable[..., Step]:
    @torch.no_grad()
    def step(state: Reread, last: Tensor, want_attention: bool = False) -> Step:
        after = Reread(state.source, torch.cat([state.fed, last[:, None]], 1))
        features = features_of(model, after)[:, -1]
        logits = project(features, model.output_weight, model.output_bias).float()
        return Step(logits, after, None)

    return step
