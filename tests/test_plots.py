import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.plots import (
    Bars,
    Line,
    Series,
    VerticalMark,
    curve,
    grouped_bars,
    histogram,
    lines,
    named_bars,
)

counts = st.lists(st.integers(0, 10**7), max_size=40)


def numbers(svg: str) -> list[float]:
    """Every coordinate of every line, from first to last."""
    return [
        float(number)
        for line in ElementTree.fromstring(svg).iter("polyline")
        for point in (line.get("points") or "").split()
        for number in point.split(",")
    ]


@given(counts, counts, st.floats(0.01, 1e4))
def test_histograms_stay_inside_the_picture(one: list[int], other: list[int], width: float) -> None:
    drawn = histogram(
        "title", "unit", [Series("a", "one", one, width), Series("b", "two", other, width)]
    )
    if any(one) or any(other):
        assert all(0 <= number <= 360 for number in numbers(drawn))
    else:
        assert drawn == ""


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=50))
def test_curves_stay_inside_the_picture(values: list[float]) -> None:
    drawn = curve("title", "unit", values, [VerticalMark(0.0, "here")])
    assert len(numbers(drawn)) == 2 * len(values)
    assert all(0 <= number <= 360 for number in numbers(drawn))


def test_a_bar_is_as_long_as_its_number_says() -> None:
    drawn = ElementTree.fromstring(named_bars("title", [("a", 4.0, "4"), ("b", 2.0, "2")], "one"))
    long, short = (float(bar.get("width") or 0) for bar in drawn.iter("rect"))
    assert long == 2 * short


@pytest.mark.parametrize(
    "drawn",
    [
        histogram("<a&b>", "<u>", [Series("<x>", "one", [1], 1.0), Series("y", "two", [1], 1.0)]),
        curve("<a&b>", "<u>", [0.5], [VerticalMark(0.0, "<m>")]),
        named_bars("<a&b>", [("<x>", 1.0, "<u>")], "one"),
    ],
)
def test_names_are_escaped(drawn: str) -> None:
    words = "".join(ElementTree.fromstring(drawn).itertext())
    assert "<a&b>" in words
    assert "<u>" in words


def test_nothing_to_draw_is_no_picture() -> None:
    assert curve("title", "unit", [], []) == ""
    assert named_bars("title", [], "one") == ""


def test_lines_go_from_the_first_point_to_the_last_and_say_so_in_words() -> None:
    drawn = lines("BLEU", "updates", "", [Line("a", "one", [(0, 2.0), (50, 3.0), (100, 4.0)])])
    assert 'aria-label="BLEU: a from 2 to 4"' in drawn
    [points] = re.findall(r'<polyline class="line one" points="([^"]*)"', drawn)
    (x1, y1), (x2, y2), (x3, y3) = (map(float, point.split(",")) for point in points.split())
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.2)
    assert y3 < y1  # more is higher


def test_lines_of_zeros_lie_on_the_axis() -> None:
    drawn = lines("BLEU", "updates", "", [Line("a", "one", [(1, 0.0), (2, 0.0)])])
    assert ">-" not in drawn
    assert lines("BLEU", "updates", "", [Line("a", "one", [])]) == ""


def test_bars_are_as_high_as_their_values() -> None:
    series = [Bars("a", "one", [1.0, None]), Bars("b", "two", [2.0, 4.0])]
    drawn = grouped_bars("BLEU", "tokens", ["0-5", "6-10"], series)
    heights = [float(h) for h in re.findall(r'<rect class="bar \w+"[^>]*height="([\d.]+)"', drawn)]
    assert heights == pytest.approx([heights[0], 2 * heights[0], 4 * heights[0]], abs=0.3)
