"""Vectors of a run's own pairs: a factorization that another library makes alike; translations are
near; and where models begin by them."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from headway.models import MODELS
from headway.translation import pair_vectors as made_of
from headway.translation.pair_vectors import CROSSING, begun, pair_vectors

FIRST = 4
"""The first token that is no marker."""
N_WORDS = 24
N_TOKENS = FIRST + 2 * N_WORDS + 3
"""Three tokens stand in no text."""


class Some:
    """A store of pairs of ids."""

    def __init__(self, source: list[list[int]], target: list[list[int]]) -> None:
        self.sides = {"source": source, "target": target}

    @property
    def lengths(self) -> Mapping[str, Any]:
        return {name: np.array([len(one) for one in of]) for name, of in self.sides.items()}

    def __getitem__(self, side: str) -> Any:
        return [np.array(one) for one in self.sides[side]]


def pairs(n: int = 400, seed: int = 0) -> Some:
    """Word i is translated by word i + `N_WORDS`; the order is another."""
    random = np.random.default_rng(seed)
    sources = [random.choice(N_WORDS, random.integers(2, 7), replace=False) for _ in range(n)]
    targets = [random.permutation(one) + N_WORDS for one in sources]
    return Some(*([(one + FIRST).tolist() for one in side] for side in (sources, targets)))


def data(store: Some) -> Any:
    """As a run has it."""
    return SimpleNamespace(prepared=SimpleNamespace(train=store), vocabulary=range(N_TOKENS))


def test_words_are_nearest_to_their_translations():
    vectors = pair_vectors(pairs(), N_TOKENS, 16)
    source, target = vectors[FIRST : FIRST + N_WORDS], vectors[FIRST + N_WORDS : -3]
    assert (source @ target.T).argmax(1).tolist() == list(range(N_WORDS))
    assert (target @ source.T).argmax(1).tolist() == list(range(N_WORDS))


def test_known_tokens_have_length_one_and_others_zeros_and_twice_is_the_same():
    vectors = pair_vectors(pairs(), N_TOKENS, 16)
    length = np.linalg.norm(vectors, axis=1)
    assert length[FIRST:-3] == pytest.approx(1, abs=1e-5)
    assert not vectors[:FIRST].any()
    assert not vectors[-3:].any()
    assert np.array_equal(vectors, pair_vectors(pairs(), N_TOKENS, 16))


def dense(store: Some, size: int) -> np.ndarray:
    """The same by loops, logarithms of whole matrices, and numpy's eigenvectors."""
    near, over = np.zeros((N_TOKENS, N_TOKENS)), np.zeros((N_TOKENS, N_TOKENS))
    for source, target in zip(store.sides["source"], store.sides["target"], strict=True):
        for text in (source, target):
            for i, left in enumerate(text):
                for right in text[i + 1 : i + 1 + made_of.WINDOW]:
                    near[left, right] += 1
        for one in {*source}:
            for other in {*target}:
                over[one, other] += 1
    over[over < made_of.LEAST] = 0
    whole = np.zeros((N_TOKENS, N_TOKENS))
    for counts, power in ((near, made_of.SMOOTHED), (over, 1.0)):
        rows, columns = counts.sum(1, keepdims=True), counts.sum(0, keepdims=True) ** power
        with np.errstate(divide="ignore", invalid="ignore"):
            told = np.log(counts * columns.sum() / (rows * columns))
        told = np.where(told > 0, told, 0)
        whole += told + told.T
    values, columns = np.linalg.eigh(whole)
    found = columns[:, ::-1][:, :size] * np.sqrt(np.clip(values[::-1][:size], 0, None))
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


def test_cosines_are_those_of_the_leading_eigenvectors_of_a_dense_matrix():
    store = pairs(200, seed=3)
    ours, theirs = pair_vectors(store, N_TOKENS, 12), dense(store, 12)
    assert ours @ ours.T == pytest.approx(theirs @ theirs.T, abs=2e-3)


def test_what_is_left_out_of_a_large_corpus_is_left_out_evenly(monkeypatch):
    monkeypatch.setattr(made_of, "MOST_BESIDE", 3_000)
    store = pairs(1_000)
    every = -(-int((store.lengths["source"] * store.lengths["target"]).sum()) // 3_000)
    fewer = Some(*(side[::every] for side in store.sides.values()))
    assert every > 1
    assert np.array_equal(pair_vectors(store, N_TOKENS, 16), pair_vectors(fewer, N_TOKENS, 16))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_begins_there_with_numbers_as_large_as_were_drawn(name):
    config, model = MODELS[name]
    made = model(config(d_model=32), vocabulary_size=N_TOKENS)
    drawn = {key: one.detach().clone() for key, one in made.named_parameters()}
    weights = begun(data(pairs(100)), made)
    embeddings = [key for key, one in weights.items() if len(one) == N_TOKENS]
    assert embeddings
    for key in weights:
        assert weights[key].shape == drawn[key].shape
        assert not torch.equal(weights[key], drawn[key])
    for key in embeddings:
        assert torch.equal(weights[key][-3:], drawn[key][-3:]), "of them nothing is known"
        sizes = [one[FIRST:-3].square().mean().sqrt() for one in (weights[key], drawn[key])]
        assert sizes[0] == pytest.approx(float(sizes[1]), rel=0.1)


def test_cross_attention_hands_on_what_it_looks_at():
    config, model = MODELS["transformer"]
    made = model(config(d_model=32, heads=4), vocabulary_size=N_TOKENS)
    made.load_state_dict(begun(data(pairs(100)), made), strict=False)
    told = 0
    for layer in made.decoder:
        across = layer.cross_attention
        whole = across.to_output.weight @ across.to_value.weight
        told += torch.allclose(whole, CROSSING * torch.eye(32), atol=1e-5)
    assert told == 2
