"""The beginning of a text read in one pass instead of token by token, into the same cache."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from headway.nn.attention import MultiHeadAttention, ReadyMask
from headway.nn.cache import Cache, KeysAndValues, StackState
from headway.nn.layers import Stack


def read_prefix(
    stack: Stack, x: Float[Tensor, "rows length d_model"], state: StackState
) -> StackState:
    """A started `state` after the tokens `x` of each row; of a stack without cross-attention."""
    n_rows, length, _ = x.shape
    if not length:
        return state
    visible = stack.past(length, x.device)
    mask = None if visible is None else ReadyMask.of(visible, x.dtype)
    keys: list[Tensor] = []
    values: list[Tensor] = []

    def look_back(attention: MultiHeadAttention, y: Tensor) -> Tensor:
        query, key, value, bias = attention.projected(y, y)
        keys.append(key)
        values.append(value)
        context = attention.gather(query, key, value, mask, bias)
        return attention.to_output(context.transpose(1, 2).flatten(2))

    for layer in stack:
        x = layer.around_self_attention(x, lambda y, a=layer.self_attention: look_back(a, y))
        x = layer.around_feed_forward(x, layer.feed_forward)
    return replace(
        state,
        cache=Cache(KeysAndValues(torch.stack(keys), torch.stack(values)), length),
        length=length,
        used=length,
        positions=torch.arange(length, device=x.device).expand(n_rows, -1),
        visible=torch.ones(n_rows, length, dtype=torch.bool, device=x.device),
    )
