"""What cannot be prepared is refused before it is read."""

import gzip
from pathlib import Path

import pytest
from shard_cases import TEXT, written

from headway.cli import main
from headway.core.errors import ConfigError, DataError
from headway.large_corpora import plan
from headway.large_corpora.plan import ShardPlan, disk_need, refuse_no_room
from headway.translation.pairs import TranslationData


def test_other_settings_changed_files_and_a_full_disk_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = written(tmp_path, 2, 50)
    shards = ShardPlan(tmp_path / "shards", TranslationData(pairs=files), TEXT)
    shards.begin()
    shards.begin()
    with pytest.raises(ConfigError, match="begun with max_length = 256; now it is 9"):
        ShardPlan(shards.directory, TranslationData(pairs=files, max_length=9), TEXT).begin()
    with pytest.raises(ConfigError, match="folder of their own"):
        ShardPlan(tmp_path, TranslationData(pairs=files), TEXT).begin()
    monkeypatch.setattr(plan, "free_bytes", lambda _folder: 1000.0)
    with pytest.raises(DataError, match="0.0 GB are free"):
        refuse_no_room(shards, disk_need(shards))
    with Path(files[1]).open("a", encoding="utf-8") as file:
        file.write("more\tmehr\n")
    with pytest.raises(DataError, match="part-1.tsv has changed since"):
        shards.begin()


def test_a_folder_that_was_left_as_its_plan_was_written_is_begun_again(tmp_path: Path) -> None:
    shards = ShardPlan(tmp_path / "s", TranslationData(pairs=written(tmp_path, 1, 50)), TEXT)
    shards.directory.mkdir()
    (shards.directory / ".plan.json.1.part").touch()
    shards.begin()
    assert sorted(one.name for one in shards.directory.iterdir()) == ["plan.json", "work"]


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--stage", "clean"], "got no --shards"),
        (["--shards", "s", "--stage", "wash"], "--stage is one of clean, repeats"),
        (["--shards", "s", "--part", "3/2"], "such as 3/16; got 3/2"),
        (["--shards", "s", "--part", "1/2"], "got no --stage"),
        (["--shards", "s", "--on", "mars"], "--on is slurm"),
        (["--shards", "s", "--out", "o"], "got --out too"),
        (["--shards", "s", "--pairs", "part-0.tsv@2"], "got a file with weight 2"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    options: list[str], rule: str,
) -> None:  # fmt: skip
    written(tmp_path, 1, 30)
    monkeypatch.chdir(tmp_path)
    if "--pairs" not in options:
        options = [*options, "--pairs", "part-0.tsv"]
    assert main(["prepare", *options]) == 2
    assert rule in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (gzip.compress(b"one\teins\n" * 99, mtime=0)[:-20], "is damaged or cut off"),
        (b"one\teins\n", "is damaged or cut off"),
        (gzip.compress(b"", mtime=0), "unpacks to nothing"),
    ],
)
def test_a_packed_file_that_is_damaged_or_has_nothing_is_refused_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, rule: str
) -> None:
    (tmp_path / "bad.tsv.gz").write_bytes(data)
    files = [*written(tmp_path, 1, 100), str(tmp_path / "bad.tsv.gz")]
    assert main(["prepare", "--shards", str(tmp_path / "s"), "--pairs", *files]) == 2
    assert f"bad.tsv.gz {rule}" in capsys.readouterr().err
