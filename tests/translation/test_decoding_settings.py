"""Decoding settings: values without meaning are refused, with a remedy."""

import pytest

from headway.core.errors import ConfigError
from headway.core.search import BATCH_TOKENS
from headway.translation.decoding import SamplingSettings, least_tokens


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
        ({"beam": 3, "n_best": 4}, r"got 4 and 3. Try beam=4"),
        ({"beam": 10**9}, r"decoding.beam must be at most 200; got 1000000000"),
        ({"max_extra_length": 10**9}, r"at most 10,000; got"),
        ({"length_penalty": 1e308}, r"at most 10.0; got 1e\+308"),
        ({"length_penalty": float("nan")}, r"at most 10.0; got nan"),
        ({"temperature": 1e-320}, r"at least 1e-6; got"),
        ({"method": "greedy", "n_best": 2}, r"got decoding.n_best 2.*beam"),
    ],
)
def test_values_without_meaning_are_refused(values, said):
    with pytest.raises(ConfigError, match=said):
        SamplingSettings(**values)


def test_sampling_may_draw_more_than_a_beam_holds():
    assert SamplingSettings(method="sampling", beam=1, n_best=100).n_best == 100


def test_what_a_search_may_hold_is_worked_out_before_it() -> None:
    for settings in (SamplingSettings(), SamplingSettings(beam=200, max_extra_length=500)):
        for n_words in (1_000, 37_000, 300_000):
            least = least_tokens(settings, n_words)
            n_rows = max(BATCH_TOKENS // max(least * settings.rows, 1), 1) * settings.rows
            assert n_rows * n_words <= 1 << 26
    assert least_tokens(SamplingSettings(), 37_000) <= 5, "usual batches are as they were"
    with pytest.raises(ConfigError, match=r"vocabulary are at most .*200 and 1,000,000.*beam 67 "):
        least_tokens(SamplingSettings(beam=200), 1_000_000)
    with pytest.raises(
        ConfigError, match=r"max_extra_length are at most .*200 and 10,000.*beam 10 "
    ):
        least_tokens(SamplingSettings(beam=200, max_extra_length=10_000), 1_000)
