"""What is learned of labelled texts: cross-entropy over labels."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.core.training_interfaces import Validation
from headway.labelling.task import Example, Tensors, padded


class LabelCriterion:
    """One label of each text; a `headway.labelling.task.Criterion`."""

    unit = "examples"

    def __init__(self, padding: int, smoothing: float) -> None:
        self.padding, self.smoothing = padding, smoothing

    def tensors(
        self, examples: Sequence[Example], random: np.random.Generator | None = None
    ) -> Tensors:
        """Ids `[examples, length]` and labels `[examples]`."""
        labels = torch.tensor([one.target for one in examples])
        return padded(examples, self.padding), labels

    def units(self, tensors: Tensors) -> int:
        """Examples."""
        return len(tensors[0])

    def loss(self, model: nn.Module, tensors: Tensors) -> Tensor:
        """Cross-entropy, smoothed."""
        ids, labels = tensors
        logits = model(ids).float()
        return F.cross_entropy(logits, labels, reduction="sum", label_smoothing=self.smoothing)

    def validate(self, model: nn.Module, batches: Iterator[Tensors]) -> Validation:
        """Accuracy in percent."""
        n = right = 0
        nats = 0.0
        for ids, labels in batches:
            logits = model(ids).float()
            nats += F.cross_entropy(logits, labels, reduction="sum").item()
            right += int((logits.argmax(-1) == labels).sum())
            n += len(labels)
        return Validation(nats / n, 100 * right / n, "accuracy")
