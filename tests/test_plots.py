"""Plots are SVG that a page can hold: all that is drawn is inside, and every text is a text."""

import re
from xml.etree import ElementTree

import pytest

from headway.plots import STYLES, Line, lines, log_lines

SVG = "{http://www.w3.org/2000/svg}"


def paths(svg: str) -> list[tuple[str, list[list[float]]]]:
    """Of every path that is filled or drawn in a colour of the page: its style and its corners."""
    found = []
    for path in ElementTree.fromstring(svg).iter(f"{SVG}path"):
        corners = re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", path.get("d") or "")
        if "var(--" in (path.get("style") or "") and "--rule" not in path.get("style", ""):
            found.append((path.get("style", ""), [[float(x), float(y)] for x, y in corners]))
    return found


@pytest.mark.parametrize(
    "drawn",
    [
        lines("<a&b>", "<u>", [Line("<x>", "one", [(1, 2.0)])]),
        log_lines("<a&b>", "<u>", [Line("<x>", "#1f77b4", [(1, 2.0)])]),
    ],
)
def test_names_are_texts_whatever_is_in_them(drawn: str) -> None:
    words = "".join(ElementTree.fromstring(drawn).itertext())
    assert "<a&b>" in words
    assert "<u>" in words


def test_nothing_to_draw_is_no_picture() -> None:
    assert lines("BLEU", "updates", [Line("a", "one", [])]) == ""
    assert log_lines("time", "n", []) == ""


def test_lines_go_from_the_first_point_to_the_last_and_say_so_in_words() -> None:
    drawn = lines("BLEU", "updates", [Line("a", "one", [(0, 2.0), (50, 3.0), (100, 4.0)])])
    assert 'aria-label="BLEU: a from 2 to 4"' in drawn
    [corners] = [path for style, path in paths(drawn) if "fill: none" in style and len(path) == 3]
    (x1, y1), (x2, y2), (x3, y3) = corners
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.01)
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.01)
    assert y3 < y1  # more is higher
    assert "NaN" not in lines("BLEU", "updates", [Line("a", "one", [(1, 0.0), (2, 0.0)])])


def test_colours_are_the_pages_own_and_nothing_is_loaded() -> None:
    drawn = lines("t", "u", [Line(name, name, [(1, 2.0)]) for name in STYLES])
    assert all(f"var(--{name})" in drawn for name in STYLES)
    assert not re.search(r"fe0\d;|<script|url\(http|href=\"http|<metadata", drawn)
