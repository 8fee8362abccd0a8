"""Counts are those of brute force; smoothing equals what nltk, and brute force, make of a text."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from counted import BEGIN, END, UNKNOWN, BruteForce, adjusted, all_grams, counts_of, model_of
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.lm import MLE, KneserNeyInterpolated, Laplace, Vocabulary
from nltk.util import everygrams

from headway.language_models import estimation
from headway.language_models.estimation import (
    NgramCounts,
    modified_discounts,
    single_discount,
    smoothed,
)
from headway.language_models.ngram import Ngram, NgramConfig

A, B, C = 4, 5, 6


def table(counts: NgramCounts, order: int) -> dict[tuple[int, ...], int]:
    """The n-grams of an order as words, with their counts."""
    size = counts.n_grams[0]
    names = [(word,) for word in range(size)]
    numbers = counts.counts[0]
    for n in range(2, order + 1):
        keys, numbers = counts.keys[n - 1], counts.counts[n - 1]
        assert (np.diff(keys) > 0).all()
        assert len(keys) == counts.n_grams[n - 1]
        names = [(*names[key // size], int(key % size)) for key in keys]
    return {name: int(n) for name, n in zip(names, numbers, strict=True) if n}


THREE = [[A, B], [A, B, C], [B]]  # "a b", "a b c", "b"


def test_counts_of_three_sentences_by_hand():
    counts = counts_of(THREE, 3, 7)
    assert table(counts, 1) == {(BEGIN,): 3, (END,): 3, (A,): 2, (B,): 3, (C,): 1}
    assert table(counts, 2) == {
        (BEGIN, A): 2, (BEGIN, B): 1, (A, B): 2, (B, C): 1, (B, END): 2, (C, END): 1,
    }  # fmt: skip
    assert table(counts, 3) == {
        (BEGIN, A, B): 2, (BEGIN, B, END): 1, (A, B, END): 1, (A, B, C): 1, (B, C, END): 1,
    }  # fmt: skip
    assert counts.n_tokens == 6 + 3
    assert counts.n_grams == (7, 6, 5)


def test_contexts_are_counted_by_hand_but_at_the_beginning_of_a_line():
    counts = counts_of(THREE, 3, 7, continuations=True)
    # b stands after <s> and a; </s> after b and c. <s> stands after nothing: it came three times.
    assert table(counts, 1) == {(BEGIN,): 3, (END,): 2, (A,): 1, (B,): 2, (C,): 1}
    assert table(counts, 2) == {
        (BEGIN, A): 2, (BEGIN, B): 1, (A, B): 1, (B, C): 1, (B, END): 2, (C, END): 1,
    }  # fmt: skip
    assert table(counts, 3) == table(counts_of(THREE, 3, 7), 3)


@settings(max_examples=25)
@given(
    rows=st.lists(st.lists(st.integers(4, 9), max_size=7), min_size=1, max_size=12),
    order=st.integers(1, 6),
    continuations=st.booleans(),
)
def test_counts_are_those_of_brute_force(rows, order, continuations):
    expected = all_grams(rows, order)
    counts = counts_of(rows, order, 10, continuations=continuations)
    for n, of_order in enumerate(adjusted(expected) if continuations else expected, start=1):
        assert table(counts, n) == dict(of_order)


SIZE = 14
WORDS = [UNKNOWN, END, *range(4, SIZE)]


def sentences(n: int, seed: int = 1) -> list[list[int]]:
    """Of few words, the low ones far more often."""
    random = np.random.default_rng(seed)
    return [
        [int(word) for word in 4 + random.geometric(0.3, random.integers(1, 9)).clip(max=9)]
        for _ in range(n)
    ]


def probability(model: Ngram, word: int, context: tuple[int, ...]) -> float:
    fed, wanted = torch.tensor([context]), torch.tensor([[*context[1:], word]])
    return model.log_probs(fed, wanted).log_probs[0, -1].double().exp().item()


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [3, 400])
def test_modified_kneser_ney_equals_brute_force_over_dictionaries(n, order, tmp_path: Path):
    """Three sentences tell no discounts: the usual ones are taken. 400 do at most orders."""
    rows = sentences(n)
    model = model_of(rows, SIZE, tmp_path, order=order, smoothing="modified-kneser-ney")
    by_hand = BruteForce(rows, order, len(WORDS))
    random = np.random.default_rng(2)
    for _ in range(150):
        context = (BEGIN, *random.choice(WORDS[2:], random.integers(0, 6)).tolist())
        word = int(random.choice(WORDS))
        cut = context[max(0, len(context) - order + 1) :]
        expected = by_hand.probability(word, cut)
        assert probability(model, word, context) == pytest.approx(expected, rel=2e-6)


def nltk_model(kind, rows, order: int, **options):
    names = [["<s>", *map(str, row), "</s>"] for row in rows]
    vocabulary = Vocabulary([str(w) for w in range(4, SIZE)] + ["</s>"], unk_label="<unk>")
    model = kind(order, vocabulary=vocabulary, **options)
    model.fit(everygrams(name, max_len=order) for name in names)
    return model


def named(word: int) -> str:
    return {UNKNOWN: "<unk>", BEGIN: "<s>", END: "</s>"}.get(word, str(word))


def test_interpolated_kneser_ney_equals_nltks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """nltk has one discount for all orders, and words by themselves without one.

    It knows no context at the beginning of a line in lower orders, so those are left out.
    """
    rows, order, discount = sentences(60), 3, 0.3
    monkeypatch.setattr(estimation, "single_discount", lambda counts: (discount,))
    model = model_of(rows, SIZE, tmp_path, order=order, smoothing="kneser-ney")
    counts = counts_of(rows, order, SIZE, continuations=True).counts[0]
    counts[BEGIN] = 0
    with np.errstate(divide="ignore"):
        alone = np.log10(counts / counts.sum()).astype(np.float32)
    model.weights(1).copy_(torch.from_numpy(alone))
    other = nltk_model(KneserNeyInterpolated, rows, order, discount=discount)
    seen = {row[i : i + 2] for r in rows for row in [(BEGIN, *r)] for i in range(len(r))}
    for context in sorted(seen)[:25]:
        fed = context if context[0] == BEGIN else (BEGIN, 4, *context)
        for word in (END, 5, 6, 9):
            expected = other.score(named(word), [named(w) for w in context])
            assert probability(model, word, fed) == pytest.approx(expected, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(("kind", "name"), [(Laplace, "add-one"), (MLE, "none")])
def test_add_one_and_maximum_likelihood_equal_nltks(kind, name, tmp_path: Path):
    rows = sentences(40)
    model = model_of(rows, SIZE, tmp_path, order=2, smoothing=name)
    other = nltk_model(kind, rows, 2)
    # nltk's vocabulary has <unk> and </s> as well, and no <s>.
    assert len(other.vocab) == model.n_predictable
    for context, word in product((5, 6, 7), (UNKNOWN, END, 4, 6, 12)):
        expected = other.score(named(word), [named(context)])
        assert probability(model, word, (BEGIN, context)) == pytest.approx(expected, rel=1e-5)


def test_discounts_are_chen_and_goodmans_by_hand():
    # Y = 10 / (10 + 2 * 5) = 1/2; D1 = 1 - 2 Y 5/10, D2 = 2 - 3 Y 3/5, D3+ = 3 - 4 Y 2/3
    assert modified_discounts([10, 5, 3, 2]) == pytest.approx((0.5, 1.1, 5 / 3))
    assert single_discount([10, 5, 3, 2]) == pytest.approx((0.5,))


@pytest.mark.parametrize("odd", [[0, 5, 3, 2], [10, 5, 3, 0], [1, 1, 50, 1], [1, 9, 1, 99]])
def test_odd_counts_of_counts_tell_no_discounts(odd: list[int]):
    assert modified_discounts(odd) is None


def test_the_usual_discounts_are_said_where_they_are_taken():
    said: list[str] = []
    counts = counts_of([[4, 5]], 2, SIZE, continuations=True)
    smoothed(counts, NgramConfig(2), padding=0, say=said.append)
    assert said == [
        "order 1: [3, 0, 0, 0] n-grams counted 1, 2, 3 and 4 times tell no discounts; taken are "
        "0.5, 1.0, 1.5",
        "order 2: [3, 0, 0, 0] n-grams counted 1, 2, 3 and 4 times tell no discounts; taken are "
        "0.5, 1.0, 1.5",
    ]
