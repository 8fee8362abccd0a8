"""The Transformer with other positions than the paper's, or with windows (section 4).

Relative and rotary positions, and windows, act in self-attention only.
"""

from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention
from headway.core.errors import ConfigError, refuse_beyond
from headway.core.transformer import LayerConfig, TransformerConfig
from headway.nn.positions import NoPositions, PositionedAttention, RelativePositions, rotate
from headway.nn.windowed import WindowedAttention

Positions = Literal["sinusoidal", "learned", "relative", "rotary", "none"]
_MOST = {
    **dict.fromkeys(("d_model", "heads", "d_k", "d_v"), 1 << 16),
    "d_ff": 1 << 20,
    "max_length": 1 << 24,
    "layer_norm_epsilon": 1.0,
    "residual_gain": 1_000.0,
}
"""Far beyond any model; what is larger would be built for ever."""


@dataclass(frozen=True)
class PositionedLayers(LayerConfig):
    """Sizes and options of one layer."""

    positions: Positions = "sinusoidal"  # type: ignore[assignment]  # more than there were
    """How the order of tokens is known; `sinusoidal` is section 3.5."""
    window: int = 0
    """Restricted self-attention (section 4): so many positions to each side, in a decoder before;
    0 = all."""

    def __post_init__(self) -> None:
        layers = (one.name for one in fields(self) if one.name.endswith("layers"))
        refuse_beyond(self, {**dict.fromkeys(layers, 1_000), **_MOST, "window": 1 << 24})
        super().__post_init__()
        if self.window < 0:
            raise ConfigError(
                f"window must not be negative; got {self.window}. 0 is all positions."
            )
        if self.positions == "rotary" and self.key_size % 2:
            raise ConfigError(
                f"Rotary positions turn pairs, so d_k must be even; got {self.key_size}. "
                "Set --model.d-k or choose other positions."
            )

    def self_attention(self, *, causal: bool) -> MultiHeadAttention:
        """Of one layer; `causal`: it is to see nothing that comes later."""
        kind: Any = PositionedAttention
        if self.window:
            kind = partial(WindowedAttention, window=self.window, causal=causal)
        elif self.positions not in ("relative", "rotary"):
            return super().self_attention(causal=causal)
        found: MultiHeadAttention = kind(
            self.d_model,
            self.heads,
            d_k=self.key_size,
            d_v=self.value_size,
            dropout=self.attention_dropout,
            rotary=rotate if self.positions == "rotary" else None,
            relative=RelativePositions(self.key_size) if self.positions == "relative" else None,
        )
        return found

    def past(
        self, length: int, device: torch.device | str | None = None
    ) -> Bool[Tensor, "1 1 query key"] | None:
        """The mask of a decoder, which hides the future; a window does so itself."""
        return None if self.window else super().past(length, device)

    def added_positions(self) -> nn.Module:
        """What is added to the embeddings."""
        if self.positions in ("sinusoidal", "learned"):
            return super().added_positions()
        return NoPositions()


@dataclass(frozen=True)
class PositionedConfig(PositionedLayers, TransformerConfig):
    """A row of table 3, and what is not in it; the defaults are the row "base"."""
