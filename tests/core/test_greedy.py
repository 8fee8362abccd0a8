"""Laws of greedy search."""

import math

import pytest
import torch

from headway.core.beam import greedy


def test_every_token_is_the_most_likely_one_that_may_come(toy):
    for seed in range(10):
        decoder = toy.Decoder(seed)
        found = toy.run(greedy, decoder, toy.source, max_lengths=toy.limits)
        for source, limit, [hypothesis] in zip(
            toy.source.tolist(), toy.limits.tolist(), found, strict=True
        ):
            ids = []
            while len(ids) < limit:
                scores = decoder.log_probs(source, [toy.BEGIN, *ids]).tolist()
                token = max((toy.END, *toy.WORDS), key=lambda i: scores[i])
                if token == toy.END:
                    break
                ids.append(token)
            assert hypothesis.ids == ids
            expected = decoder.token_log_probs(source, ids)
            assert hypothesis.token_log_probs == pytest.approx(expected, abs=1e-6)


def test_the_score_is_divided_by_the_penalty_with_the_end_marker_counted(toy):
    decoder = toy.Decoder(3)
    common = {"max_lengths": toy.limits}
    for [plain], [penalized] in zip(
        toy.run(greedy, decoder, toy.source, **common),
        toy.run(greedy, decoder, toy.source, **common, length_penalty=0.6),
        strict=True,
    ):
        assert plain.score == plain.log_prob == penalized.log_prob
        length = len(plain.ids) + 1
        assert penalized.score == pytest.approx(plain.log_prob / ((5 + length) / 6) ** 0.6)


def test_a_hypothesis_at_its_limit_is_closed_by_the_end_marker_at_its_own_probability(toy):
    endless = toy.Decoder(1)
    endless.log_probs = lambda source, prefix: torch.tensor([0.0, 0.0, 0.01, 0.9, 0.05, 0.04]).log()
    [[hypothesis]] = toy.run(greedy, endless, toy.source[:1], max_lengths=torch.tensor([3]))
    assert hypothesis.ids == [3, 3, 3]
    expected = torch.tensor([0.9, 0.9, 0.9, 0.01]).log().tolist()
    assert hypothesis.token_log_probs == pytest.approx(expected)


def test_finished_rows_leave_the_batch_and_nothing_else_is_copied(toy):
    decoder = toy.Decoder(6)
    found = toy.run(greedy, decoder, toy.source, max_lengths=torch.tensor([1, 3, 5]))
    lengths = [len(hypothesis.ids) + 1 for [hypothesis] in found]
    assert decoder.rows_per_step == [
        sum(length > step for length in lengths) for step in range(max(lengths))
    ]
    n_departures = len(set(lengths)) - 1  # the last to end need no copy
    assert len(decoder.selections) == n_departures


def test_attention_has_a_row_for_each_token_and_the_end_marker(toy):
    decoder = toy.Decoder(5)
    for source, [hypothesis] in zip(
        toy.source.tolist(),
        toy.run(greedy, decoder, toy.source, max_lengths=toy.limits, want_attention=True),
        strict=True,
    ):
        fed = [toy.BEGIN, *hypothesis.ids]
        weights = [decoder.attention(source, fed[: i + 1]) for i in range(len(fed))]
        torch.testing.assert_close(hypothesis.attention, torch.stack(weights))


def test_without_scores_the_tokens_are_the_same_and_no_number_is_made_up(toy):
    for seed in range(10):
        decoder = toy.Decoder(seed, shifted=True)
        scored = toy.run(greedy, decoder, toy.source, toy.limits)
        plain = toy.run(greedy, decoder, toy.source, toy.limits, want_scores=False)
        for [one], [other] in zip(scored, plain, strict=True):
            assert one.ids == other.ids
            assert math.isnan(other.score)
            assert math.isnan(other.log_prob)
            assert other.token_log_probs == []


def test_a_constant_in_a_row_of_logits_changes_nothing(toy):
    for seed in range(5):
        [[one], *_] = toy.run(greedy, toy.Decoder(seed), toy.source, toy.limits)
        [[other], *_] = toy.run(greedy, toy.Decoder(seed, shifted=True), toy.source, toy.limits)
        assert one.ids == other.ids
        assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-5)


def test_few_that_have_ended_are_carried_along_and_change_nothing(toy):
    """Eight of nine go on to their limits: the ninth leaves no sooner than they do."""
    source = toy.source[:1].repeat(10, 1)
    limits = torch.tensor([0, *[5] * 9])
    endless = toy.Decoder(1)
    endless.log_probs = lambda source, prefix: torch.tensor([0.0, 0.0, 0.01, 0.9, 0.05, 0.04]).log()
    found = toy.run(greedy, endless, source, limits)
    assert [len(one.ids) for [one] in found] == limits.tolist()
    assert endless.rows_per_step == [10] * 6
    [[alone]] = toy.run(greedy, endless, source[:1], limits[:1])
    assert alone == found[0][0]
