"""Kernel and plain updates do what their definition says, each by the other and by autograd."""

import os
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sanitizing import COMPILER

from headway.core.errors import DataError
from headway.engine import compiling, levels
from headway.engine.compiling import sources_of
from headway.word2vec.kernel import KernelUpdates, kernel_library, opened
from headway.word2vec.plain import PlainUpdates
from headway.word2vec.updates import Objective, Updates, updates

Floats = NDArray[np.float32]
NEEDS_C = pytest.mark.skipif(isinstance(kernel_library(), str), reason="no C compiler here")
DIRECTIONS: list[Literal["cbow", "skip-gram"]] = ["cbow", "skip-gram"]
FIRST = 4
"""Of the words, behind the markers."""


def rows(n_words: int, size: int, seed: int) -> Floats:
    return (0.3 * np.random.default_rng(seed).normal(size=(n_words, size))).astype(np.float32)


def lines(*texts: list[int]) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    lengths = np.array([len(text) for text in texts], dtype=np.int32)
    return np.array([word for text in texts for word in text], dtype=np.uint32), lengths


BOTH = pytest.mark.parametrize(
    "want_c", [pytest.param(True, marks=NEEDS_C), False], ids=["c", "plain"]
)


@BOTH
@pytest.mark.parametrize("hierarchical", [False, True], ids=["sampling", "tree"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("size", [1, 7, 16, 100])
def test_an_update_is_a_step_down_the_gradient(
    direction: Literal["cbow", "skip-gram"], hierarchical: bool, size: int, want_c: bool
) -> None:
    """Of -sum ln sigmoid(+-), by autograd; in CBOW each word gets the whole gradient of the mean.

    All noise is one word, so that what is drawn is known, and the words of the line are others.
    """
    a, b, c, noise, rate = 4, 5, 6, 7, 0.1
    counts = np.array([0, 0, 0, 0, 4, 2, 1, 10**18])
    objective = Objective(direction, window=1, negatives=3, hierarchical=hierarchical, thin=0)
    vectors, outputs = rows(8, size, 1), rows(8, size, 2)
    q, w = (torch.tensor(array, dtype=torch.float64) for array in (vectors, outputs))
    # node 0 joins the rarest two, node 1 that and the next, node 2 that and the frequent one
    ways = {a: [(2, -1), (1, 1)], b: [(2, -1), (1, -1), (0, 1)], c: [(2, -1), (1, -1), (0, -1)]}
    nats = 0.0
    for centre, context in ((a, [b]), (b, [a, c]), (c, [b])):
        targets = ways[centre] if hierarchical else [(centre, 1), *[(noise, -1)] * 3]
        row, sign = torch.tensor(targets).T
        q.requires_grad_()
        w.requires_grad_()
        given = q[context].mean(0, keepdim=True) if direction == "cbow" else q[context]
        loss = -torch.nn.functional.logsigmoid(sign * (given @ w[row].T)).sum()
        of_q, of_w = torch.autograd.grad(loss, (q, w))
        of_q = of_q * (len(context) if direction == "cbow" else 1)
        q, w, nats = (q - rate * of_q).detach(), (w - rate * of_w).detach(), nats + loss.item()
    learner = updates(vectors, outputs, counts, objective, seed=1, threads=1, want_c=want_c)
    if isinstance(learner, PlainUpdates):
        learner.centres = 1
    counted = learner.update(*lines([a, b, c]), rate, rate)
    assert isinstance(learner, KernelUpdates) == want_c
    np.testing.assert_allclose(vectors, q.numpy(), atol=2e-6)
    np.testing.assert_allclose(outputs, w.numpy(), atol=2e-6)
    assert counted[:3] == (3, 3, 3 if direction == "cbow" else 4)
    assert counted.nats == pytest.approx(nats, rel=1e-5)


@NEEDS_C
@pytest.mark.parametrize(
    ("size", "window", "negatives", "direction", "hierarchical"),
    [
        (1, 1, 1, "cbow", False),
        (1, 1, 1, "skip-gram", True),
        (7, 50, 20, "cbow", True),
        (7, 50, 20, "skip-gram", False),
        (100, 5, 5, "cbow", False),
        (100, 5, 5, "skip-gram", True),
        (300, 12, 7, "cbow", True),
        (300, 12, 7, "skip-gram", False),
    ],
)
def test_the_kernel_and_plain_updates_learn_the_same(
    size: int,
    window: int,
    negatives: int,
    direction: Literal["cbow", "skip-gram"],
    hierarchical: bool,
) -> None:
    """The same words stay, the same windows and noise are drawn; what the kernel cuts in blocks
    differs by the square of the rate."""
    n_words, rate, draw = 500, 1e-3, np.random.default_rng(3)
    counts = np.concatenate([np.zeros(4, np.int64), draw.integers(1, 1000, n_words - 4)])
    objective = Objective(direction, window, negatives, hierarchical, thin=1e-3)
    words = draw.permutation(np.arange(FIRST, n_words)).tolist()
    text = lines([1, *words[:30], 0, 2], [], words[30:31], words[31:33], words[33:300])
    learned, counted = [], []
    for want_c in (True, False):
        vectors, outputs = rows(n_words, size, 1), rows(n_words, size, 2)
        learner = updates(vectors, outputs, counts, objective, seed=5, threads=1, want_c=want_c)
        if isinstance(learner, PlainUpdates):
            learner.centres = 1
        counted.append(learner.update(*text, rate, rate / 2))
        learned.append((vectors, outputs, learner.states.all()))
    (vectors, outputs, state), (other_vectors, other_outputs, other_state) = learned
    changed = np.abs(vectors - rows(n_words, size, 1))
    assert changed.max() > 1e-4
    np.testing.assert_allclose(vectors, other_vectors, atol=0.03 * changed.max())
    np.testing.assert_allclose(outputs, other_outputs, atol=0.03 * changed.max())
    assert (state == other_state).all()
    assert counted[0][:3] == counted[1][:3]
    assert counted[0].n_words == 303
    assert 10 < counted[0].n_kept < 300
    assert counted[0].nats == pytest.approx(counted[1].nats, rel=1e-3)


def taught(learner: Updates, n_words: int, stretches: range) -> None:
    """Stretches of a text of four interleaved topics: word i is of topic i mod 4."""
    for stretch in stretches:
        draw = np.random.default_rng(stretch)
        topics = draw.integers(0, 4, (200, 1))
        words = FIRST + 4 * draw.integers(0, (n_words - FIRST) // 4, (200, 10)) + topics
        learner.update(words.flatten().astype(np.uint32), np.full(200, 10, np.int32), 0.05, 0.05)


@BOTH
@pytest.mark.parametrize("hierarchical", [False, True], ids=["sampling", "tree"])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_neighbours_are_of_ones_own_topic(
    direction: Literal["cbow", "skip-gram"], hierarchical: bool, want_c: bool
) -> None:
    n_words, size = FIRST + 40, 16
    counts = np.array([0] * FIRST + [100] * 40)
    vectors, outputs = rows(n_words, size, 1) / size, np.zeros((n_words, size), np.float32)
    objective = Objective(direction, 5, 5, hierarchical, thin=0)
    learner = updates(vectors, outputs, counts, objective, seed=1, threads=1, want_c=want_c)
    taught(learner, n_words, range(15))
    words = vectors[FIRST:] / np.linalg.norm(vectors[FIRST:], axis=1, keepdims=True)
    cosines = words @ words.T - 2 * np.eye(40)
    nearest = np.argsort(-cosines, axis=1)[:, :9]
    assert (nearest % 4 == np.arange(40)[:, None] % 4).mean() > 0.95
    np.testing.assert_array_equal(vectors[:FIRST], rows(n_words, size, 1)[:FIRST] / size)


@BOTH
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_thread_repeats_to_the_last_bit_stopped_or_not(
    direction: Literal["cbow", "skip-gram"], want_c: bool
) -> None:
    n_words, size = FIRST + 40, 20
    counts = np.array([0] * FIRST + [10] * 40)
    objective = Objective(direction, 5, 5, hierarchical=False, thin=0.01)

    def learned(*parts: range) -> tuple[Floats, Floats]:
        vectors, outputs, state = rows(n_words, size, 1), rows(n_words, size, 2), None
        for part in parts:  # a new object each, as in a new process
            learner = updates(vectors, outputs, counts, objective, seed=2, threads=1, want_c=want_c)
            if state is not None:
                learner.states.set(state)
            taught(learner, n_words, part)
            state = learner.states.all()
        return vectors, outputs

    once = learned(range(4))
    for again in (learned(range(4)), learned(range(1), range(1, 4))):
        np.testing.assert_array_equal(again[0], once[0])
        np.testing.assert_array_equal(again[1], once[1])


@BOTH
def test_ids_and_lengths_out_of_range_are_refused_and_change_nothing(want_c: bool) -> None:
    vectors, outputs = rows(6, 8, 1), rows(6, 8, 2)
    counts = np.array([0, 0, 0, 0, 1, 1])
    objective = Objective("cbow", 5, 5, hierarchical=False, thin=0)
    learner = updates(vectors, outputs, counts, objective, seed=1, threads=2, want_c=want_c)
    ids = np.array([4, 5, 6], dtype=np.uint32)
    with pytest.raises(DataError, match="below the vocabulary's size of 6; got 6"):
        learner.update(ids, np.array([3], np.int32), 0.1, 0.1)
    for lengths, said in (([2], "got 2"), ([4], "got 4"), ([4, -1], "a negative one")):
        with pytest.raises(DataError, match=said):
            learner.update(ids - 1, np.array(lengths, np.int32), 0.1, 0.1)
    with pytest.raises(DataError, match="as many threads as before"):
        learner.states.set(learner.states.all()[:1])
    np.testing.assert_array_equal(vectors, rows(6, 8, 1))
    assert learner.update(ids[:0], np.array([], np.int32), 0.1, 0.1).n_words == 0


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="names x86-64's instruction sets")
@NEEDS_C
@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3"])
def test_narrower_vectors_learn_the_same(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "narrow.so"
    compiling.compiled(COMPILER, sources_of("word2vec")[0], file, "-O0", f"-march={level}")
    if level == "x86-64-v3" and "avx2" not in levels.processor_features():
        pytest.skip("this processor has no AVX2")
    n_words, size = FIRST + 40, 23
    counts = np.array([0] * FIRST + [10] * 40)
    wide, narrow = kernel_library(), opened(file)
    for direction in DIRECTIONS:
        objective = Objective(direction, 5, 5, hierarchical=False, thin=0.01)
        learned = []
        for library in (wide, narrow):
            monkeypatch.setattr("headway.word2vec.updates.kernel_library", lambda got=library: got)
            vectors, outputs = rows(n_words, size, 1), rows(n_words, size, 2)
            learner = updates(vectors, outputs, counts, objective, seed=2, threads=1)
            taught(learner, n_words, range(1))
            learned.append((vectors, outputs))
        np.testing.assert_allclose(learned[0], learned[1], atol=1e-4)
