"""Every type of translator goes the whole way: train, stop, go on, load, translate, look."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from everyday_run import FLAGS, Finished, check_stopped_and_resumed, command, write_corpus

from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.demo import generate
from headway.inspection.attention_picture import AttentionMap, draw_attention
from headway.models import MODELS, PRESETS
from headway.runs.settings import Settings
from headway.translation.spec import SPEC
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

RUN_FLAGS = [flag for flag in FLAGS if not flag.startswith("--model.")]
RECURRENT = ("--model.type=recurrent", "--model.d-embedding=8", "--model.d-model=12")
ABLATED = (
    "--model.type=ablated", "--model.encoder-layers=1", "--model.decoder-layers=1",
    "--model.d-model=16", "--model.d-ff=16", "--model.heads=2",
    "--training.average=1", "--decoding.max-extra-length=0",  # its steps are slow
)  # fmt: skip
SMALL = [flag for flag in FLAGS if flag.startswith("--model.")]
CONVOLUTIONS = ("--model.d-model=12", "--model.encoder-layers=2", "--model.decoder-layers=2")
TYPES = {
    "one vector, LSTM": (*RECURRENT, "--model.attention=none", "--model.recurrence=lstm"),
    "Bahdanau, GRU": (*RECURRENT, "--model.attention=additive"),
    "Luong, LSTM": (*RECURRENT, "--model.attention=dot", "--model.recurrence=lstm"),
    "one vector, BatchNorm, no mask": (
        *ABLATED, "--model.cross=mean", "--model.normalize=batch", "--no-model.causal",
    ),
    "ConvS2S": ("--model.type=convolutional", *CONVOLUTIONS),
    "ByteNet": ("--model.type=bytenet", *CONVOLUTIONS),
}  # fmt: skip

FEW = ("--data.valid-size=3", "--training.valid-sentences=2")
SHORT = ("--training.max-steps=2", "--training.checkpoint-every=2", "--data.max-length=40", *FEW)


@pytest.fixture(scope="module")
def few_pairs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_corpus(tmp_path_factory.mktemp("few"), 60)


def train(files: tuple[Path, Path], run: Path, flags: tuple[str, ...]) -> Finished:
    names = ("--source", str(files[0]), "--target", str(files[1]), "--out", str(run))
    return command("train", *names, *RUN_FLAGS, *flags)


@pytest.mark.parametrize("flags", TYPES.values(), ids=TYPES)
def test_it_trains_stops_goes_on_and_translates(few_pairs, tmp_path, monkeypatch, flags):
    check_stopped_and_resumed(
        lambda run: train(few_pairs, run, (*flags, *SHORT)),
        tmp_path,
        monkeypatch,
        at_update=1,
    )
    whole = tmp_path / "whole"
    translator = Translator.load(whole, device="cpu")
    texts = sorted((source for source, _ in generate(20, seed=5)), key=len)[:3]
    for beam in (1, 3):
        found = translator.translate_fully(texts, beam=beam)
        assert all(np.isfinite(one.n_best[0].score) for one in found)
    if {"--model.attention=none", "--model.type=bytenet"} & set(flags):
        asked = command("translate", str(whole), str(few_pairs[0]), "--alignment")
        assert asked.status == 2
        assert "no attention to align by. Leave out --alignment." in asked.err
        assert asked.out == ""
        with pytest.raises(ConfigError, match="attention = none|has a method `look`"):
            translator.attention(texts[0])
        return
    looked = translator.attention(texts[0])
    np.testing.assert_allclose(looked.cross.sum(-1), 1, atol=1e-5)
    assert looked.cross.shape[-2:] == (len(looked.target_tokens), len(looked.source_tokens))
    picture = tmp_path / "attention.png"
    of = AttentionMap(
        looked.cross[-1][:, :3], looked.target_tokens[:3], looked.source_tokens, "source"
    )
    draw_attention([of], picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


ENDING = {
    "transformer": (*SMALL, "--model.positions=learned"),
    "ablated": (*ABLATED, "--model.positions=learned"),
    "convolutional": TYPES["ConvS2S"],
}


@pytest.mark.parametrize("flags", ENDING.values(), ids=ENDING)
def test_a_pair_beyond_the_last_position_is_refused_before_the_run_is_written(
    everyday_files, tmp_path, flags
):
    short = ("--training.max-steps=1", "--training.valid-sentences=2", "--model.max-length=32")
    flags = (*flags, *short)
    refused = train(everyday_files, tmp_path / "run", flags)
    assert refused.status == 2
    assert not (tmp_path / "run").exists()
    remedies = re.search(
        r"Try (--model\.max-length (\d+)), or (--data\.max-length 31)\.", refused.err
    )
    assert remedies is not None, refused.err
    for number, remedy in enumerate((remedies[3], remedies[1])):
        finished = train(everyday_files, tmp_path / f"{number}", (*flags, *remedy.split()))
        assert finished.status == 0, finished.err
    record = json.loads((tmp_path / "1" / "data.json").read_text(encoding="utf-8"))
    assert 1 + max(record["longest"].values()) == int(remedies[2])


OTHERS = ("recurrent", "convolutional", "bytenet")


@pytest.mark.parametrize("name", OTHERS)
def test_a_type_alone_takes_its_own_preset_and_refuses_anothers(few_pairs, tmp_path, name):
    run = tmp_path / "run"
    flags = (f"--model.type={name}", "--training.max-steps=1", *FEW)
    finished = train(few_pairs, run, flags)
    assert f"preset {name}: made for this type of model" in finished.err
    settings = RunFolder(run).settings()["model"]
    assert PRESETS[name]["model"].items() <= {**settings, "dropout": 0.2}.items()
    refused = train(few_pairs, tmp_path / "other", (*flags, "--preset=tiny"))
    assert refused.status == 2
    assert f"--preset tiny is for --model.type transformer; got {name}" in refused.err


@pytest.mark.parametrize("name", OTHERS)
def test_its_preset_has_as_many_parameters_as_tiny(name):
    sizes = []
    for preset in ("tiny", name):
        settings = Settings.of(PRESETS[preset], SPEC)
        with torch.device("meta"):
            model = MODELS[settings.model_type][1](settings.model, vocabulary_size=10_000)
        sizes.append(sum(parameter.numel() for parameter in model.parameters()))
    assert sizes[1] == pytest.approx(sizes[0], rel=0.05)
