"""The settings files that come with headway are accepted, and say what they claim."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

import headway
from headway.core.config import Sections, merge, read_toml
from headway.core.errors import DataError
from headway.core.run_folder import RunFolder
from headway.core.runtime import Runtime
from headway.models import PRESETS
from headway.runs.fitting import presets_that_fit
from headway.runs.settings import Settings, task_of
from headway.runs.task_spec import Run, Sizes, TaskSpec
from headway.runs.train import learner
from headway.tasks import task_spec
from headway.translation.spec import SPEC

CONFIGS = Path(__file__).parent.parent / "configs"
SMALL = Sizes(distinct=450_000, per_pass=450_000)
"""About Multi30k."""
every_file = pytest.mark.parametrize(
    "path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.name
)


def trained(kind: TaskSpec, given: Sections, below: Sections, chosen: str = "") -> Settings:
    """What `train` makes of some settings and a preset, which was `chosen` by the text or named."""
    kind, runtime = (
        replace(kind, sizes=lambda _: SMALL),
        Runtime(torch.device("cpu"), torch.float32, 1, ""),
    )
    settings = Settings.of(merge(below, given), kind)
    folder = RunFolder(Path())
    run = Run(kind, folder, settings, None, runtime, lambda _: None, given, chosen)
    return learner(kind, settings).fit(run)


@every_file
def test_a_settings_file_leaves_nothing_to_the_preset_that_train_lays_below_it(path: Path) -> None:
    given = read_toml(path)
    kind = task_spec(task_of(given))
    if fitting := presets_that_fit(kind, given):
        chosen, _ = kind.choose_preset(SMALL, None, False, fitting)
        assert trained(kind, given, kind.presets[chosen], chosen) == trained(kind, given, {})
    else:
        assert trained(kind, given, {}) == Settings.of(given, kind)


@every_file
def test_every_settings_file_is_accepted_and_names_its_data_from_where_one_stands(
    path: Path,
) -> None:
    sections = read_toml(path)
    data = Settings.of(sections, task_spec(task_of(sections))).data
    files = [
        file
        for values in asdict(data).values()
        if isinstance(values, tuple)
        for file in values
        if isinstance(file, Path)
    ]
    assert len(files) in (1, 2, 4)
    assert not any(file.is_absolute() for file in files)


def test_the_file_of_the_paper_is_the_preset_of_the_paper() -> None:
    given = read_toml(CONFIGS / "paper-base.toml")
    named = trained(SPEC, {"data": given["data"]}, PRESETS["paper-base"])
    for below in presets_that_fit(SPEC, given):
        assert trained(SPEC, given, PRESETS[below], below) == named


@pytest.mark.parametrize(
    ("file", "preset"), [("multi30k-tiny", "tiny"), ("multi30k-recurrent", "recurrent")]
)
def test_the_files_for_multi30k_have_the_sizes_of_their_presets(file: str, preset: str) -> None:
    written, named = (
        Settings.of(sections, SPEC).model
        for sections in (read_toml(CONFIGS / f"{file}.toml"), PRESETS[preset])
    )
    assert written == replace(named, dropout=written.dropout)


@every_file
def test_a_settings_file_whose_data_is_not_there_says_where_it_comes_from(
    path, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        DataError, match=r"no such file: data/.* says how to get its data: https://"
    ):
        headway.train(config=path, out="run")
