"""The training step of a Transformer, compiled: loss and gradients of a batch in one call a thread."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from headway.core.hypothesis import Ids
from headway.core.runtime import ProductPrecision
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer


class NativeStep:
    """Losses of batches of a model whose gradients are made in C; torch defines what they are."""

    def __init__(
        self, model: Transformer, precision: ProductPrecision = "fp32", threads: int = 1
    ) -> None:
        """`precision` is that of matrix products, fp32 or bf16; weights and gradients are float32.

        Raises `NoEngineError` where it cannot be compiled, and ValueError for what
        `unsupported_training` names.
        """
        self.model, self.precision, self.threads = model, precision, threads

    def loss(
        self,
        sources: Sequence[Ids],
        targets: Sequence[Ids],
        special: SpecialIds,
        smoothing: float,
    ) -> Tensor:
        """The label-smoothed cross-entropy, summed over all target tokens with their end markers, in
        nats; its `backward()` adds to the parameters' gradients. Pairs are ids without markers.

        Only the newest loss can be gone back from: gradients lie in one place. Where torch records no
        gradients, none are made. Dropout is drawn from torch's generator, one number a call.
        """
        raise NotImplementedError


def unsupported_training(model: nn.Module, device: torch.device) -> str:
    """Why the engine cannot train this model; nothing if it can."""
    raise NotImplementedError
