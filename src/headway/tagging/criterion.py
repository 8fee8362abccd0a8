"""What is learned: the tags of sentences, under a chain over them."""

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
from torch import Tensor, nn

from headway.core.training_interfaces import Validation
from headway.labelling.task import Example, Tensors, padded
from headway.tagging.model import Tagger
from headway.tagging.pieces import padded_targets
from headway.tagging.schemes import spans_of


class TagCriterion:
    """Tags of tokens; a `headway.labelling.task.Criterion`."""

    unit = "tags"

    def __init__(self, padding: int, labels: Sequence[str], scheme: str | None) -> None:
        self.padding, self.labels, self.scheme = padding, labels, scheme

    def tensors(
        self, examples: Sequence[Example], random: np.random.Generator | None = None
    ) -> Tensors:
        """Ids, starts, tags, which of those are there, features of spelling."""
        return (padded(examples, self.padding), *padded_targets(examples))

    def units(self, tensors: Tensors) -> int:
        """Tags."""
        return int(tensors[3].sum())

    def loss(self, model: nn.Module, tensors: Tensors) -> Tensor:
        """-log p of the tags of each sentence."""
        ids, starts, tags, there, features = tensors
        tagger = cast("Tagger", model)
        return tagger.chain.loss(tagger.emissions(ids, starts, features), tags, there)

    def validate(self, model: nn.Module, batches: Iterator[Tensors]) -> Validation:
        """Strict F1 of spans, which is the accuracy of plain tags, in percent."""
        tagger, nats, n = cast("Tagger", model), 0.0, 0
        right = both = 0
        for ids, starts, tags, there, features in batches:
            emissions = tagger.emissions(ids, starts, features)
            nats += tagger.chain.loss(emissions, tags, there).item()
            n += int(there.sum())
            best = tagger.chain.best(emissions, there)
            for *two, visible in zip(tags, best, there, strict=True):
                known, found = ({*self._spans(row[visible])} for row in two)
                right, both = right + len(known & found), both + len(known) + len(found)
        name = "f1" if self.scheme else "accuracy"
        return Validation(nats / n, 200 * right / max(1, both), name)

    def _spans(self, tags: Tensor) -> list[tuple[int, int, str]]:
        return [*spans_of([self.labels[i] for i in tags.tolist()], self.scheme)]
