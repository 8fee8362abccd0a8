"""Token vectors of a run's own training pairs: a token is near its translations and its like.

Counts of tokens beside each other and a factorization of them: a second of work where training
takes minutes. As in latent semantic analysis (Deerwester et al. 1990), of positive pointwise
mutual information (Levy and Goldberg 2014), over windows within a text and over the two texts of a
pair at once, so that both languages share one space.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention
from headway.core.layers import Layer
from headway.core.rows import SIDES
from headway.core.translation_task import Rows

WINDOW = 3
"""Tokens to the right that a token stands beside."""
MOST_BESIDE = 6_000_000
"""Tokens beside one another that are counted; of more, pairs are left out evenly."""
MOST_ENTRIES = 4_000_000
LEAST = 2
"""A token and one of the other text that met in fewer pairs are taken to have met by chance."""
SMOOTHED = 0.75
"""The power of counts of neighbours: else rare ones seem to say most (Levy et al. 2015)."""
EXTRA, ROUNDS = 32, 2
"""Columns beyond those that are kept, and powers: Halko et al. 2011, algorithm 4.4."""
CROSSING = 1.0
"""How much of what cross-attention looks at is added to the decoder's stream at first."""
Keys = Int[np.ndarray, " _"]
Counts = Int[np.ndarray, " _"]


def begun(data: Any, model: nn.Module) -> dict[str, Tensor]:
    """Weights that a model begins with in place of those that were drawn, by name; `data` are the
    `headway.translation.pairs.Pairs` of a run.

    Token embeddings get `pair_vectors`, as large as what was drawn. Cross-attention hands on what
    it looks at: W_O W_V = `CROSSING`, in the middle layers. As the output matrix is (or is near)
    the embedding's, each word of a source then makes its translations likelier from the first
    update on, and attention has only to learn which of them is next.
    """
    rows, n_tokens = data.prepared.train, len(data.vocabulary)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    found: dict[str, Tensor] = {}
    vectors: dict[int, Tensor] = {}
    for embedding in (m for m in model.modules() if isinstance(m, nn.Embedding)):
        if embedding.num_embeddings != n_tokens:
            continue
        drawn, size = embedding.weight.detach().float(), embedding.embedding_dim
        if size not in vectors:
            vectors[size] = torch.from_numpy(pair_vectors(rows, n_tokens, size))
        known = vectors[size].any(1, keepdim=True).to(drawn.device)
        length = drawn.square().mean().mul(size).sqrt()
        told = torch.where(known, vectors[size].to(drawn.device) * length, drawn)
        found[names[id(embedding.weight)]] = told
    layers = [m for m in model.modules() if isinstance(m, Layer) and m.cross_attention]
    for layer in layers[1:3]:
        found |= handed_on(layer.cross_attention, names)
    return found


def handed_on(attention: MultiHeadAttention | None, names: Mapping[int, str]) -> dict[str, Tensor]:
    """Weights with which attention gives `CROSSING` times what it looks at; none where it is of
    another size inside."""
    assert attention, "of a layer that has one"
    to_value, to_output = attention.to_value.weight, attention.to_output.weight
    if to_value.shape[0] != to_value.shape[1]:
        return {}
    turned = nn.init.orthogonal_(torch.empty(to_value.shape, device=to_value.device))
    return {names[id(to_value)]: turned, names[id(to_output)]: CROSSING * turned.T}


def pair_vectors(rows: Rows, n_tokens: int, size: int) -> Float[np.ndarray, "n_tokens size"]:
    """Vectors of length 1 by token; zeros for those of which nothing is known.

    Cosines say how alike tokens are; what each number says has no meaning of its own.
    """
    texts = {side: list(_some(rows, side)) for side in SIDES}
    both = [*texts["source"], *texts["target"]]
    near = informative(*counted(beside(both, n_tokens)), n_tokens, power=SMOOTHED)
    keys, met = counted(across(texts["source"], texts["target"], n_tokens))
    often = met >= LEAST
    translated = informative(keys[often], met[often], n_tokens)
    places, values = (np.concatenate(both, axis=-1) for both in zip(near, translated, strict=True))
    found = leading(places, values, n_tokens, size)
    found[np.setdiff1d(np.arange(n_tokens), places)] = 0  # but for what is lost in rounding
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-6)


