"""The settings files that come with headway are accepted, and say what they claim."""

from dataclasses import replace
from pathlib import Path

import pytest

from headway.config import read_toml
from headway.runs.settings import Settings
from headway.tasks.translation.kind import KIND
from headway.tasks.translation.presets import PRESETS

CONFIGS = Path(__file__).parent.parent / "configs"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.name)
def test_every_settings_file_is_accepted_and_names_its_data_from_where_one_stands(
    path: Path,
) -> None:
    data = Settings.of(read_toml(path), KIND).data
    files = (*data.source, *data.target, *data.valid_source, *data.valid_target)
    assert len(files) == 4
    assert not any(file.is_absolute() for file in files)


def test_the_file_of_the_paper_is_the_preset_of_the_paper() -> None:
    written, named = (
        Settings.of(sections, KIND)
        for sections in (read_toml(CONFIGS / "paper-base.toml"), PRESETS["paper-base"])
    )
    assert replace(written, data=named.data) == named


def test_the_file_for_multi30k_has_the_sizes_of_the_preset() -> None:
    written, named = (
        Settings.of(sections, KIND).model
        for sections in (read_toml(CONFIGS / "multi30k-tiny.toml"), PRESETS["tiny"])
    )
    assert written == replace(named, dropout=written.dropout)
