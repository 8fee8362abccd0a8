"""The model of tagging: a trunk, what is seen of spelling, and a head with its chain."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.dropout import Dropout
from headway.labelling.labeller import Labeller
from headway.nn.encoder import Encoded
from headway.tagging.crf import LinearChain
from headway.tagging.spelling import SpellingTable


class TagHead(nn.Module):
    """Dropout, one matrix, and a chain over what it gives."""

    def __init__(
        self,
        d_input: int,
        allowed: Bool[np.ndarray, "before after"],
        *,
        learned: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.to_tags = nn.Linear(d_input, len(allowed) - 1)
        self.chain = LinearChain(allowed, learned=learned)

    def forward(self, encoded: Encoded) -> Float[Tensor, "batch length tags"]:
        """Emissions of each place."""
        logits: Tensor = self.to_tags(self.dropout(encoded.features))
        return logits


class Tagger(Labeller):
    """Its parts are `encoder`, `head` and, where it looks at letters, `spelling`."""

    head: TagHead

    def __init__(
        self, encoder: nn.Module, head: TagHead, *, padding: int, spelling: SpellingTable | None
    ) -> None:
        super().__init__(encoder, head)
        self.padding, self.spelling = padding, spelling

    @property
    def chain(self) -> LinearChain:
        """What scores tags with their neighbours."""
        return self.head.chain

    def forward(
        self,
        ids: Int[Tensor, "batch length"],
        features: Int[Tensor, "batch length features"] | None = None,
    ) -> Float[Tensor, "batch length tags"]:
        """Logits of each place. Without `features` nothing is seen of spelling."""
        if self.spelling is None or features is None:
            return super().forward(ids)
        encoder: Any = self.encoder
        visible = ids != self.padding
        encoded: Encoded = encoder.encode(encoder.embedding(ids) + self.spelling(features), visible)
        logits: Tensor = self.head(encoded)
        return logits

    def emissions(
        self,
        ids: Int[Tensor, "batch length"],
        starts: Int[Tensor, "batch tokens"],
        features: Int[Tensor, "batch length features"],
    ) -> Float[Tensor, "batch tokens tags"]:
        """Logits of each token: those of its first piece."""
        logits = self(ids, features)
        return logits.gather(1, starts[:, :, None].expand(-1, -1, logits.shape[2]))
