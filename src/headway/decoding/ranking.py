"""The best of a long row of scores, the same ones every time."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

CHUNK = 128


def best(
    scores: Float[Tensor, "rows places"], count: int
) -> tuple[Float[Tensor, "rows count"], Int[Tensor, "rows count"]]:
    """The `count` highest scores of each row, highest first, and their places.

    Among equal scores the earlier place comes first, which `torch.topk` does not promise; searching
    only the `count` chunks of the row that have the highest maxima also makes it faster (no place
    elsewhere can be among the best: `count` chunks hold one that precedes it).
    """
    rows, places = scores.shape
    n_chunks = -(-places // CHUNK)
    if n_chunks <= count:
        values, order = scores.sort(dim=1, descending=True, stable=True)
        return values[:, :count], order[:, :count]
    if places % CHUNK:
        scores = pad(scores, (0, n_chunks * CHUNK - places), value=-torch.inf)
    chunks = scores.view(rows, n_chunks, CHUNK)
    chosen = chunks.amax(dim=2).sort(dim=1, descending=True, stable=True).indices[:, :count]
    chosen = chosen.sort(dim=1).values  # [rows, count], in the order of the row
    candidates = chunks.gather(1, chosen.unsqueeze(2).expand(-1, -1, CHUNK)).flatten(1)
    values, order = candidates.sort(dim=1, descending=True, stable=True)
    values, order = values[:, :count], order[:, :count]
    return values, chosen.gather(1, order // CHUNK) * CHUNK + order % CHUNK
