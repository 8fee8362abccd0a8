"""Laws of sampling: frequencies are the model's probabilities, and seeds repeat."""

import math
from collections import Counter

import pytest
import torch

from headway.core.beam import greedy
from headway.core.errors import HeadwayError
from headway.decoding.sampling import sample
from headway.translation import decoding as settings


@pytest.fixture(autouse=True)
def enough_draws_for_statistics(monkeypatch):
    monkeypatch.setitem(settings._MOST, "n_best", 10_000)


def seeded(seed=1):
    return torch.Generator().manual_seed(seed)


def probability(decoder, toy, source, ids, limit):
    """Of drawing these words when forbidden tokens are left out and the end is forced."""
    product = 1.0
    fed = [toy.BEGIN, *ids]
    for i, token in enumerate([*ids, toy.END]):
        if i < limit:
            following = decoder.log_probs(source, fed[: i + 1]).exp()
            product *= (following[token] / following[[toy.END, *toy.WORDS]].sum()).item()
    return product


def chi_square(counts, expected, n_draws):
    return sum(
        (counts[key] - n_draws * p) ** 2 / (n_draws * p) for key, p in expected.items() if p > 0
    )


def test_frequencies_are_the_probabilities_of_whole_sequences(toy):
    decoder = toy.Decoder(1, sharpness=0.7)
    source, limit, n_draws = toy.source[:1], 2, 4000
    [found] = toy.run(
        sample,
        decoder,
        source,
        max_lengths=torch.tensor([limit]),
        method="sampling",
        n_best=n_draws,
        generator=seeded(),
    )
    counts = Counter(tuple(hypothesis.ids) for hypothesis in found)
    expected = {
        tuple(ids): probability(decoder, toy, source[0].tolist(), ids, limit)
        for ids, _, _ in decoder.brute_force(source[0].tolist(), limit, 0.0)
    }
    assert sum(expected.values()) == pytest.approx(1.0, abs=1e-5)
    assert chi_square(counts, expected, n_draws) < 32.9  # 12 degrees of freedom, p = 0.001


FIXED = [0.0, 0.0, 0.4, 0.3, 0.2, 0.1]  # of the ids 0 to 5; 2 ends


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {2: 0.4, 3: 0.3, 4: 0.2, 5: 0.1}),
        ({"top_k": 2}, {2: 4 / 7, 3: 3 / 7}),
        ({"top_k": 100}, {2: 0.4, 3: 0.3, 4: 0.2, 5: 0.1}),
        ({"top_p": 0.6}, {2: 4 / 7, 3: 3 / 7}),
        ({"top_p": 0.8}, {2: 4 / 9, 3: 3 / 9, 4: 2 / 9}),
        ({"top_p": 0.01}, {2: 1.0}),
        ({"top_k": 3, "top_p": 0.5}, {2: 4 / 7, 3: 3 / 7}),
        ({"temperature": 0.5}, {2: 16 / 30, 3: 9 / 30, 4: 4 / 30, 5: 1 / 30}),
    ],
)
def test_temperature_and_cut_offs_give_the_distribution_they_promise(toy, options, expected):
    decoder = toy.Decoder(1)
    decoder.log_probs = lambda source, prefix: torch.tensor(FIXED).log()
    n_draws = 3000
    [found] = toy.run(
        sample,
        decoder,
        toy.source[:1],
        max_lengths=torch.tensor([1]),
        method="sampling",
        n_best=n_draws,
        generator=seeded(),
        **options,
    )
    counts = Counter((*hypothesis.ids, toy.END)[0] for hypothesis in found)
    assert set(counts) == set(expected)
    assert chi_square(counts, expected, n_draws) < 16.3  # 3 degrees of freedom, p = 0.001


@pytest.mark.parametrize("options", [{}, {"top_k": 2}, {"top_p": 0.6}])
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_model_that_gives_no_numbers_is_said_to_be_damaged(toy, number, options):
    decoder = toy.Decoder(1)
    decoder.log_probs = lambda source, prefix: torch.tensor([0.0, 0.0, 1.0, number, 0.0, 0.0])
    with pytest.raises(HeadwayError, match="damaged or its training diverged"):
        toy.run(sample, decoder, toy.source, max_lengths=toy.limits, **options)


@pytest.mark.parametrize("options", [{"temperature": 1e-4}, {"top_k": 1}, {"top_p": 1e-6}])
def test_sampling_only_the_most_likely_token_equals_greedy(toy, options):
    for seed in range(10):
        decoder = toy.Decoder(seed)
        common = {"max_lengths": toy.limits, "length_penalty": 0.6}
        drawn = toy.run(sample, decoder, toy.source, **common, **options, generator=seeded())
        assert drawn == toy.run(greedy, decoder, toy.source, **common)


def test_the_same_seed_draws_the_same_and_another_draws_differently(toy):
    decoder = toy.Decoder(1, sharpness=0.3)

    def draw(seed):
        return toy.run(
            sample,
            decoder,
            toy.source,
            max_lengths=toy.limits,
            n_best=5,
            generator=seeded(seed),
        )

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_forbidden_tokens_and_limits_hold_and_lists_are_sorted(toy):
    for seed in range(10):
        found = toy.run(
            sample,
            toy.Decoder(seed),
            toy.source,
            forbidden=(0, 1, 4),
            max_lengths=toy.limits,
            n_best=20,
            generator=seeded(seed),
        )
        for hypotheses, limit in zip(found, toy.limits.tolist(), strict=True):
            assert len(hypotheses) == 20
            assert all(set(hypothesis.ids) <= {3, 5} for hypothesis in hypotheses)
            assert all(len(hypothesis.ids) <= limit for hypothesis in hypotheses)
            scores = [hypothesis.score for hypothesis in hypotheses]
            assert scores == sorted(scores, reverse=True)


def test_log_probabilities_are_the_models_own_and_attention_follows(toy):
    decoder = toy.Decoder(2)
    found = toy.run(
        sample,
        decoder,
        toy.source,
        max_lengths=toy.limits,
        n_best=4,
        temperature=2.0,
        top_k=3,
        generator=seeded(),
        want_attention=True,
    )
    for source, hypotheses in zip(toy.source.tolist(), found, strict=True):
        for hypothesis in hypotheses:
            expected = decoder.token_log_probs(source, hypothesis.ids)
            assert hypothesis.token_log_probs == pytest.approx(expected, abs=1e-6)
            assert math.isclose(sum(expected), hypothesis.log_prob, abs_tol=1e-5)
            fed = [toy.BEGIN, *hypothesis.ids]
            weights = [decoder.attention(source, fed[: i + 1]) for i in range(len(fed))]
            torch.testing.assert_close(hypothesis.attention, torch.stack(weights))
