"""The picture is written, quietly, and never with boxes in place of characters."""

from pathlib import Path

import matplotlib
import numpy as np
import pytest

from headway.demo import generate
from headway.inspection import attention_picture
from headway.inspection.attention_picture import AttentionMap, draw_attention, font_for


def some_map(rows: list[str], columns: list[str], heads: int = 4) -> AttentionMap:
    weights = np.random.default_rng(1).dirichlet(np.ones(len(columns)), size=(heads, len(rows)))
    return AttentionMap(weights, rows, columns, "because it was too tired", head=1, focus=0)


def size(path: Path) -> tuple[int, int]:
    """Width and height in the header of a PNG file."""
    header = path.read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")


def test_maps_stand_side_by_side_in_one_png(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "The animal didn't cross the street".split()
    one, two = tmp_path / "one.png", tmp_path / "two.png"
    draw_attention([some_map(words, words)], one, title="What does it look at?")
    draw_attention([some_map(words, words)] * 2, two)
    assert size(two)[0] > 1.8 * size(one)[0]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("heads", "head"), [(1, 0), (3, None), (8, 7)])
def test_any_number_of_heads_and_their_mean_can_be_drawn(
    heads: int, head: int | None, tmp_path: Path
) -> None:
    weights = np.full((heads, 1, 2), 0.5)
    each = AttentionMap(weights, ["a"], ["b", "c"], "halves", head=head)
    draw_attention([each], tmp_path / "picture.png")


def test_the_font_of_matplotlib_draws_what_it_can_and_never_more() -> None:
    font = font_for("The animal, grün und “schön”")
    assert font is not None
    assert "DejaVuSans" in str(font.get_file())
    assert font_for("鱻") is None


def test_the_sentences_of_the_demo_can_be_drawn_on_any_machine() -> None:
    characters = {c for pair in generate(3000, seed=2) for text in pair for c in text}
    font = font_for("".join(characters) + "▁</s>")
    assert font is not None
    assert Path(str(font.get_file())) == attention_picture.EVERYDAY_GLYPHS


def test_the_license_of_the_glyphs_lies_beside_them() -> None:
    text = attention_picture.EVERYDAY_GLYPHS.with_suffix(".license.txt").read_text(encoding="utf-8")
    assert "© 2014-2021 Adobe" in text
    assert "SIL OPEN FONT LICENSE" in text


def test_drawing_leaves_the_settings_of_matplotlib_as_they_were(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    draw_attention([some_map(["a"], ["b", "c"])], tmp_path / "picture.png")
    assert dict(matplotlib.rcParams) == before
