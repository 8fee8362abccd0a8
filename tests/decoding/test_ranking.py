"""`best` against a full stable sort, ties included."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.decoding.hypothesis import CHUNK, best


@settings(deadline=None)
@given(
    rows=st.integers(1, 3),
    places=st.one_of(st.integers(1, 20), st.integers(CHUNK - 1, 12 * CHUNK + 1)),
    n_values=st.sampled_from([1, 2, 7, 100_000]),
    count=st.integers(1, 9),
    seed=st.integers(0, 10**6),
)
def test_the_best_are_those_of_a_stable_sort(rows, places, n_values, count, seed):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randint(n_values, (rows, places), generator=generator).float()
    scores[scores == 0] = -torch.inf
    count = min(count, places)
    values, where = best(scores, count)
    expected_values, expected_where = scores.sort(dim=1, descending=True, stable=True)
    assert torch.equal(values, expected_values[:, :count])
    assert torch.equal(where, expected_where[:, :count])
