"""`headway evaluate RUN --off PART`: what a part is worth."""

import json
from pathlib import Path

import pytest
from everyday_run import command
from safetensors.torch import load_file

from headway.nn.variants import WithoutSublayer
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(scope="module")
def test_set(everyday_files: tuple[Path, Path], tmp_path_factory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("test")
    files = []
    for file in everyday_files:
        few = folder / file.name
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        few.write_text("".join(lines[:12]), encoding="utf-8")
        files.append(str(few))
    return files[0], files[1]


def evaluate(run: Path, test_set: tuple[str, str], *more: str):
    source, reference = test_set
    return command("evaluate", str(run), "--source", source, "--reference", reference, *more)


def test_both_scores_are_those_of_the_model_with_and_without_the_part(
    everyday_run: Path, test_set: tuple[str, str], tmp_path: Path
) -> None:
    finished = evaluate(everyday_run, test_set, "--off", "cross.0.head.1", "encoder.0", "--json")
    assert finished.status == 0, finished.err
    assert "the same without cross.0.head.1, encoder.0" in finished.err
    found = json.loads(finished.out)

    translator = Translator.load(everyday_run, device="cpu")
    texts = Path(test_set[0]).read_text(encoding="utf-8").splitlines()
    translator.plain.how = {"engine": "torch"}
    files = []
    for name in ("whole", "without"):
        if name == "without":  # weights in which the part is nothing, and a layer that has none
            layer = translator.model.encoder[0]
            layer.around_self_attention = layer.around_feed_forward = WithoutSublayer()
            weight = translator.model.decoder[0].cross_attention.to_output.weight
            weight.data[:, 16:] = 0
        files.append(tmp_path / name)
        lines = translator.translate(texts)
        files[-1].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    expected = command(
        "evaluate", "--hypothesis", *map(str, files), "--source", test_set[0],
        "--reference", test_set[1], "--json",
    )  # fmt: skip
    right = json.loads(expected.out)
    assert found["bleu"] == right["bleu"]
    assert found["second"]["chrf"] == right["second"]["chrf"]
    assert found["second"]["bleu"] == right["second"]["bleu"]
    assert found["difference"] == right["difference"]
    assert found["second"]["system"] == "without cross.0.head.1, encoder.0"


def test_people_see_both_scores_and_the_difference(
    everyday_run: Path, test_set: tuple[str, str]
) -> None:
    finished = evaluate(everyday_run, test_set, "--off", "decoder.0.feed_forward", "--no-ter")
    assert finished.status == 0, finished.err
    assert "difference" in finished.out
    assert "paired bootstrap" in finished.out


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("cross.7", "Did you mean 'cross.0'"),
        ("encoder.0.head.0.row.1=2", "Try encoder.0.head.0."),
    ],
)
def test_what_cannot_be_switched_off_is_refused_before_anything_is_translated(
    everyday_run: Path, test_set: tuple[str, str], part: str, said: str
) -> None:
    before = load_file(everyday_run / "model.safetensors")
    finished = evaluate(everyday_run, test_set, "--off", part)
    assert finished.status == 2
    assert said in " ".join(finished.err.split())
    after = load_file(everyday_run / "model.safetensors")
    assert all(before[name].equal(after[name]) for name in before)


def test_parts_are_a_runs(test_set: tuple[str, str]) -> None:
    finished = command("evaluate", "--hypothesis", *test_set[:1], "--off", "cross.1",
                       "--reference", test_set[1])  # fmt: skip
    assert finished.status == 2
    assert "--off is for what a run translates" in finished.err
