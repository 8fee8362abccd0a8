"""The demo from end to end, on a small corpus and a model that has no time to learn."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from headway.cli import main
from headway.commands import demo as demo_module

QUICK = [
    "--training.max-steps=4", "--training.checkpoint-every=4", "--model.d-model=16",
    "--model.d-ff=16", "--model.heads=2", "--text.vocabulary-size=700", "--runtime.threads=1",
    "--decoding.max-extra-length=0",
]  # fmt: skip


def run_demo(*options: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["demo", *options, *QUICK])
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module", autouse=True)
def small_corpus() -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"N_TRAIN": 300, "N_VALID": 60, "N_TEST": 60}.items():
            patch.setattr(demo_module, name, value)
        yield


@pytest.fixture(scope="module")
def finished(
    small_corpus: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int, str, str]:
    folder = tmp_path_factory.mktemp("demo") / "new" / "demo"
    return folder, *run_demo("--out", str(folder))


def test_it_ends_with_a_score_pictures_and_what_to_do_next(
    finished: tuple[Path, int, str, str],
) -> None:
    folder, status, out, err = finished
    assert status == 0, err
    assert re.search(r"^BLEU \d+\.\d$", out, re.MULTILINE)
    for picture in ("attention.png", "encoder-attention.png"):
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
        assert str(folder / picture) in out
    for command in ("translate", "evaluate", "prepare", "train"):
        assert f"  headway {command} " in out
    assert "The animal didn't cross the street because it was too tired." in out


def test_the_corpus_lies_there_as_aligned_files(finished: tuple[Path, int, str, str]) -> None:
    folder = finished[0]
    for part, n_pairs in (("train", 300), ("valid", 60), ("test", 60)):
        for language in ("en", "zh"):
            text = (folder / f"{part}.{language}").read_text(encoding="utf-8")
            assert len(text.splitlines()) == n_pairs
    assert (folder / "test.translated.zh").read_bytes().count(b"\n") == 60


def test_a_second_time_uses_the_trained_model_and_translates_what_is_asked(
    finished: tuple[Path, int, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_module, "_draw", lambda *_: None)
    folder, _, first, _ = finished
    model = folder / "run" / "model.safetensors"
    before = model.stat().st_mtime_ns
    texts = ["--text", "Zebras love learning.", "--text", "I love cats."]
    status, again, err = run_demo("--out", str(folder), *texts)
    assert status == 0, err
    assert model.stat().st_mtime_ns == before
    bleu = re.compile(r"BLEU .*")
    assert bleu.search(again)[0] == bleu.search(first)[0]
    assert "(new to it: zebras)" in again
    assert "I love cats." in again


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    status, out, err = run_demo("--out", str(tmp_path))
    assert (status, out) == (2, "")
    assert "holds no corpus of the demo" in err
    assert "--out" in err
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_corpus_that_is_no_utf_8_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "train.en").write_bytes(b"caf\xe9\n")
    status, out, err = run_demo("--out", str(tmp_path))
    assert (status, out) == (2, "")
    assert "holds another train.en" in err
    assert (tmp_path / "train.en").read_bytes() == b"caf\xe9\n"


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "demo"
    file.write_text("mine", encoding="utf-8")
    assert run_demo("--out", str(file))[0] == 2
    assert file.read_text(encoding="utf-8") == "mine"


def test_a_corpus_that_was_changed_is_not_written_over(
    finished: tuple[Path, int, str, str], tmp_path: Path
) -> None:
    for file in finished[0].glob("*.??"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "test.zh").write_text("改了\n", encoding="utf-8")
    status, _, err = run_demo("--out", str(tmp_path))
    assert status == 2
    assert "holds another test.zh" in err
    assert (tmp_path / "test.zh").read_text(encoding="utf-8") == "改了\n"


def test_a_demo_that_was_stopped_goes_on_with_the_settings_it_has(
    finished: tuple[Path, int, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_module, "_draw", lambda *_: None)
    (tmp_path / "train.en").write_bytes((finished[0] / "train.en").read_bytes())
    status, _, err = run_demo("--out", str(tmp_path), "--training.seed=1")
    assert status == 2  # an unknown setting: the corpus is there, and no run was begun
    assert "seed" in err
    assert not (tmp_path / "run").exists()
    status, _, err = run_demo("--out", str(tmp_path))
    assert status == 0, err
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main(["demo", "--out", str(tmp_path)]) == 0  # no flag: those of the first time


def test_a_misspelt_option_is_an_error_that_names_the_right_one(tmp_path: Path) -> None:
    status, _, err = run_demo("--out", str(tmp_path / "demo"), "--bugdet", "2m")
    assert status == 2
    assert "--budget" in err
