"""What is learned: the tags of sentences, under a chain over them."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from headway.core.subwords import SpecialIds
from headway.core.training_interfaces import Validation
from headway.labelling.task import Example, Tensors, padded, with_unknown
from headway.tagging.model import Tagger
from headway.tagging.pieces import padded_targets
from headway.tagging.schemes import spans_of


class TagCriterion:
    """Tags of tokens; a `headway.labelling.task.Criterion`."""

    unit = "tags"

    def __init__(
        self,
        special: SpecialIds,
        labels: Sequence[str],
        scheme: str | None,
        *,
        hidden: float = 0.0,
        unspelled: float = 0.0,
    ) -> None:
        """`hidden`, `unspelled`: so many pieces are the unknown one, and so many features of
        spelling not there, while the model learns."""
        self.special, self.labels, self.scheme = special, labels, scheme
        self.hidden, self.unspelled = hidden, unspelled

    def tensors(
        self, examples: Sequence[Example], random: np.random.Generator | None = None
    ) -> Tensors:
        """Ids, starts, tags, which of those are there, features of spelling."""
        ids = padded(examples, self.special.padding)
        starts, tags, there, features = padded_targets(examples)
        if random is not None:
            ids = with_unknown(ids, self.special, self.hidden, random)
            left_out = torch.from_numpy(random.random(features.shape) < self.unspelled)
            features = features.masked_fill(left_out, 0)
        return ids, starts, tags, there, features

    def units(self, tensors: Tensors) -> int:
        """Tags."""
        return int(tensors[3].sum())

    def loss(self, model: nn.Module, tensors: Tensors) -> Tensor:
        """-log p of the tags of each sentence."""
        ids, starts, tags, there, features = tensors
        tagger = cast("Tagger", model)
        return tagger.chain.loss(tagger.emissions(ids, starts, features), tags, there)

    def count(self, model: nn.Module, tensors: Tensors) -> Sequence[int | float]:
        """Nats, tags, spans that are right, and all spans, known and found."""
        tagger, right, both = cast("Tagger", model), 0, 0
        ids, starts, tags, there, features = tensors
        emissions = tagger.emissions(ids, starts, features)
        best = tagger.chain.best(emissions, there)
        for *two, visible in zip(tags, best, there, strict=True):
            known, found = ({*self._spans(row[visible])} for row in two)
            right, both = right + len(known & found), both + len(known) + len(found)
        nats = tagger.chain.loss(emissions, tags, there).item()
        return nats, int(there.sum()), right, both

    def validation(self, counted: Sequence[int | float]) -> Validation:
        """Strict F1 of spans, which is the accuracy of plain tags, in percent."""
        nats, n, right, both = counted
        name = "f1" if self.scheme else "accuracy"
        return Validation(nats / n, 200 * right / max(1, both), name)

    def _spans(self, tags: Tensor) -> list[tuple[int, int, str]]:
        return [*spans_of([self.labels[i] for i in tags.tolist()], self.scheme)]
