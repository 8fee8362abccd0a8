"""`headway translate --shards`: what it writes is what `headway translate` writes of each line."""

import gzip
import json
from pathlib import Path

import pytest
from everyday_run import command

from headway.demo import generate
from headway.operations.locks import only_writer

LINES = [english for english, _ in generate(60, 9)]
ODD = [
    "",
    "   ",
    "\ufeff",
    "A dog runs.\r",
    "x" * 3000,
    "The <b>dog</b> runs. It is tired.",
    "\u2028",
]
AS_IT_IS = ["--beam=2", "--precision=fp32"]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two files of the same lines, one packed, and without an end of the last line."""
    place = tmp_path / "in"
    place.mkdir()
    (place / "part-0").write_bytes("\n".join(LINES).encode())
    (place / "part-1.gz").write_bytes(gzip.compress("\n".join([*LINES[:20], *ODD]).encode()))
    return sorted(place.iterdir())


def shards(out: Path) -> list[Path]:
    return sorted(out.glob("[!.]*"))


def text_of(some: list[Path]) -> str:
    read = (gzip.decompress(one.read_bytes()) if one.suffix == ".gz" else one.read_bytes()
            for one in some)  # fmt: skip
    return b"".join(read).decode()


def test_shards_are_what_the_usual_command_writes(files: list[Path], tmp_path: Path) -> None:
    by_hand = ""
    for number, file in enumerate(files):
        out = tmp_path / f"by-hand-{number}"
        assert command("translate", "demo", str(file), "--out", str(out), *AS_IT_IS).status == 0
        by_hand += out.read_text("utf-8")
    job = ["translate", "demo", str(tmp_path / "in" / "part-*"), "--out", str(tmp_path / "out")]
    options = ["--shards", "--shard-lines=25", "--processes=2", "--price-per-hour=2", *AS_IT_IS]
    done = command(*job, *options)
    assert done.status == 0, done.err
    assert text_of(shards(tmp_path / "out")) == by_hand
    of_one = [one for one in shards(tmp_path / "out") if one.name.endswith(".part-1.gz")]
    assert text_of(of_one).count("\n") == 20 + len(ODD)
    assert "out has 87 lines; shards: 5" in done.err
    assert "per million lines" in done.err
    assert "1 of the lines were longer than the model reads" in done.err
    manifest = json.loads((tmp_path / "out" / ".headway" / "manifest.json").read_text())
    assert manifest["cut"] == 1
    assert [one["lines"] for one in manifest["shards"]] == [25, 25, 10, 25, 2]
    before = [one.stat().st_mtime_ns for one in shards(tmp_path / "out")]
    again = command(*job, *options)
    assert again.status == 0
    assert "out has 87 lines; shards: 5" in again.err
    assert "translated now" not in again.err
    assert [one.stat().st_mtime_ns for one in shards(tmp_path / "out")] == before


def test_parts_share_the_shards(files: list[Path], tmp_path: Path) -> None:
    job = ["translate", "demo", *map(str, files), "--out", str(tmp_path / "out"), "--beam=1"]
    options = ["--shards", "--shard-lines=25", "--processes=1"]
    first = command(*job, *options, "--part=1/2")
    assert first.status == 0
    assert "are missing" in first.err
    assert [one.name[:11] for one in shards(tmp_path / "out")] == [
        "00000-00000",
        "00000-00002",
        "00001-00001",
    ]
    second = command(*job, *options, "--part", "2/2")
    assert "missing" not in second.err
    assert len(shards(tmp_path / "out")) == 5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--part=1/2"], "got no --shards"),
        (["--on=ray"], "got no --shards"),
        (["--processes=3"], "--processes is of shards; got no --shards"),
        (["--shard-lines=7"], "--shard-lines is of shards; got no --shards"),
        (["--price-per-hour=2"], "--price-per-hour is of shards; got no --shards"),
        (["--shards", "--scores"], "got --scores"),
        (["--shards", "--n-best=3"], "got --n-best"),
        (["--shards", "--memory=a.tmx"], "got --memory"),
        (["--shards", "--part=3"], "such as 3/16; got 3"),
        (["--shards", "--part=0/2"], "such as 3/16"),
        (["--shards", "--part=3/2"], "such as 3/16"),
        (["--shards", "--shard-lines=0"], "--shard-lines must be at least 1; got 0"),
        (["--shards", "--processes=0"], "--processes must be at least 1; got 0"),
        (["--shards", "--price-per-hour=-1"], "--price-per-hour must be at least 0"),
    ],
)
def test_what_does_not_go_together_is_refused(files, tmp_path, options, words) -> None:
    done = command("translate", "demo", str(files[0]), "--out", str(tmp_path / "out"), *options)
    assert done.status == 2
    assert words in done.err
    assert not (tmp_path / "out").exists()


def test_missing_folders_and_files_are_named(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "a.po").write_text('msgid "A dog runs."\nmsgstr ""\n', "utf-8")
    for names, words in {
        ("nowhere",): "no such file: nowhere",
        (str(tmp_path / "*.xyz"),): "no file fits the pattern",
        (str(tmp_path / "in"),): "give a pattern in quotes",
        (str(files[0]), str(tmp_path / "empty")): "empty is empty",
        (str(tmp_path / "a.po"),): "a.po, whose markup would be taken for text",
        (): "headway translate RUN 'part-*.gz' --out DIR --shards",
    }.items():
        done = command("translate", "demo", *names, "--out", str(tmp_path / "out"), "--shards")
        assert done.status == 2
        assert words in done.err
    assert not (tmp_path / "out").exists()


def test_another_search_and_a_changed_file_are_refused(files: list[Path], tmp_path: Path) -> None:
    job = ["translate", "demo", str(files[0]), "--out", str(tmp_path / "out"), "--shards"]
    assert command(*job, "--beam=1").status == 0
    other = command(*job, "--beam=2")
    assert other.status == 2
    assert "another job: search beam was 1, and is now 2" in other.err
    files[0].write_text("another\n", "utf-8")
    other = command(*job, "--beam=1")
    assert other.status == 2
    assert "another job: inputs 00000 part-0 was [" in other.err


def test_lines_of_another_encoding_are_left_blank_and_listed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"A dog runs.\nA caf\xe9.\nA dog runs.\n")
    done = command("translate", "demo", str(tmp_path / "a"), "--out", str(tmp_path / "o"),
                   "--shards")  # fmt: skip
    assert done.status == 0
    first, blank, last = text_of(shards(tmp_path / "o")).split("\n")[:-1]
    assert first == last != ""
    assert blank == ""
    listed = tmp_path / "o" / ".headway" / "untranslated.tsv"
    assert f"1 of the lines are blank: {listed}" in done.err
    assert listed.read_text() == f"{tmp_path / 'a'}\t2\tit is not UTF-8 (byte 6)\n"


def test_a_damaged_file_is_left_out_and_said(files: list[Path], tmp_path: Path) -> None:
    files[1].write_bytes(files[1].read_bytes()[:-20])
    job = ["translate", "demo", *map(str, files), "--out", str(tmp_path / "out")]
    done = command(*job, "--shards", "--beam=1")
    assert done.status == 3
    assert "part-1.gz is damaged or cut off" in done.err
    assert [one.name for one in shards(tmp_path / "out")] == ["00000-00000.part-0"]


def test_files_of_one_name_in_two_folders_go_to_shards_of_their_own(files, tmp_path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "part-0").write_text("A dog runs.\n", "utf-8")
    patterns = [str(tmp_path / folder / "part-*") for folder in ("in", "more")]
    done = command("translate", "demo", *patterns, "--out", str(tmp_path / "out"), "--shards",
                   "--on=slurm")  # fmt: skip
    assert done.status == 0, done.err


def test_the_script_for_slurm_has_the_command(files, tmp_path, monkeypatch) -> None:
    job = ["translate", "demo", str(tmp_path / "in" / "part-*"), "--out", "o p", "--shards"]
    job += ["--on", "slurm", "--part=1/2", "--processes=32", "--runtime.engine", "auto"]
    monkeypatch.setattr("sys.argv", ["headway", *job])
    done = command(*job)
    assert done.status == 0
    assert done.out.startswith("#!/bin/bash\n")
    assert "#SBATCH --array=1-16\n" in done.out
    assert "#SBATCH --cpus-per-task=32\n" in done.out
    pattern = str(tmp_path / "in" / "part-*")
    assert f"translate demo '{pattern}' --out 'o p' --shards --runtime.engine auto " in done.out
    assert "--on" not in done.out
    assert not (tmp_path / "out").exists()


def test_what_another_process_is_at_is_missing_which_is_no_success(
    files: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    job = ["translate", "demo", *map(str, files), "--out", str(out), "--beam=1"]
    options = ["--shards", "--shard-lines=25", "--processes=1"]
    out.mkdir()
    with only_writer(out / "00000-00001.part-0", print):
        first = command(*job, *options)
    assert first.status == 3
    assert "another process is at them: 1." in first.err
    assert len(shards(out)) == 4
    assert command(*job, *options).status == 0
    assert len(shards(out)) == 5
