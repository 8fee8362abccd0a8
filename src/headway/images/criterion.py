"""What is learned of pictures: their class, seen a little changed each time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.training_interfaces import Validation
from headway.images.augmentation import PictureTraining, augmented
from headway.images.decoding import Pixels
from headway.labelling.task import Example, Tensors


def normalized(
    pixels: Sequence[Pixels],
    facts: Mapping[str, Any],
    change: PictureTraining | None = None,
    random: np.random.Generator | None = None,
) -> Float[Tensor, "batch channels height width"]:
    """Pictures as a model reads them: less the training set's mean, by its deviation. With `random`
    each is changed as `change` says."""
    pictures = torch.from_numpy(np.stack(pixels)).permute(0, 3, 1, 2) / 255
    if change is not None and random is not None:
        pictures = augmented(pictures, change, random)
    mean, deviation = (torch.tensor(facts[key])[:, None, None] for key in ("mean", "deviation"))
    return (pictures - mean) / deviation


class PictureCriterion:
    """One class of each picture; a `headway.labelling.task.Criterion`."""

    unit = "examples"

    def __init__(self, facts: Mapping[str, Any], training: PictureTraining) -> None:
        self.facts, self.training = facts, training

    def tensors(
        self, examples: Sequence[Example], random: np.random.Generator | None = None
    ) -> Tensors:
        """Pictures `[examples, channels, height, width]` and classes `[examples]`."""
        pixels = [one.input for one in examples]
        pictures = normalized(pixels, self.facts, self.training, random)
        return pictures, torch.tensor([one.target for one in examples])

    def units(self, tensors: Tensors) -> int:
        """Examples."""
        return len(tensors[0])

    def loss(self, model: nn.Module, tensors: Tensors) -> Tensor:
        """Cross-entropy, smoothed."""
        pictures, classes = tensors
        logits, smoothing = model(pictures).float(), self.training.label_smoothing
        return F.cross_entropy(logits, classes, reduction="sum", label_smoothing=smoothing)

    def validate(self, model: nn.Module, batches: Iterator[Tensors]) -> Validation:
        """Accuracy in percent."""
        n = right = 0
        nats = 0.0
        for pictures, classes in batches:
            logits = model(pictures).float()
            nats += F.cross_entropy(logits, classes, reduction="sum").item()
            right += int((logits.argmax(-1) == classes).sum())
            n += len(classes)
        return Validation(nats / n, 100 * right / n, "accuracy")
