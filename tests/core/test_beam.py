"""Laws of beam search, on a decoder small enough to enumerate every output."""

from itertools import pairwise

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headway.core.beam import beam_search, greedy

WIDE = 150  # more than the 121 outputs of up to 4 words out of 3


def plain_beam_search(decoder, toy, source, limit, *, beam, alpha, n_best):
    """The definition, with lists, for one sentence; it never stops before its limit."""
    live, finished = [([], 0.0)], []
    for length in range(1, limit + 2):
        continuations = []
        for ids, total in live:
            following = decoder.log_probs(source, [toy.BEGIN, *ids]).tolist()
            tokens = [toy.END] if length == limit + 1 else [toy.END, *toy.WORDS]
            continuations += [([*ids, token], total + following[token]) for token in tokens]
        continuations.sort(key=lambda item: -item[1])
        live = []
        for ids, total in continuations[:beam]:
            if ids[-1] == toy.END:
                finished.append((ids[:-1], total / ((5 + length) / 6) ** alpha))
            else:
                live.append((ids, total))
    return sorted(finished, key=lambda item: -item[1])[:n_best]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 2.5])
@pytest.mark.parametrize("seed", range(5))
def test_a_beam_wide_enough_equals_brute_force_over_all_sequences(toy, alpha, seed):
    decoder = toy.Decoder(seed)
    found = toy.run(
        beam_search,
        decoder,
        toy.source,
        max_lengths=toy.limits,
        beam=WIDE,
        length_penalty=alpha,
        n_best=7,
    )
    for sentence, limit, hypotheses in zip(toy.source.tolist(), toy.limits, found, strict=True):
        expected = decoder.brute_force(sentence, int(limit), alpha)[:7]
        assert [hypothesis.ids for hypothesis in hypotheses] == [ids for ids, _, _ in expected]
        for hypothesis, (_, score, log_prob) in zip(hypotheses, expected, strict=True):
            assert hypothesis.score == pytest.approx(score, abs=1e-5)
            assert hypothesis.log_prob == pytest.approx(log_prob, abs=1e-5)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    beam=st.integers(1, 8),
    n_best=st.integers(1, 4),
    alpha=st.sampled_from([0.0, 0.6, 1.0, 2.0]),
    sharpness=st.sampled_from([0.3, 1.0, 3.0]),
    limit=st.integers(0, 5),
)
def test_nothing_is_lost_by_stopping_early(toy, seed, beam, n_best, alpha, sharpness, limit):
    assume(n_best <= beam)
    decoder = toy.Decoder(seed, sharpness, shifted=True)
    [found] = toy.run(
        beam_search,
        decoder,
        toy.source[:1],
        max_lengths=torch.tensor([limit]),
        beam=beam,
        length_penalty=alpha,
        n_best=n_best,
    )
    expected = plain_beam_search(
        decoder, toy, toy.source[0].tolist(), limit, beam=beam, alpha=alpha, n_best=n_best
    )
    assert [hypothesis.ids for hypothesis in found] == [ids for ids, _ in expected]
    assert [hypothesis.score for hypothesis in found] == pytest.approx(
        [s for _, s in expected], abs=1e-5
    )


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([0.0, 0.6, 2.0]),
    grid=st.sampled_from([None, 1.0]),
)
def test_greedy_equals_beam_one(toy, seed, alpha, grid):
    decoder = toy.Decoder(seed, grid=grid)
    common = {"max_lengths": toy.limits, "length_penalty": alpha}
    assert toy.run(greedy, decoder, toy.source, **common) == toy.run(
        beam_search, decoder, toy.source, beam=1, **common
    )


@pytest.mark.parametrize("grid", [None, 1.0])
def test_batch_mates_do_not_matter(toy, grid):
    common = {"beam": 3, "length_penalty": 0.6, "n_best": 3}
    for seed in range(10):
        decoder = toy.Decoder(seed, grid=grid)
        together = toy.run(beam_search, decoder, toy.source, max_lengths=toy.limits, **common)
        for i, sentence in enumerate(toy.source):
            alone = sentence[sentence != 0].unsqueeze(0)
            [apart] = toy.run(
                beam_search, decoder, alone, max_lengths=toy.limits[i : i + 1], **common
            )
            assert apart == together[i]


def test_n_best_lists_are_sorted_and_distinct(toy):
    for seed in range(10):
        for hypotheses in toy.run(
            beam_search,
            toy.Decoder(seed),
            toy.source,
            max_lengths=toy.limits,
            beam=6,
            length_penalty=1.0,
            n_best=6,
        ):
            scores = [hypothesis.score for hypothesis in hypotheses]
            assert scores == sorted(scores, reverse=True)
            assert len({tuple(hypothesis.ids) for hypothesis in hypotheses}) == len(hypotheses) == 6


