"""The Transformer with other positions than the paper's, or with windows (section 4).

Relative and rotary positions, and windows, act in self-attention only.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from torch import nn

from headway.core.attention import MultiHeadAttention
from headway.core.errors import ConfigError, refuse_beyond
from headway.core.transformer import LayerConfig, TransformerConfig
from headway.nn.positions import NoPositions, RelativePositions, rotate
from headway.nn.windowed import WindowedAttention

Positions = Literal["sinusoidal", "learned", "relative", "rotary", "none"]


@dataclass(frozen=True)
class PositionedLayers(LayerConfig):
    """Sizes and options of one layer."""

    positions: Positions = "sinusoidal"  # type: ignore[assignment]  # more than there were
    """How the order of tokens is known; `sinusoidal` is section 3.5."""
    window: int = 0
    """Restricted self-attention (section 4): so many positions to each side, in a decoder before;
    0 = all."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window < 0:
            raise ConfigError(
                f"window must not be negative; got {self.window}. 0 is all positions."
            )
        refuse_beyond(self, {"window": 1 << 24})
        if self.positions == "rotary" and self.key_size % 2:
            raise ConfigError(
                f"Rotary positions turn pairs, so d_k must be even; got {self.key_size}. "
                "Set --model.d-k or choose other positions."
            )

    def self_attention(self, *, causal: bool) -> MultiHeadAttention:
        """Of one layer; `causal`: it is to see nothing that comes later."""
        kind = MultiHeadAttention
        if self.window:
            kind = partial(WindowedAttention, window=self.window, causal=causal)  # type: ignore[assignment]
        return kind(
            self.d_model,
            self.heads,
            d_k=self.key_size,
            d_v=self.value_size,
            dropout=self.attention_dropout,
            rotary=rotate if self.positions == "rotary" else None,
            relative=RelativePositions(self.key_size) if self.positions == "relative" else None,
        )

    def added_positions(self) -> nn.Module:
        """What is added to the embeddings."""
        if self.positions in ("sinusoidal", "learned"):
            return super().added_positions()
        return NoPositions()


@dataclass(frozen=True)
class PositionedConfig(PositionedLayers, TransformerConfig):
    """A row of table 3, and what is not in it; the defaults are the row "base"."""
