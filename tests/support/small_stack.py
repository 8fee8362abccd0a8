"""Three layers of width 8, to state laws of stacks with."""

from headway.core.attention import MultiHeadAttention
from headway.core.layers import FeedForward, Layer, Stack
from headway.nn.positions import PositionedAttention, rotate


def stack(*, crosses: bool = False, rotary: bool = False) -> Stack:
    """An encoder's stack, or with `crosses` a decoder's, not in training mode."""

    def attention(*, rotary: bool = False) -> MultiHeadAttention:
        return PositionedAttention(8, 2, d_k=4, d_v=3, rotary=rotate if rotary else None)

    layers = [
        Layer(
            8,
            attention(rotary=rotary),
            FeedForward(8, 12),
            attention() if crosses else None,
            norm="pre",
            dropout=0.0,
        )
        for _ in range(3)
    ]
    return Stack(layers).eval()
