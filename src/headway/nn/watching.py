"""Looking at attention weights while a model runs: the models themselves know nothing of it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from jaxtyping import Float
from torch import Tensor

from headway.nn.attention import MultiHeadAttention, attention_weights

AttentionMaps = list[Float[Tensor, "batch heads query key"]]


@contextmanager
def watched(attentions: Iterable[MultiHeadAttention]) -> Iterator[AttentionMaps]:
    """While it is open, the weights of every pass through the `attentions` are noted, in order.

    They are computed once more from what went in: without dropout, and by equation 1 itself.
    """
    maps: AttentionMaps = []

    def note(attention: Any, given: tuple[Any, ...], _: Tensor) -> None:
        query, key, _, bias = attention.projected(*given[:2])
        mask = given[2] if len(given) > 2 else None
        maps.append(attention_weights(query, key, mask, bias))

    handles = [attention.register_forward_hook(note) for attention in attentions]
    try:
        yield maps
    finally:
        for handle in handles:
            handle.remove()
