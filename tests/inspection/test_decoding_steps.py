"""Laws of decoding seen step by step: each distribution is the model's, and what search saw."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from writers import BEGIN, END, KINDS, N_WORDS, SPECIAL, next_log_probs, writing

from headway.core.errors import HeadwayError
from headway.core.hypothesis import DecodingSettings
from headway.inspection.beam_tree import search_tree
from headway.inspection.decoding_parts import parting
from headway.inspection.passage_analysis import N_LIKELIEST, decoding_steps_of

outputs = st.lists(st.integers(4, N_WORDS - 1), max_size=6)


@examples(max_examples=15)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 1000), ids=outputs)
def test_each_step_is_what_the_model_makes_of_the_prefix(
    kind: str, seed: int, ids: list[int]
) -> None:
    """Against a start anew with the prefix, and arithmetic by numpy."""
    one = writing(kind, seed)
    found = decoding_steps_of(one, ids)
    assert [seen.fed for seen in found] == [BEGIN, *ids]
    assert [seen.taken for seen in found] == [*ids, END]
    for step, seen in enumerate(found):
        expected = next_log_probs(one, ids[:step]).double().numpy()
        assert seen.log_prob == pytest.approx(expected[seen.taken], abs=1e-5)
        assert seen.entropy == pytest.approx(-(np.exp(expected) * expected).sum(), abs=1e-5)
        assert len(seen.likeliest) == N_LIKELIEST
        tokens, shares = zip(*seen.likeliest, strict=True)
        assert list(shares) == pytest.approx(np.sort(np.exp(expected))[::-1][:10], abs=1e-6)
        assert list(shares) == pytest.approx(np.exp(expected[list(tokens)]), abs=1e-6)
        if seen.taken in tokens:
            assert seen.rank == 1 + tokens.index(seen.taken)
        surely, perhaps = ((expected > seen.log_prob + by).sum() for by in (1e-4, -1e-4))
        assert surely < seen.rank <= max(1, perhaps)


@examples(max_examples=15)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 1000), beam=st.integers(1, 4))
def test_it_is_what_the_search_saw(kind: str, seed: int, beam: int) -> None:
    one = writing(kind, seed)
    settings = DecodingSettings(beam=beam, n_best=beam)
    for hypothesis in search_tree(one, settings).found:
        found = decoding_steps_of(one, hypothesis.ids)
        seen = [step.log_prob for step in found]
        assert seen == pytest.approx(hypothesis.token_log_probs, abs=1e-5)


@examples(max_examples=20)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 1000))
def test_greedy_always_takes_the_likeliest_token_that_may_be_written(kind: str, seed: int) -> None:
    one = writing(kind, seed)
    ids = search_tree(one, DecodingSettings(beam=1)).found[0].ids
    for step, seen in enumerate(decoding_steps_of(one, ids)):
        allowed = [token for token, _ in seen.likeliest if token not in SPECIAL.unwritten]
        assert seen.taken == (allowed[0] if step < one.limit else END)


def test_it_shows_where_the_model_looks_if_the_model_does() -> None:
    for kind in KINDS:
        one = writing(kind)
        rows = [seen.attention for seen in decoding_steps_of(one, [4, 5, 6])]
        if kind in ("language", "bytenet"):
            assert rows == [None] * 4
        else:
            np.testing.assert_allclose(np.stack(rows).sum(1), 1, atol=1e-6)
            assert np.stack(rows).shape == (4, len(one.source))


@given(one=outputs, other=outputs)
def test_two_outputs_part_where_they_first_differ(one: list[int], other: list[int]) -> None:
    text = writing("recurrent")
    step = parting(decoding_steps_of(text, one), decoding_steps_of(text, other))
    if one == other:
        assert step is None
    else:
        assert step is not None
        assert one[:step] == other[:step]
        assert [*one, END][step] != [*other, END][step]


def test_a_model_that_gives_no_numbers_is_refused() -> None:
    one = writing("transformer")
    with torch.no_grad():
        one.decoder.output_weight.fill_(torch.nan)
    with pytest.raises(HeadwayError, match="diverged"):
        decoding_steps_of(one, [4])
