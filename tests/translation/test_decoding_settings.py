"""Decoding settings: values without meaning are refused, with a remedy."""

import pytest

from headway.core.errors import ConfigError
from headway.translation.decoding import SamplingSettings


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"beam": 0}, r"decoding.beam must be at least 1; got 0. Try 1"),
        ({"max_extra_length": -1}, r"at least 0; got -1"),
        ({"top_k": -3}, r"at least 0; got -3"),
        ({"length_penalty": -0.1}, r"must not be negative; got -0.1.*0.6"),
        ({"temperature": 0.0}, r"at least 1e-6; got 0.0.*greedy"),
        ({"top_p": 0.0}, r"above 0 and at most 1; got 0.0"),
        ({"top_p": 1.5}, r"above 0 and at most 1; got 1.5"),
        ({"beam": 3, "n_best": 4}, r"got 4 of beam 3\. Try method beam, beam 4"),
        ({"beam": 10**9}, r"decoding.beam must be at most 200; got 1000000000"),
        ({"max_extra_length": 10**9}, r"at most 10,000; got"),
        ({"length_penalty": 1e308}, r"at most 10.0; got 1e\+308"),
        ({"length_penalty": float("nan")}, r"at most 10.0; got nan"),
        ({"temperature": 1e-320}, r"at least 1e-6; got"),
        ({"method": "greedy", "n_best": 2}, r"got 2 of greedy 5\. Try method beam"),
    ],
)
def test_values_without_meaning_are_refused(values, said):
    with pytest.raises(ConfigError, match=said):
        SamplingSettings(**values)


def test_sampling_may_draw_more_than_a_beam_holds():
    assert SamplingSettings(method="sampling", beam=1, n_best=100).n_best == 100
