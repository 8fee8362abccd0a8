"""What is learned of labelled texts: cross-entropy over labels, or of each label by itself."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.subwords import SpecialIds
from headway.core.training_interfaces import Validation
from headway.labelling.scores import LabelScores, one_label_scores, several_labels_scores
from headway.labelling.task import Example, Tensors, padded, with_unknown
from headway.labelling.vocabulary import LabelledVocabulary

AT_ONCE = 64
"""Texts that are read together outside of training."""


class LabelCriterion:
    """One label of each text, or several; a `headway.labelling.task.Criterion`."""

    unit = "examples"

    def __init__(
        self, special: SpecialIds, *, several: bool, smoothing: float = 0.0, hidden: float = 0.0
    ) -> None:
        """`several`: each label is there or not, whatever the others are. `hidden`: so many tokens
        are the unknown one while the model learns."""
        self.special, self.several = special, several
        self.smoothing, self.hidden = smoothing, hidden

    def tensors(
        self, examples: Sequence[Example], random: np.random.Generator | None = None
    ) -> Tensors:
        """Ids `[examples, length]`, and labels `[examples]`; of several `[examples, labels]`, 1
        where one is there."""
        ids = padded(examples, self.special.padding)
        targets = torch.from_numpy(np.array([one.target for one in examples]))
        if random is not None:
            ids = with_unknown(ids, self.special, self.hidden, random)
        return ids, targets

    def units(self, tensors: Tensors) -> int:
        """Examples."""
        return len(tensors[0])

    def loss(self, model: nn.Module, tensors: Tensors) -> Tensor:
        """Cross-entropy, smoothed."""
        ids, targets = tensors
        return self.nats(model(ids).float(), targets, self.smoothing)

    def nats(self, logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
        """Summed over the examples, and over the labels where each is by itself."""
        if self.several:
            smoothed = targets * (1 - smoothing) + smoothing / 2
            return F.binary_cross_entropy_with_logits(logits, smoothed, reduction="sum")
        return F.cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)

    def probabilities(self, logits: Tensor) -> Tensor:
        """Of each label."""
        return logits.sigmoid() if self.several else logits.softmax(-1)

    def count(self, model: nn.Module, tensors: Tensors) -> Sequence[int | float]:
        """Nats, examples, right labels, said ones, and those that are there."""
        ids, targets = tensors
        logits = model(ids).float()
        chosen, known = logits > 0, targets > 0
        if not self.several:
            chosen, known = logits.argmax(-1) == targets, torch.ones_like(targets) > 0
        labels = (int(some.sum()) for some in (chosen & known, chosen, known))
        return self.nats(logits, targets).item(), len(targets), *labels

    def validation(self, counted: Sequence[int | float]) -> Validation:
        """Accuracy in percent; of several labels micro-F1."""
        nats, n, right, said, there = counted
        if self.several:
            return Validation(nats / n, 200 * right / max(said + there, 1), "micro_f1")
        return Validation(nats / n, 100 * right / n, "accuracy")


def target_of(vocabulary: LabelledVocabulary, labels: Sequence[str]) -> Any:
    """A label's number; of several a 1 for each that is there, `[labels]`."""
    if not vocabulary.facts.get("several"):
        return vocabulary.numbers[labels[0]]
    there = np.zeros(len(vocabulary.labels), np.float32)
    there[[vocabulary.numbers[label] for label in labels]] = 1
    return there


@torch.inference_mode()
def probabilities(
    model: nn.Module, vocabulary: LabelledVocabulary, examples: Iterable[Example]
) -> Float[np.ndarray, "examples labels"]:
    """What a model holds of each label, for each example in its place."""
    criterion = LabelCriterion(vocabulary.special, several=bool(vocabulary.facts.get("several")))
    rows, device = [*examples], next(model.parameters()).device
    order = sorted(range(len(rows)), key=lambda place: len(rows[place].input))
    found = np.zeros((len(rows), len(vocabulary.labels)))
    for first in range(0, len(rows), AT_ONCE):
        some = order[first : first + AT_ONCE]
        ids = padded([rows[place] for place in some], vocabulary.special.padding).to(device)
        found[some] = criterion.probabilities(model(ids).float()).cpu().numpy()
    return found


def scored(
    model: nn.Module, vocabulary: LabelledVocabulary, examples: Sequence[Example]
) -> LabelScores:
    """How often a model is right."""
    probs = probabilities(model, vocabulary, examples)
    there = np.array([one.target for one in examples])
    if vocabulary.facts.get("several"):
        return several_labels_scores(there > 0, probs, vocabulary.labels)
    return one_label_scores(there, probs, vocabulary.labels)