def _some(rows: Rows, side: str) -> Iterator[Any]:
    lengths = {name: of.astype(np.int64) for name, of in rows.lengths.items()}
    n_beside = int((lengths["source"] * lengths["target"]).sum())
    step = max(1, -(-n_beside // MOST_BESIDE))
    return (np.asarray(rows[side][row], np.int64) for row in range(0, len(lengths[side]), step))


# -- what stands beside what: the left (or source's) token times the vocabulary, plus the other ---


def beside(texts: Sequence[Any], n_tokens: int) -> Keys:
    """Each token and each of the `WINDOW` after it in its text."""
    ids = np.concatenate(texts)
    text = np.repeat(np.arange(len(texts)), [len(one) for one in texts])
    found = []
    for apart in range(1, WINDOW + 1):
        same = text[:-apart] == text[apart:]
        found.append(ids[:-apart][same] * n_tokens + ids[apart:][same])
    return np.concatenate(found)


def across(sources: Sequence[Any], targets: Sequence[Any], n_tokens: int) -> Keys:
    """Each token of a source and each of its target, once a pair."""
    found = []
    for source, target in zip(sources, targets, strict=True):
        found.append((np.unique(source)[:, None] * n_tokens + np.unique(target)).ravel())
    return np.concatenate(found)


def counted(keys: Keys) -> tuple[Keys, Counts]:
    """How often each stands there."""
    found, n = np.unique(keys, return_counts=True)
    return found, n


def informative(
    keys: Keys, n: Counts, n_tokens: int, *, power: float = 1.0
) -> tuple[Int[np.ndarray, "2 entries"], Float[np.ndarray, " entries"]]:
    """Where a symmetric matrix is not zero, and what stands there: log p(a, b) / (p(a) p(b)^power),
    where that is positive. What tells most stays where there is too much."""
    left, right = keys // n_tokens, keys % n_tokens
    of_left = np.bincount(left, n, n_tokens)
    of_right = np.bincount(right, n, n_tokens) ** power
    bits = np.log(n / of_left[left] / of_right[right] * of_right.sum())
    kept = np.flatnonzero(bits > 0)
    if len(kept) > MOST_ENTRIES:
        kept = kept[np.argsort(-(bits[kept] * n[kept]), kind="stable")[:MOST_ENTRIES]]
    left, right, bits = left[kept], right[kept], bits[kept]
    places = np.stack([np.concatenate([left, right]), np.concatenate([right, left])])
    return places, np.concatenate([bits, bits])


def leading(
    places: Int[np.ndarray, "2 entries"],
    values: Float[np.ndarray, " entries"],
    n_tokens: int,
    size: int,
) -> Float[np.ndarray, "n_tokens size"]:
    """The leading eigenvectors of a symmetric matrix, each times the root of its value.

    What is not positive is left out: fewer than `size` may be other than zero.
    """
    with torch.sparse.check_sparse_tensor_invariants():
        weights = torch.from_numpy(values.astype(np.float32))
        size_of_all = n_tokens, n_tokens
        matrix = torch.sparse_coo_tensor(torch.from_numpy(places), weights, size_of_all).coalesce()
    random = torch.Generator().manual_seed(1)
    n_columns = min(size + EXTRA, n_tokens)
    basis: Tensor = torch.randn(n_tokens, n_columns, generator=random)
    for _ in range(1 + ROUNDS):
        basis = torch.linalg.qr(torch.sparse.mm(matrix, basis))[0]
    small = basis.T @ torch.sparse.mm(matrix, basis)
    value, vector = torch.linalg.eigh((small + small.T) / 2)
    value, vector = value.flip(0)[:size], vector.flip(1)[:, :size]
    found = torch.zeros(n_tokens, size)
    found[:, : len(value)] = basis @ vector * value.clamp(min=0).sqrt()
    # Turned, so that no number of a vector is larger than others: layers begin with all alike.
    turned = torch.linalg.qr(torch.randn(size, size, generator=random))[0]
    return (found @ turned).numpy()
