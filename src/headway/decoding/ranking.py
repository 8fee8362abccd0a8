"""The best tokens of a large vocabulary, found quickly."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.beam import first_best

CHUNK = 128


def chunked_best(
    scores: Float[Tensor, "rows tokens"], before: Float[Tensor, "sentences width"], count: int
) -> tuple[Float[Tensor, "sentences count"], Int[Tensor, "sentences count"]]:
    """What `best` gives, several times faster of a large vocabulary.

    Only the `count` chunks of tokens with the highest maxima are searched: each
    of them holds a place that precedes all those elsewhere.
    """
    (n_sentences, width), n_tokens = before.shape, scores.shape[1]
    n_whole, n_left = divmod(n_tokens, CHUNK)
    n_chunks = n_whole + bool(n_left)
    if n_chunks * width <= count:
        return first_best((before.view(-1, 1) + scores).view(n_sentences, -1), count)
    body, tail = scores.split([n_whole * CHUNK, n_left], dim=1)
    maxima = body.unflatten(1, (n_whole, CHUNK)).amax(2)
    if n_left:
        maxima = torch.cat([maxima, tail.amax(1, keepdim=True)], 1)
    maxima = (before.view(-1, 1) + maxima).view(n_sentences, -1)
    chosen = first_best(maxima, count)[1].sort(dim=1).values.unsqueeze(2)  # in order of place
    row, chunk = chosen // n_chunks, chosen % n_chunks
    token = chunk * CHUNK + torch.arange(CHUNK, device=scores.device)  # [sentences, count, CHUNK]
    places = (row * n_tokens + token.clamp(max=n_tokens - 1)).flatten(1)
    found = scores.view(n_sentences, -1).gather(1, places).view_as(token)
    sums = (before.gather(1, row.squeeze(2)).unsqueeze(2) + found).masked_fill(
        token >= n_tokens, -torch.inf
    )
    values, order = first_best(sums.flatten(1), count)
    return values, places.gather(1, order)
