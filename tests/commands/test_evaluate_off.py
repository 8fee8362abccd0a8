"""`headway evaluate RUN --off PART`: what a part is worth."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from everyday_run import command
from safetensors.torch import load_file

from headway.earlier_translators.variants import WithoutSublayer
from headway.metrics.evaluation import compare, measure, summarize
from headway.translation.decoding import EngineChoice
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
    everyday_run: Path, test_set: tuple[str, str]
) -> None:
    finished = evaluate(everyday_run, test_set, "--off", "cross.0.head.1", "encoder.0", "--json")
    assert finished.status == 0, finished.err
    assert "the same without cross.0.head.1, encoder.0" in finished.err
    found = json.loads(finished.out)

    translator = Translator.load(everyday_run, device="cpu")
    texts, references = (Path(f).read_text(encoding="utf-8").splitlines() for f in test_set)
    translator.search.choice = EngineChoice("torch")
    measured = []
    for name in ("whole", "without"):
        if name == "without":  # weights in which the part is nothing, and a layer that has none
            layer = translator.model.encoder[0]
            layer.around_self_attention = layer.around_feed_forward = WithoutSublayer()
            translator.model.decoder[0].cross_attention.to_output.weight.data[:, 16:] = 0
        measured.append(measure(translator.translate(texts), references, target_language="zh"))
    for scores, one in ((found, measured[0]), (found["second"], measured[1])):
        for metric in ("bleu", "chrf"):
            assert scores[metric] == asdict(getattr(summarize(one), metric))
    differences = compare(*measured)
    assert found["difference"]["chrf"] == asdict(differences["chrf"])
    assert found["difference"]["bleu"] == asdict(differences["bleu"])
    assert found["second"]["system"] == "without cross.0.head.1, encoder.0"


def test_people_see_both_scores_and_the_difference(
    everyday_run: Path, test_set: tuple[str, str]
) -> None:
    finished = evaluate(everyday_run, test_set, "--off", "decoder.0.feed_forward", "--no-ter")
    assert finished.status == 0, finished.err
    assert "difference" in finished.out
    assert "paired bootstrap" in finished.out


def test_what_cannot_be_switched_off_is_refused_before_anything_is_translated(
    everyday_run: Path, test_set: tuple[str, str]
) -> None:
    before = load_file(everyday_run / "model.safetensors")
    finished = evaluate(everyday_run, test_set, "--off", "cross.7")
    assert finished.status == 2
    assert "Did you mean 'cross.0'" in " ".join(finished.err.split())
    after = load_file(everyday_run / "model.safetensors")
    assert all(before[name].equal(after[name]) for name in before)


def test_parts_are_a_runs(test_set: tuple[str, str]) -> None:
    finished = command("evaluate", "--hypothesis", *test_set[:1], "--off", "cross.1",
                       "--reference", test_set[1])  # fmt: skip
    assert finished.status == 2
    assert "--off is for what a run translates" in finished.err
