"""One trunk, a small head: a model that says something of what it reads.

Its parts are `encoder` and `head`: names for --freeze, --reinit and --init-from.
"""

from typing import ClassVar

from jaxtyping import Float, Shaped
from torch import Tensor, nn

from headway.nn.encoder import Encoded, TextEncoder


class Labeller(nn.Module):
    """An encoder, and a head that makes logits of what it gives."""

    trunk: ClassVar = {
        "embedding": "encoder.embedding",
        "positions": "encoder.positions",
        "layers": "encoder.layers",
        "norm": "encoder.norm",
    }
    """See `headway.runs.transfer`."""

    def __init__(self, encoder: nn.Module, head: nn.Module) -> None:
        """`encoder` is a `headway.nn.encoder.TextEncoder`; `head` takes its `Encoded`."""
        super().__init__()
        self.encoder, self.head = encoder, head

    def encoded(self, given: Shaped[Tensor, "batch ..."]) -> Encoded:
        """What the encoder makes of some texts (their ids), or of what else it reads."""
        encoder: TextEncoder = self.encoder  # type: ignore[assignment]
        return encoder(given)

    def forward(self, given: Shaped[Tensor, "batch ..."]) -> Float[Tensor, "*shape labels"]:
        """Logits: of each text, or of each place in it, as the head gives them."""
        logits: Tensor = self.head(self.encoded(given))
        return logits
