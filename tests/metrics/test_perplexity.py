"""Perplexity, by hand."""

import math

import pytest

from headway.metrics.perplexity import perplexity


def test_a_uniform_guess_among_k_tokens_has_perplexity_k():
    assert perplexity(12 * math.log(7), 12) == pytest.approx(7.0)


def test_certainty_has_perplexity_one_and_despair_an_infinite_one():
    assert perplexity(0.0, 3) == 1.0
    assert perplexity(1e6, 1) == math.inf


def test_no_tokens_have_no_perplexity():
    with pytest.raises(ValueError, match="at least one token; got 0"):
        perplexity(1.0, 0)
