"""Perplexity: how many tokens the model hesitates between, on average."""

import math


def perplexity(total_nats: float, n_tokens: int) -> float:
    """exp(total_nats / n_tokens): the text's negative log-likelihood in nats, over its tokens.

    Two models may be ranked by it only over the same text and the same tokens. Infinite where it
    is too large for a float. Raises `ValueError` without tokens.
    """
    if n_tokens <= 0:
        raise ValueError(f"perplexity needs at least one token; got {n_tokens}")
    try:
        return math.exp(total_nats / n_tokens)
    except OverflowError:
        return math.inf
