"""`headway inspect`: one page, pictures or JSON, and clear words where there is nothing to see."""

import json
import os
import shutil
from pathlib import Path

import pytest

from headway.cli import main

LATIN = os.fsdecode(b"caf\xe9")


def complaint(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["inspect", *arguments]) == 2
    return capsys.readouterr().err


def test_the_page_is_one_file_that_names_nothing_elsewhere(
    everyday_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["inspect", str(everyday_run), "The dog runs.", "--out", str(page)]) == 0
    assert str(page) in capsys.readouterr().err
    text = page.read_text(encoding="utf-8")
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert "The dog runs." in text


def test_json_is_the_document_of_the_text(
    everyday_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(everyday_run), "The dog runs.", "--target", "狗。", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (sentence,) = found["sentences"]
    assert sentence["forced"]
    written = "".join(token["piece"] for token in sentence["tokens"]["target"])
    assert written == "狗。</s>"


def test_without_a_text_it_takes_some_of_the_runs_own(
    everyday_run: Path,
    everyday_files: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("headway.inspection.opened_runs.N_TEXTS", 2)
    assert main(["inspect", str(everyday_run), "--json"]) == 0
    texts = [one["text"] for one in json.loads(capsys.readouterr().out)["sentences"]]
    assert len(texts) == 2
    assert set(texts) <= set(everyday_files[0].read_text(encoding="utf-8").splitlines())


def test_full_leaves_no_number_out(
    everyday_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.inspection.passage_analysis.ROOM", 50_000)
    left_out = []
    for more in ([], ["--full"]):
        assert main(["inspect", str(everyday_run), "The dog runs.", "--json", *more]) == 0
        (sentence,) = json.loads(capsys.readouterr().out)["sentences"]
        left_out.append(sentence["cells"]["left_out"])
    assert left_out[0] != left_out[1] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["", "--json"], "nothing to look at"),
        (["--target", "x"], "no text was given"),
        (["a text", "--json", "--live"], "Take one"),
        (["a text", "--out", "{folder}"], "is a folder"),
        (["a text", "--out", "{folder}/not/there.html"], "Make it, or name another"),
        (["a text", "--tag", "medical", "--json"], "knows the tags"),
        (["a text", "--live", "--port", "99999"], "--port"),
        ([LATIN, "--json"], "must be UTF-8; got 'caf\\udce9'"),
        (["a text", "--target", LATIN, "--json"], "must be UTF-8"),
    ],
)
def test_what_cannot_be_done_is_said(
    everyday_run: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    given = [argument.format(folder=tmp_path) for argument in arguments]
    said = complaint([str(everyday_run), *given], capsys)
    assert words in said


def test_a_page_replaces_no_file_of_another_kind(
    everyday_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine", encoding="utf-8")
    said = complaint([str(everyday_run), "a text", "--out", str(notes)], capsys)
    assert f"Try {tmp_path / 'notes.html'}" in said
    assert notes.read_text(encoding="utf-8") == "mine"
    assert "Traceback" not in said


def test_a_folder_without_a_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert str(tmp_path) in complaint([str(tmp_path), "text"], capsys)


def test_trainings_are_a_page_of_their_own(
    everyday_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = shutil.copytree(everyday_run, tmp_path / "other")
    runs = [str(everyday_run), str(other)]
    assert main(["inspect", *runs, "--training", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [run["name"] for run in found["training"]["runs"]] == [everyday_run.name, "other"]
    assert found["sentences"] == []
    page = tmp_path / "page.html"
    assert main(["inspect", *runs, "--training", "--out", str(page)]) == 0
    assert "valid_loss" in page.read_text(encoding="utf-8")


def test_a_training_is_seen_before_there_is_a_model(
    everyday_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(everyday_run, tmp_path / "run")
    (run / "model.safetensors").unlink()
    assert main(["inspect", str(run), "--training", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["training"]
    assert found["runs"][0]["updates"] == 12


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--training", "--off", "encoder.0"], "--off is about one text"),
        (["--training", "The dog runs."], "The dog runs. does not exist"),
        (["a text", "another"], "one text is looked at; got 2"),
    ],
)
def test_what_would_mean_nothing_is_refused(
    everyday_run: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert words in complaint([str(everyday_run), *arguments], capsys)
