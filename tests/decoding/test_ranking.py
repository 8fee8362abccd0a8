"""`best` against a full stable sort, ties included."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.beam import best
from headway.decoding.ranking import CHUNK, chunked_best


@pytest.mark.parametrize("best", [best, chunked_best])
@settings(deadline=None)
@given(
    sentences=st.integers(1, 3),
    width=st.integers(1, 3),
    places=st.one_of(st.integers(1, 20), st.integers(CHUNK - 1, 12 * CHUNK + 1)),
    n_values=st.sampled_from([1, 2, 7, 100_000]),
    count=st.integers(1, 9),
    seed=st.integers(0, 10**6),
)
def test_the_best_are_those_of_a_stable_sort(best, sentences, width, places, n_values, count, seed):
    generator = torch.Generator().manual_seed(seed)
    shape = sentences * width, places
    scores = torch.randint(n_values, shape, generator=generator).float()
    scores[scores == 0] = -torch.inf
    before = torch.randint(n_values, (sentences, width), generator=generator).float()
    values, where = best(scores, before, count)
    sums = (before[:, :, None] + scores.view(sentences, width, places)).flatten(1)
    expected_values, expected_where = sums.sort(dim=1, descending=True, stable=True)
    assert torch.equal(values, expected_values[:, :count])
    assert torch.equal(where, expected_where[:, :count])
