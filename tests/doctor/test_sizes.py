from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.cleaning import Pair, clean
from headway.doctor.batches import PairSide, batches
from headway.doctor.lengths import Histogram, SizeExaminer, words


@given(st.lists(st.text(st.sampled_from("ab我 \u3000\xa0"), max_size=12).map(clean), min_size=1))
def test_words_are_what_stands_between_spaces(lines: list[str]) -> None:
    lines = [line or "x" for line in lines]
    assert words(PairSide(lines)).tolist() == [len(line.split()) for line in lines]


def test_a_histogram_in_five_numbers_by_hand() -> None:
    histogram = Histogram()
    values = [1] * 2 + [3] * 96 + [7] * 2
    for value in values:
        histogram.add(PairSide(["x" * value]).lengths)
    assert histogram.total == 100
    assert histogram.summary() == {
        "mean": round(mean(values), 2), "low_1": 1, "median": 3, "high_99": 7, "longest": 7
    }  # fmt: skip


def test_ratios_are_told_apart_to_the_hundredth() -> None:
    sizes = SizeExaminer()
    for batch in batches([Pair("abc", "a", "f", 1), Pair("abcd", "ab", "f", 2)]):
        sizes.add(batch)
    summary = sizes.summary()["target_over_source"]
    assert summary["low_1"] == pytest.approx(0.33)
    assert summary["longest"] == pytest.approx(0.5)
    assert sizes.summary()["source_characters"]["mean"] == 3.5


def test_an_empty_corpus_has_no_sizes() -> None:
    assert SizeExaminer().summary() == {}
