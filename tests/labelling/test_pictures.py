"""Pictures of confusions and of calibration hold what was counted, in every script."""

import re
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from everyday_run import command
from matplotlib.figure import Figure

from headway.inspection.attention_picture import EVERYDAY_GLYPHS
from headway.labelling.pictures import save_calibration, save_confusion
from headway.labelling.scores import Confusion, calibration

LABELS = ("体育", "财经", "$x$")
COUNTS = ((41, 7, 0), (3, 1_250, 12), (0, 0, 0))


@pytest.fixture
def texts(monkeypatch):
    """Every text of the figure that is saved, and its coloured cells."""
    found: dict[str, object] = {}
    save = Figure.savefig

    def noted(self, *given, **how):
        found["texts"] = [one.get_text() for axes in self.axes for one in axes.texts]
        found["images"] = [one.get_array() for axes in self.axes for one in axes.images]
        found["bars"] = [[bar.get_height() for bar in axes.patches] for axes in self.axes]
        found["labels"] = [one.get_text() for one in self.axes[0].get_yticklabels()]
        return save(self, *given, **how)

    monkeypatch.setattr(Figure, "savefig", noted)
    return found


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_confusion_holds_every_count_and_the_share_of_its_row(texts, tmp_path, kind):
    path = tmp_path / f"confusion.{kind}"
    assert save_confusion(Confusion(LABELS, COUNTS), path, EVERYDAY_GLYPHS) >= 0
    assert texts["texts"] == ["41", "7", "3", "1,250", "12"]
    assert texts["labels"] == [*LABELS]
    np.testing.assert_allclose(
        texts["images"][0], [[41 / 48, 7 / 48, 0], [3 / 1265, 1250 / 1265, 12 / 1265], [0, 0, 0]]
    )
    data = path.read_bytes()
    assert (
        data.startswith(b"\x89PNG") if kind == "png" else ElementTree.fromstring(data) is not None
    )


def test_letters_that_no_font_has_are_counted(tmp_path):
    path = tmp_path / "confusion.png"
    found = Confusion(("a", "\U0001f995"), ((1, 0), (0, 1)))
    assert save_confusion(found, path, EVERYDAY_GLYPHS) == 1


def test_calibration_has_a_bar_of_each_bin_as_it_was_counted(texts, tmp_path):
    random = np.random.default_rng(1)
    sure = random.uniform(0.3, 1.0, 500)
    found = calibration(sure, random.random(500) < sure)
    save_calibration(found, tmp_path / "calibration.svg")
    upper, lower = texts["bars"]
    assert upper == pytest.approx([one.accuracy for one in found.bins if one.n])
    assert lower == [one.n for one in found.bins]
    assert mpl.rcParams["svg.hashsalt"] is None, "what is set for a picture is put back"


def test_the_same_counts_give_the_same_file(tmp_path):
    paths = [tmp_path / name for name in ("one.svg", "two.svg")]
    for path in paths:
        save_confusion(Confusion(LABELS, COUNTS), path, EVERYDAY_GLYPHS)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_picture_is_for_a_run_that_labels(tmp_path, everyday_run):
    flags = ("--confusion", str(tmp_path / "c.png"))
    refused = command("evaluate", str(everyday_run), *flags, "--corpus", "x")
    assert refused.status == 2
    assert re.search("--confusion is for runs that label", refused.err)
