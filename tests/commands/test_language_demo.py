"""The demo of language models from end to end, on a small corpus and a model without time."""

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.cli import main
from headway.commands import language_demo
from headway.demo.paragraphs import CONTRASTS, FAR_CONTRASTS

QUICK = [
    "--training.max-steps=4", "--training.checkpoint-every=4", "--training.batch-tokens=256",
    "--model.d-model=16", "--runtime.threads=1",
]  # fmt: skip


def run_demo(*options: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["demo", "--task", "language-model", *options, *QUICK])
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module", autouse=True)
def small_corpus() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        sizes = {"N_TRAIN": 300, "N_VALID": 40, "N_TEST": 40, "MOST_WRITTEN": 10}
        for name, value in sizes.items():
            patch.setattr(language_demo, name, value)
        yield


@pytest.fixture(scope="module")
def finished(
    small_corpus: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int, str, str]:
    folder = tmp_path_factory.mktemp("demo") / "new"
    shape = ("--model.d-ff=16", "--model.heads=2", "--text", "判断 这个 词 的 读音")
    return folder, *run_demo("--out", str(folder), *shape)


def test_both_models_rank_every_pair_and_say_what_comes_next(
    finished: tuple[Path, int, str, str],
) -> None:
    _, status, out, err = finished
    assert status == 0, err
    assert re.search(r"^  ngram \d+\.\d\d\n  transformer \d+\.\d\d$", out, re.MULTILINE)
    ranked = re.findall(r"^ +[+-]\d+\.\d\d +[+-]\d+\.\d\d   \S.*\(not \S+\)$", out, re.MULTILINE)
    assert len(ranked) == len(CONTRASTS) + len(FAR_CONTRASTS)
    assert "判断这个词的词性  (not 磁性)" in out
    assert re.search(r"判断 这个 词 的 读音\n  ngram -\d+\.\d\d, transformer -\d+\.", out)
    assert re.search(r"^What comes after 判断 这个 词 的\?\n  ngram: \S+ 0\.\d{3}, ", out, re.M)
    assert out.count("\n  The bank") == 2
    for command in ("score", "predict", "generate", "compare", "train"):
        assert f"  headway {command} " in out


def test_counting_ranks_one_of_two_far_ones_wrong(finished: tuple[Path, int, str, str]) -> None:
    # Equal words stand between what tells and what is told: what counts them has one preference.
    rows = finished[2].split("stands far before:")[1].splitlines()[2 : 2 + len(FAR_CONTRASTS)]
    ahead = [float(row.split()[0]) for row in rows]
    assert ahead[0::2] == pytest.approx([-value for value in ahead[1::2]], abs=0.01)


def test_the_corpus_lies_there_in_documents(finished: tuple[Path, int, str, str]) -> None:
    for part, n in (("train", 300), ("valid", 40), ("test", 40)):
        text = (finished[0] / f"{part}.txt").read_text(encoding="utf-8")
        assert len(text.split("\n\n")) == n


def test_a_second_time_uses_the_trained_models(finished: tuple[Path, int, str, str]) -> None:
    folder, _, first, _ = finished
    files = [folder / run / "model.safetensors" for run in ("counted", "learned")]
    before = [file.stat().st_mtime_ns for file in files]
    status, again, err = run_demo("--out", str(folder))
    assert status == 0, err
    assert [file.stat().st_mtime_ns for file in files] == before
    shown = first.index("\nPerplexity")
    assert again[shown : shown + 200] == first[shown : shown + 200]


def test_another_type_of_model_can_be_asked_for(tmp_path: Path) -> None:
    status, out, err = run_demo("--out", str(tmp_path), "--model.type", "lstm")
    assert status == 0, err
    assert re.search(r"^  ngram \d.*\n  lstm \d", out, re.MULTILINE)


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    status, out, err = run_demo("--out", str(tmp_path))
    assert (status, out) == (2, "")
    assert "holds no corpus of the demo" in err
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_task_that_is_none_is_refused() -> None:
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        assert main(["demo", "--task", "poetry"]) == 2
    assert "language-model" in err.getvalue()
