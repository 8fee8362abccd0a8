"""Looking at attention weights while a model runs: the models themselves know nothing of it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from jaxtyping import Float
from torch import Tensor

from headway.core.attention import MultiHeadAttention

AttentionMaps = list[Float[Tensor, "batch heads query key"]]


@contextmanager
def watched(attentions: Iterable[MultiHeadAttention]) -> Iterator[AttentionMaps]:
    """While it is open, the weights of every pass through the `attentions` are noted, in order.

    They are computed once more from what went in: without dropout, and by the equation itself.
    """
    maps: AttentionMaps = []

    def note(attention: Any, given: tuple[Any, ...], _: Tensor) -> None:
        maps.append(attention.weights(*given))

    handles = [attention.register_forward_hook(note) for attention in attentions]
    try:
        yield maps
    finally:
        for handle in handles:
            handle.remove()