def test_a_sentence_with_fewer_outputs_than_n_best_gives_them_all(toy):
    common = {"beam": 20, "length_penalty": 0.6, "n_best": 20}
    [found] = toy.run(
        beam_search, toy.Decoder(1), toy.source[:1], max_lengths=torch.tensor([1]), **common
    )
    assert sorted(hypothesis.ids for hypothesis in found) == [[], [3], [4], [5]]


def test_forbidden_tokens_never_appear_and_the_limit_holds(toy):
    for seed in range(20):
        found = toy.run(
            beam_search,
            toy.Decoder(seed, sharpness=3.0),
            toy.source,
            forbidden=(0, 1, 4),
            max_lengths=toy.limits,
            beam=4,
            length_penalty=2.0,
            n_best=4,
        )
        for hypotheses, limit in zip(found, toy.limits.tolist(), strict=True):
            for hypothesis in hypotheses:
                assert set(hypothesis.ids) <= {3, 5}
                assert len(hypothesis.ids) <= limit


def test_without_forbidden_tokens_any_token_but_the_end_may_appear(toy):
    decoder = toy.Decoder(3)
    [found] = toy.run(
        beam_search,
        decoder,
        toy.source[:1],
        forbidden=(),
        max_lengths=torch.tensor([1]),
        beam=6,
        length_penalty=0.0,
        n_best=6,
    )
    assert sorted(hypothesis.ids for hypothesis in found) == [[], [0], [1], [3], [4], [5]]


def test_attention_and_token_log_probs_follow_their_hypothesis_through_reorderings(toy):
    for seed in range(10):
        decoder = toy.Decoder(seed)
        found = toy.run(
            beam_search,
            decoder,
            toy.source,
            max_lengths=toy.limits,
            beam=4,
            length_penalty=0.6,
            n_best=4,
            want_attention=True,
        )
        for source, hypotheses in zip(toy.source.tolist(), found, strict=True):
            for hypothesis in hypotheses:
                expected = decoder.token_log_probs(source, hypothesis.ids)
                assert hypothesis.token_log_probs == pytest.approx(expected, abs=1e-6)
                assert sum(hypothesis.token_log_probs) == pytest.approx(hypothesis.log_prob)
                fed = [toy.BEGIN, *hypothesis.ids]
                weights = [decoder.attention(source, fed[: i + 1]) for i in range(len(fed))]
                torch.testing.assert_close(hypothesis.attention, torch.stack(weights))


def test_a_search_ends_with_the_step_after_which_nothing_can_win(toy):
    sure = toy.Decoder(0, vocabulary=6)
    sure.log_probs = lambda source, prefix: torch.tensor(  # 90 % of stopping at every step
        [0.0, 0.0, 0.9, 0.05, 0.03, 0.02]
    ).log()
    common = {"max_lengths": torch.tensor([50]), "beam": 3, "length_penalty": 0.0}
    toy.run(beam_search, sure, toy.source[:1], **common)
    assert len(sure.rows_per_step) == 1
    sure.rows_per_step.clear()
    # The second best is [3] with 0.05 * 0.9; after two steps [3, 3] has 0.05 * 0.05 at most.
    # The third best is [4] with 0.03 * 0.9, found at the same step.
    toy.run(beam_search, sure, toy.source[:1], **common, n_best=3)
    assert len(sure.rows_per_step) == 2


def test_sentences_that_are_done_leave_the_batch(toy):
    decoder = toy.Decoder(2)
    found = toy.run(
        beam_search,
        decoder,
        toy.source,
        max_lengths=torch.tensor([0, 2, 5]),
        beam=2,
        length_penalty=0.0,
        n_best=2,
    )
    assert found[0][0].ids == []
    assert decoder.rows_per_step[0] == 3  # one row for each sentence
    assert decoder.rows_per_step[1] == 4  # two sentences left, two hypotheses each
    assert decoder.rows_per_step[-1] == 2


def test_states_are_copied_only_when_rows_move(toy):
    decoder = toy.Decoder(4)
    toy.run(beam_search, decoder, toy.source, max_lengths=toy.limits, beam=1, length_penalty=0.0)
    # The toy refuses to select all its rows in their order; with a beam of 1 rows only leave.
    steps = pairwise(decoder.rows_per_step)
    assert [len(rows) for rows in decoder.selections] == [n for was, n in steps if n < was]


def test_an_empty_batch_gives_an_empty_list(toy):
    none = torch.zeros(0, dtype=torch.long)
    source = torch.zeros(0, 4, dtype=torch.long)
    common = {"max_lengths": none}
    assert toy.run(beam_search, toy.Decoder(1), source, **common, beam=2, length_penalty=0.6) == []
    assert toy.run(greedy, toy.Decoder(1), source, **common) == []
