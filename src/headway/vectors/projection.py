"""Vectors as places on a plane: principal components, or t-SNE."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

PERPLEXITY = 10.0
"""How many neighbours a word has, in the sense of t-SNE; fewer where there are few words."""
_UPDATES, _EXAGGERATED, _EXAGGERATION = 1_000, 250, 12.0
KEPT = 5
"""So many nearest words are looked for on the plane."""


class Plane(NamedTuple):
    """Where vectors lie when they are drawn."""

    places: Float[NDArray, "words 2"]
    variance: float | None
    """The share of their variance that the plane holds; None where places are no projection."""


def components(vectors: Float[NDArray, "words size"]) -> Plane:
    """The two directions in which vectors differ most (Pearson 1901), by singular values."""
    centred = np.asarray(vectors, np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    left, singular, right = np.linalg.svd(centred, full_matrices=False)
    signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(1)])  # the same everywhere
    places = np.zeros((len(centred), 2))
    two = min(2, len(singular))
    places[:, :two] = (left * singular * signs)[:, :two]
    total = float((singular**2).sum())
    return Plane(places, float((singular[:2] ** 2).sum()) / total if total else 1.0)


def tsne(vectors: Float[NDArray, "words size"], perplexity: float = PERPLEXITY) -> Plane:
    """Neighbours stay neighbours, distances between groups mean little (van der Maaten and Hinton
    2008, exactly: time and memory grow with the square of the words). Begins with the principal
    components, so nothing is drawn by chance and the same vectors give the same picture."""
    n_words = len(vectors)
    if n_words < 4:
        return components(vectors)._replace(variance=None)
    near = neighbourhoods(vectors, min(perplexity, (n_words - 1) / 3))
    near = np.maximum((near + near.T) / (2 * n_words), 1e-12)
    places = components(vectors).places
    places *= 1e-4 / max(places[:, 0].std(), 1e-30)
    speed, gains = np.zeros_like(places), np.ones_like(places)
    rate = max(n_words / _EXAGGERATION / 4, 10.0)
    for update in range(_UPDATES):
        early = update < _EXAGGERATED
        if update == _EXAGGERATED:
            speed, gains = np.zeros_like(places), np.ones_like(places)
        slope = divergence_gradient(near * (_EXAGGERATION if early else 1.0), places)
        gains = np.where(speed * slope < 0, gains + 0.2, gains * 0.8).clip(0.01)
        speed = (0.5 if early else 0.8) * speed - rate * gains * slope
        places = places + speed
    return Plane(places - places.mean(0), None)


METHODS = {"components": components, "tsne": tsne}


def neighbourhoods(
    vectors: Float[NDArray, "words size"], perplexity: float
) -> Float[NDArray, "words words"]:
    """p(j given i): how likely each word would take each other for its neighbour, by a normal
    distribution around it that is as wide as the perplexity asks (equation 1); rows sum to 1."""
    apart = squared_distances(vectors)
    np.fill_diagonal(apart, np.inf)
    apart -= apart.min(1, keepdims=True)
    low, high = np.full(len(apart), -40.0), np.full(len(apart), 40.0)  # exponents of precisions
    for _ in range(60):
        middle = (low + high) / 2
        shares = np.exp(-apart * np.exp(middle)[:, None])
        shares /= shares.sum(1, keepdims=True)
        entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum(1)
        too_wide = entropy > np.log(perplexity)
        low, high = np.where(too_wide, middle, low), np.where(too_wide, high, middle)
    return shares


def divergence_gradient(
    near: Float[NDArray, "words words"], places: Float[NDArray, "words 2"]
) -> Float[NDArray, "words 2"]:
    """Of KL(near || q) by the places, where q is Student's t of their distances (equation 5)."""
    weights = 1 / (1 + squared_distances(places))
    np.fill_diagonal(weights, 0.0)
    pull = (near - np.maximum(weights / weights.sum(), 1e-12)) * weights
    return 4 * (pull.sum(1)[:, None] * places - pull @ places)


def squared_distances(vectors: Float[NDArray, "words size"]) -> Float[NDArray, "words words"]:
    """Between each two of some vectors; 0 from each to itself."""
    exact = np.asarray(vectors, np.float64)
    squares = (exact**2).sum(1)
    apart = np.maximum(squares[:, None] + squares - 2 * exact @ exact.T, 0.0)
    np.fill_diagonal(apart, 0.0)
    return apart


def kept(vectors: Float[NDArray, "words size"], places: Float[NDArray, "words 2"]) -> float:
    """Of each word's nearest words, the share that are also its nearest on the plane."""
    most = min(KEPT, len(places) - 1)
    found = []
    for each in (vectors, places):
        apart = squared_distances(each)
        np.fill_diagonal(apart, np.inf)
        found.append(np.argsort(apart, axis=1, kind="stable")[:, :most])
    both = (set(one) & set(other) for one, other in zip(*found, strict=True))
    return sum(map(len, both)) / (most * len(places)) if most else 1.0
