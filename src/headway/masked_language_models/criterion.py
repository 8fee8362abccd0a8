"""What is learned: what stands at hidden places."""

import math
from collections.abc import Sequence
from typing import cast
from zlib import crc32

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.core.loss import projected_label_smoothed
from headway.core.training_interfaces import Validation
from headway.labelling.task import Example, Tensors, padded
from headway.masked_language_models.masking import Masking
from headway.masked_language_models.model import MaskedLanguageModel


class MaskedCriterion:
    """Cross-entropy at hidden places; a `headway.labelling.task.Criterion`."""

    unit = "hidden places"

    def __init__(self, masking: Masking, padding: int, *, smoothing: float, seed: int) -> None:
        self.masking, self.padding = masking, padding
        self.smoothing, self.seed = smoothing, seed

    def tensors(
        self, examples: Sequence[Example], random: np.random.Generator | None = None
    ) -> Tensors:
        """What is fed, and what stands at hidden places, padding elsewhere: `[rows, length]` each.
        Without `random` the seed and a row say where it is hidden, always alike."""
        ids = padded(examples, self.padding).numpy()
        if random is None:
            fed, hidden = ids.copy(), np.zeros(ids.shape, bool)
            for n, one in enumerate(examples):
                here = slice(n, n + 1), slice(len(one.input))
                alone = np.random.default_rng([self.seed, crc32(ids[here].tobytes())])
                fed[here], hidden[here] = self.masking(ids[here], alone)
        else:
            fed, hidden = self.masking(ids, random)
        wanted = np.where(hidden, ids, self.padding)
        return torch.from_numpy(fed), torch.from_numpy(wanted)

    def units(self, tensors: Tensors) -> int:
        """Hidden places."""
        return max(1, int((tensors[1] != self.padding).sum()))

    def hidden(self, model: nn.Module, tensors: Tensors) -> tuple[Tensor, Tensor]:
        """What the head gives at hidden places, `[places, d_model]`, and what stands there."""
        fed, wanted = tensors
        places = (wanted != self.padding).flatten().nonzero().squeeze(1)
        features = cast(MaskedLanguageModel, model).features(fed, places)
        return features, wanted.flatten()[places]

    def loss(self, model: nn.Module, tensors: Tensors) -> Tensor:
        """Cross-entropy, smoothed."""
        features, wanted = self.hidden(model, tensors)
        known = cast(MaskedLanguageModel, model)
        return projected_label_smoothed(
            features, known.output_weight, wanted,
            smoothing=self.smoothing, padding=self.padding, output_bias=known.head.output_bias,
        ).smoothed  # fmt: skip

    @torch.no_grad()
    def count(self, model: nn.Module, tensors: Tensors) -> Sequence[int | float]:
        """Nats, hidden places, and those that are found."""
        features, wanted = self.hidden(model, tensors)
        logits = cast(MaskedLanguageModel, model).logits(features)
        nats = F.cross_entropy(logits, wanted, reduction="sum").item()
        return nats, len(wanted), int((logits.argmax(-1) == wanted).sum())

    def validation(self, counted: Sequence[int | float]) -> Validation:
        """Accuracy in percent, nats and perplexity at hidden places; ranked by the nats."""
        nats, n, right = counted
        loss = nats / max(1, n)
        others = {"perplexity": math.exp(min(loss, 700))}
        return Validation(loss, 100 * right / max(1, n), "accuracy", rank=-loss, others=others)
