"""Laws of the learning rates; steps count updates from 1."""

import itertools

import pytest

from headway.core.schedules import cosine_rate, inverse_square_root_rate, linear_rate, paper_peak


def equation_3(step: int) -> float:
    """As training has it, of the base model."""
    return inverse_square_root_rate(step, peak=paper_peak(512, 4000), warmup_steps=4000)


@pytest.mark.parametrize(
    ("step", "by_hand"),
    [
        # 512^-0.5 = 0.04419417; 4000^-1.5 = 3.952847e-6; 4000^-0.5 = 0.01581139
        (1, 1.746928e-7),
        (2000, 3.493856e-4),
        (4000, 6.987712e-4),
        (16_000, 3.493856e-4),
        (100_000, 1.397542e-4),
    ],
)
def test_equation_3_by_hand(step, by_hand):
    assert equation_3(step) == pytest.approx(by_hand, rel=1e-5)


def test_equation_3_rises_in_a_straight_line_and_then_falls_as_the_inverse_square_root():
    rate = equation_3
    for step in (1, 10, 3999):
        assert rate(step) == pytest.approx(step * rate(1))
    for step in (4000, 9000, 50_000):
        assert rate(4 * step) == pytest.approx(rate(step) / 2)
    assert max(range(1, 20_000), key=rate) == 4000


PEAKED = {
    "inverse square root": lambda s: inverse_square_root_rate(s, peak=0.002, warmup_steps=100),
    "cosine": lambda s: cosine_rate(s, peak=0.002, warmup_steps=100, max_steps=1000),
    "linear": lambda s: linear_rate(s, peak=0.002, warmup_steps=100, max_steps=1000),
}


@pytest.mark.parametrize("name", PEAKED)
def test_the_others_reach_their_peak_when_the_warm_up_ends_and_have_no_jump(name):
    rate = PEAKED[name]
    assert rate(1) == pytest.approx(0.002 / 100)
    assert rate(100) == pytest.approx(0.002)
    rates = [rate(step) for step in range(1, 1001)]
    assert max(rates) == rate(100)
    assert min(rates) > 0
    assert max(abs(b - a) for a, b in itertools.pairwise(rates)) < 2.1e-5
    assert rates[99:] == sorted(rates[99:], reverse=True)


def test_equation_3_is_the_papers_word_for_word():
    for step in (1, 4000, 77_000):
        assert equation_3(step) == pytest.approx(512**-0.5 * min(step**-0.5, step * 4000**-1.5))


@pytest.mark.parametrize("decay", [linear_rate, cosine_rate])
def test_decays_end_at_a_hundredth_of_the_peak_and_stay_there(decay):
    options = {"peak": 0.002, "warmup_steps": 100, "max_steps": 1000}
    assert decay(1000, **options) == pytest.approx(0.00002)
    assert decay(5000, **options) == pytest.approx(0.00002)


def test_half_way_down():
    options = {"peak": 1.0, "warmup_steps": 100, "max_steps": 1100}
    assert linear_rate(600, **options) == pytest.approx((1 + 0.01) / 2)
    assert cosine_rate(600, **options) == pytest.approx((1 + 0.01) / 2)
    assert linear_rate(350, **options) == pytest.approx(1 - 0.99 / 4)
    assert cosine_rate(350, **options) == pytest.approx(0.01 + 0.99 * (2 + 2**0.5) / 4)


@pytest.mark.parametrize("decay", [linear_rate, cosine_rate])
def test_a_warm_up_longer_than_the_training_still_only_rises(decay):
    rates = [decay(s, peak=1.0, warmup_steps=50, max_steps=20) for s in range(1, 21)]
    assert rates == sorted(rates)
