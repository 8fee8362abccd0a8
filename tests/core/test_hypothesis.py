"""The length penalty and the length limits, by hand."""

import pytest
import torch

from headway.core.hypothesis import length_limits, penalty


def test_the_penalty_is_gnmts():
    assert penalty(1, 0.6) == 1.0
    assert penalty(7, 1.0) == 2.0
    assert penalty(19, 0.5) == 2.0
    assert penalty(31, 0.0) == 1.0
    torch.testing.assert_close(penalty(torch.tensor([1, 7]), 1.0), torch.tensor([1.0, 2.0]))


@pytest.mark.parametrize(
    ("model_limit", "expected"), [(None, [53, 60]), (100, [53, 60]), (58, [53, 57])]
)
def test_outputs_may_be_longer_than_the_source_by_a_fixed_number(model_limit, expected):
    limits = length_limits(torch.tensor([3, 10]), 50, model_limit)
    assert limits.tolist() == expected
