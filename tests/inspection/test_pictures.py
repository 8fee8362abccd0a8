"""Attention as files: one for every attention, and a clear word where there is nothing to draw."""

from pathlib import Path

import pytest
from PIL import Image

from headway.core.errors import ConfigError
from headway.inspection.attention_picture import MOST_TOKENS, draw_pictures
from headway.inspection.inspected_model import InspectedModel, open_inspected
from headway.inspection.passage_analysis import PassageAnalysis


@pytest.fixture(scope="module")
def inspected(everyday_run: Path) -> InspectedModel:
    return open_inspected(everyday_run)


def test_every_attention_of_the_model_is_a_picture(
    inspected: InspectedModel, tmp_path: Path
) -> None:
    analysis = PassageAnalysis(inspected, inspected.passage_of("The dog runs."))
    list(draw_pictures(analysis, tmp_path / "new"))
    config = inspected.settings.model
    wanted = {f"encoder.{i}.self.png" for i in range(config.encoder_layers)} | {
        f"decoder.{i}.{kind}.png"
        for i in range(config.decoder_layers)
        for kind in ("self", "cross")
    }
    assert {file.name for file in (tmp_path / "new").iterdir()} == wanted
    for file in (tmp_path / "new").iterdir():
        with Image.open(file) as picture:
            picture.verify()


def test_a_text_that_is_too_long_is_refused_before_anything_is_written(
    inspected: InspectedModel, tmp_path: Path
) -> None:
    analysis = PassageAnalysis(inspected, inspected.passage_of("The dog runs.", "狗" * MOST_TOKENS))
    with pytest.raises(ConfigError, match="leave --png out"):
        list(draw_pictures(analysis, tmp_path / "new"))
    assert not (tmp_path / "new").exists()
