"""The settings files that come with headway are accepted, and say what they claim."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from headway.config import read_toml
from headway.runs.settings import Settings, task_of
from headway.tasks import kind_named
from headway.tasks.translation.kind import KIND
from headway.tasks.translation.presets import PRESETS

CONFIGS = Path(__file__).parent.parent / "configs"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.name)
def test_every_settings_file_is_accepted_and_names_its_data_from_where_one_stands(
    path: Path,
) -> None:
    sections = read_toml(path)
    data = Settings.of(sections, kind_named(task_of(sections))).data
    files = [
        file
        for values in asdict(data).values()
        if isinstance(values, tuple)
        for file in values
        if isinstance(file, Path)
    ]
    assert len(files) in (2, 4)
    assert not any(file.is_absolute() for file in files)


def test_the_file_of_the_paper_is_the_preset_of_the_paper() -> None:
    written, named = (
        Settings.of(sections, KIND)
        for sections in (read_toml(CONFIGS / "paper-base.toml"), PRESETS["paper-base"])
    )
    assert replace(written, data=named.data) == named


@pytest.mark.parametrize(
    ("file", "preset"), [("multi30k-tiny", "tiny"), ("multi30k-recurrent", "recurrent")]
)
def test_the_files_for_multi30k_have_the_sizes_of_their_presets(file: str, preset: str) -> None:
    written, named = (
        Settings.of(sections, KIND).model
        for sections in (read_toml(CONFIGS / f"{file}.toml"), PRESETS[preset])
    )
    assert written == replace(named, dropout=written.dropout)
