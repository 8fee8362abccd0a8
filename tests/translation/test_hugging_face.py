"""Runs as models of `transformers`; the oracle is what it opens by itself."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from everyday_run import command
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig

from headway.core.config import merge
from headway.core.errors import ConfigError, HeadwayError
from headway.core.optimizer import saved_tensors
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import load_tensors, save_tensors
from headway.exchange.hugging_face import generation_of, unlike_the_run
from headway.runs.loading import open_run
from headway.runs.settings import Settings
from headway.translation import exporting
from headway.translation.decoding import SamplingSettings
from headway.translation.exporting import export_hugging_face
from headway.translation.spec import SPEC
from headway.translator import Translator

FEW = 40


@pytest.fixture(autouse=True)
def few_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """An export compares fewer than it usually does; `exported`, which is made before, all."""
    monkeypatch.setattr(exporting, "SENTENCES", FEW)


def silent(_: str) -> None:
    pass


def random_run(everyday_run: Path, run: Path, **model: Any) -> Path:
    """The same run with other settings of the model, and random weights."""
    shutil.copytree(everyday_run, run)
    folder = RunFolder(run)
    sections = merge(folder.settings(), {"model": model})
    settings = Settings.of(sections, SPEC)
    torch.manual_seed(3)
    weights = saved_tensors(SPEC.build(settings, SPEC.vocabulary(run)))
    save_tensors({name: w + 0.3 * torch.randn_like(w) for name, w in weights.items()}, folder.model)
    folder.write_settings(settings.sections() | {"run": sections["run"]})
    return run


@pytest.mark.parametrize(("norm", "kind"), [("post", "marian"), ("pre", "pegasus")])
@pytest.mark.parametrize(
    "options",
    [
        {"tied": True},
        {"tied": False, "output_bias": True, "activation": "gelu"},
        {"activation": "gelu_tanh"},
        {"activation": "swish", "encoder_layers": 2, "d_model": 34},
    ],
    ids=str,
)
def test_transformers_computes_what_the_run_computes(everyday_run, tmp_path, norm, kind, options):
    run = random_run(everyday_run, tmp_path / "run", norm=norm, **options)
    found = export_hugging_face(run, kind, tmp_path / "out", silent)
    assert found.n_sentences == FEW
    assert found.log_prob < 1e-4
    assert found.choice < 1e-4
    described = json.loads((tmp_path / "out" / "config.json").read_text(encoding="utf-8"))
    assert described["model_type"] == kind


@pytest.fixture(scope="module")
def run(everyday_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_run(everyday_run, tmp_path_factory.mktemp("post") / "run", norm="post")


@pytest.fixture(scope="module")
def exported(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "out"
    finished = command("export", str(run), "--to", "marian", str(folder))
    assert finished.status == 0, finished.err
    assert re.search(r"checked with transformers \S+: 200 sentences", finished.err)
    return folder


def test_texts_in_and_texts_out_are_headways(run, exported):
    tokenizer = AutoTokenizer.from_pretrained(exported, local_files_only=True)
    model = AutoModelForSeq2SeqLM.from_pretrained(exported, local_files_only=True)
    texts = ["The dog sees a red ball.", "She reads.", "中文 and ½  Zoë"]
    batch = tokenizer(texts, return_tensors="pt", padding=True)
    written = model.generate(**batch, num_beams=1, max_length=None, max_new_tokens=30)
    found = tokenizer.batch_decode(written, skip_special_tokens=True)
    translator = Translator.load(run, device="cpu")
    settings = translator.decoding({"method": "greedy", "max_extra_length": 90})
    ours = [one.target for one in translator.plain(texts, translator.plain.request(settings))]
    assert any(found)
    for one, other in zip(ours, found, strict=True):
        assert one.startswith(other)


@pytest.mark.parametrize(
    ("decoding", "carried", "otherwise"),
    [
        ({"method": "greedy", "beam": 5}, {"num_beams": 1}, None),
        ({"method": "sampling", "n_best": 3}, {"num_beams": 1}, "do_sample=True"),
        ({"beam": 1}, {"num_beams": 1}, None),
        ({"beam": 4, "length_penalty": 0.0}, {"num_beams": 4, "length_penalty": 0.0}, None),
        ({"beam": 4}, {"num_beams": 4, "length_penalty": 1.0}, "not ((5 + length) / 6) ** 1"),
    ],
)
def test_the_search_of_the_run_goes_along_and_what_cannot_is_said(decoding, carried, otherwise):
    settings = SamplingSettings(**decoding)
    assert generation_of(settings) == carried
    _, *said = unlike_the_run(settings)
    assert len(said) == (otherwise is not None)
    assert (otherwise or "") in "".join(said)


def test_the_exported_search_is_the_runs(run, exported):
    found = GenerationConfig.from_pretrained(exported, local_files_only=True)
    settings = open_run(SPEC, run, device="cpu").settings.decoding
    assert (found.num_beams, found.length_penalty) == (settings.beam, settings.length_penalty)


def test_whoever_saves_it_again_has_the_same_model(exported, tmp_path):
    model = AutoModelForSeq2SeqLM.from_pretrained(exported, local_files_only=True).eval()
    model.save_pretrained(tmp_path)
    again = AutoModelForSeq2SeqLM.from_pretrained(tmp_path, local_files_only=True).eval()
    ids = torch.randint(4, 600, (2, 30))
    with torch.inference_mode():
        first, second = (one(input_ids=ids, decoder_input_ids=ids).logits for one in (model, again))
    assert torch.equal(first, second)


@pytest.mark.parametrize(
    ("kind", "options", "word"),
    [
        ("marian", {"norm": "pre"}, "--to pegasus"),
        ("pegasus", {"norm": "post"}, "--to marian"),
        ("marian", {"norm": "post", "positions": "learned"}, "learned positions"),
        ("marian", {"norm": "post", "positions": "rotary"}, "rotary positions"),
        ("marian", {"norm": "post", "activation": "swiglu"}, "swiglu"),
        ("marian", {"norm": "post", "window": 4}, "window"),
        ("marian", {"norm": "post", "d_k": 4, "d_v": 4}, "d_k"),
        ("marian", {"norm": "post", "layer_norm_epsilon": 1e-6}, "epsilon"),
    ],
)
def test_what_cannot_be_held_is_refused_with_the_reason(
    everyday_run, tmp_path, kind, options, word
):
    run = random_run(everyday_run, tmp_path / "run", **options)
    with pytest.raises(ConfigError, match=word):
        export_hugging_face(run, kind, tmp_path / "out", silent)
    assert not (tmp_path / "out").exists()


def test_a_model_that_differs_is_not_left(run, tmp_path, monkeypatch):
    def wrong(model):
        weights = to_theirs(model)
        weights["model.encoder.layers.0.fc1.weight"][0] += 0.5
        return weights

    to_theirs = exporting.hugging_face.to_theirs
    monkeypatch.setattr(exporting.hugging_face, "to_theirs", wrong)
    with pytest.raises(HeadwayError, match="Nothing was written"):
        export_hugging_face(run, "marian", tmp_path / "out", silent)
    assert not list(tmp_path.iterdir())


def test_a_tokenizer_that_differs_is_not_left(run, tmp_path, monkeypatch):
    def without_end(special, folder, **others):
        write_tokenizer(special, folder, **others)
        shutil.copy(run / "tokenizer.json", folder)

    write_tokenizer = exporting.hugging_face.write_tokenizer
    monkeypatch.setattr(exporting.hugging_face, "write_tokenizer", without_end)
    with pytest.raises(HeadwayError, match="the ids that the run does"):
        export_hugging_face(run, "marian", tmp_path / "out", silent)
    assert not list(tmp_path.iterdir())


def test_texts_with_a_marker_in_them_stop_no_export_and_are_counted(run, tmp_path):
    files = {"source": tmp_path / "new.en", "target": tmp_path / "new.zh"}
    texts = {"source": "The dog runs.\nIt is <s>old</s>.\n", "target": "狗在跑。\n它很老。\n"}
    for side, file in files.items():
        file.write_text(texts[side], encoding="utf-8")
    folder = RunFolder(shutil.copytree(run, tmp_path / "run"))
    named = {side: [str(file)] for side, file in files.items()}
    folder.write_settings(merge(folder.settings(), {"data": named}))
    said = list[str]()
    found = export_hugging_face(folder.path, "marian", tmp_path / "out", said.append)
    assert found.n_sentences == 2
    assert any(line.startswith("in 1 of these texts a marker") for line in said)


def test_the_run_is_as_it_was(run, exported):
    weights = load_tensors(run / "model.safetensors")
    model = open_run(SPEC, run, device="cpu").model
    for name, tensor in saved_tensors(model).items():
        assert torch.equal(tensor, weights[name])
