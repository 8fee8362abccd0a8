"""`headway parameters`: of presets, files of settings and runs."""

import json

import pytest
from text_run import train, write_corpus

from headway.cli import main
from headway.core.config import format_toml, merge
from headway.language_models.models import PRESETS as LANGUAGE_MODELS
from headway.models import PRESETS as TRANSLATORS


def found(capsys, *arguments):
    assert main(["parameters", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_papers_base_model(capsys):
    base = found(capsys, "paper-base", "--length", "32")
    assert base["parameters"] == 63_082_496
    assert base["vocabulary"] == 37_000
    assert base["batch"] == {"batch": 25_000 // 32, "source": 32, "target": 32}
    per_token = base["operations"]["forward_per_token"]
    assert sum(part["forward_operations"] for part in base["parts"]) == per_token * 781 * 32


@pytest.mark.parametrize("preset", sorted({*TRANSLATORS, *LANGUAGE_MODELS} - {"ngram"}))
def test_every_preset_can_be_counted(capsys, preset):
    """With one layer of each kind: those above it are counted alike."""
    if preset in TRANSLATORS:
        layers = ["--model.encoder-layers=1", "--model.decoder-layers=1"]
    else:
        layers = ["--model.layers=1"] * ("layers" in LANGUAGE_MODELS[preset]["model"])
    few = ("--vocabulary", "100", "--batch", "1", "--length", "3")
    of = found(capsys, preset, *few, *layers)
    assert of["parameters"] > 10_000
    assert of["operations"]["forward_per_token"] > of["parameters"] // 10


def test_settings_go_on_top(capsys, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("[model]\nd_model = 16\nheads = 2\ndecoder_layers = 1\n", encoding="utf-8")
    shallow = found(capsys, str(file), "--vocabulary", "50", "--model.encoder-layers", "1")
    assert "encoder.1.self_attention" not in [part["name"] for part in shallow["parts"]]
    assert shallow["vocabulary"] == 50


@pytest.mark.parametrize(
    ("preset", "task"), [("recurrent", "translation"), ("gru", "language-model")]
)
def test_below_a_file_lies_the_only_preset_that_train_could_lay_there(
    capsys, tmp_path, preset, task
):
    file = tmp_path / "mine.toml"
    file.write_text(format_toml({"model": {"type": preset}}), encoding="utf-8")
    few = ("--task", task, "--batch", "1", "--length", "2")
    of_file, of_preset = (found(capsys, name, *few) for name in (str(file), preset))
    assert {**of_file, "name": preset} == of_preset
    assert of_file["assumed"] == ["32,000 tokens are assumed; --vocabulary V says how many"]


def test_what_a_file_leaves_to_one_of_several_presets_is_said(capsys, tmp_path):
    file = tmp_path / "mine.toml"
    shallow = merge(TRANSLATORS["tiny"], {"model": {"encoder_layers": 1, "decoder_layers": 1}})
    file.write_text(format_toml(shallow), encoding="utf-8")
    [assumed, _] = found(capsys, str(file))["assumed"]
    assert "train takes it from the preset that suits the text (tiny, small" in assumed
    assert main(["parameters", str(file)]) == 0
    assert assumed in capsys.readouterr().out


def test_a_run_is_what_it_is(capsys, tmp_path):
    run = tmp_path / "run"
    few = ("--training.max-steps=2", "--training.checkpoint-every=2")
    assert train("lstm", write_corpus(tmp_path / "a.txt", 60), run, *few).status == 0
    capsys.readouterr()
    assert main(["parameters", str(run)]) == 0
    shown = capsys.readouterr().out
    assert "stack.layers.0" in shown
    card = (run / "README.md").read_text(encoding="utf-8")
    assert f"{found(capsys, str(run))['parameters']:,} parameters" in card
    assert main(["parameters", str(run), "--model.d-model", "8"]) == 2


def test_a_model_that_counts_says_what_it_can(capsys):
    assert main(["parameters", "ngram"]) == 0
    assert "as many n-grams as the text has" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["huge"], "Presets: tiny"),
        (["huge"], "(language-model); tiny, small (masked-language-model)."),
        (["small", "--task", "classification"], "Presets: none of the task classification."),
        (["lstm", "--task", "translation"], "(translation)"),
        (["tiny", "--length", "0"], "--length is a number of at least 1"),
        (["tiny", "--model.type", "bytenet"], "--preset tiny is for --model.type transformer"),
    ],
)
def test_what_is_no_model_is_refused(capsys, arguments, told):
    assert main(["parameters", *arguments]) == 2
    assert told in capsys.readouterr().err
