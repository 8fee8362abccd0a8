"""Two commands that write to one place: the second is refused at once; what is no file is free."""

import os
import threading
from pathlib import Path

import pytest
from everyday_run import Finished, command
from several_processes import by_processes

from headway.operations.locks import only_writer_of_file, only_writer_of_folder
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
LINES = "The dog runs.\nI love my sister.\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Two lines to translate."""
    file = tmp_path / "new.en"
    file.write_text(LINES, encoding="utf-8")
    return file


def refused(finished: Finished, place: Path) -> None:
    assert finished.status == 2
    assert f"may write {place}; process {os.getpid()} on " in finished.err
    assert finished.err.count("\n") == 1  # nothing was done before


def test_a_second_translation_to_one_file_is_refused_before_the_model_is_loaded(
    everyday_run: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Translator, "load", lambda *_args, **_named: pytest.fail("loaded"))
    out, table = text.with_name("new.zh"), text.with_name("new.tsv")
    table.write_text("en\tzh\nThe dog runs.\t\n", encoding="utf-8")
    filled, link = text.with_name("filled.tsv"), text.with_name("link.zh")
    link.symlink_to(out)
    with only_writer_of_file(out, pytest.fail), only_writer_of_file(filled, pytest.fail):
        for place in (out, link):
            refused(command("translate", str(everyday_run), str(text), "--out", str(place)), out)
        refused(command("translate", str(everyday_run), str(table), "--out", str(filled)), filled)
    left = {"new.en", "new.tsv", "link.zh", "cache"}
    assert {path.name for path in text.parent.iterdir()} <= left


def test_a_second_prepare_is_refused(
    everyday_files: tuple[Path, Path], tmp_path: Path, own_cache: Path
) -> None:
    files = ["--source", str(everyday_files[0]), "--target", str(everyday_files[1])]
    for flag in ("--page", "--suspects"):
        with only_writer_of_file(tmp_path / "x", pytest.fail):
            refused(command("prepare", *files, flag, str(tmp_path / "x")), tmp_path / "x")
    with only_writer_of_folder(tmp_path / "clean", pytest.fail):
        refused(command("prepare", *files, "--out", str(tmp_path / "clean")), tmp_path / "clean")
    assert list(own_cache.iterdir()) == []
    assert not (tmp_path / "clean").exists()
    done = command("prepare", *files, "--out", str(tmp_path / "clean"))
    assert done.status == 0, done.err
    assert {path.name for path in (tmp_path / "clean").iterdir()} == {"train.en", "train.zh"}


def test_a_folder_is_no_place_for_a_translation(everyday_run: Path, text: Path) -> None:
    done = command("translate", str(everyday_run), str(text), "--out", str(text.parent))
    assert done.status == 2
    assert "is a folder" in done.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes by name are of POSIX")
def test_a_device_a_pipe_and_a_link_are_written_to_as_they_are(
    everyday_run: Path, text: Path
) -> None:
    folder = text.parent / "places"
    folder.mkdir()
    pipe, link, target = folder / "pipe", folder / "link", folder / "target"
    os.mkfifo(pipe)
    link.symlink_to(target)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    for place in (Path(os.devnull), pipe, link):
        done = command("translate", str(everyday_run), str(text), "--out", str(place))
        assert done.status == 0, done.err
    reader.join()
    assert read == [target.read_text(encoding="utf-8")]
    assert read[0].count("\n") == 2
    assert link.is_symlink()
    assert {path.name for path in folder.iterdir()} == {"pipe", "link", "target"}
    assert not os.path.isfile(os.devnull)


def test_of_two_processes_one_translates_and_the_other_says_who(
    everyday_run: Path, text: Path
) -> None:
    out = text.with_name("new.zh")
    text.write_text(LINES * 400, encoding="utf-8")

    def one(_: int) -> tuple[int, str, int]:
        ended = command("translate", str(everyday_run), str(text), "--out", str(out))
        return ended.status, ended.err, os.getpid()

    (done, _, first), (other, said, _) = sorted(by_processes(2, one))
    assert (done, other) == (0, 2), said
    assert f"process {first} on " in said
    assert out.read_text(encoding="utf-8").count("\n") == 800
