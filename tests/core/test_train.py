"""The core alone: two text files become a run folder that all of headway opens."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from everyday_run import command, write_corpus

from headway.core.checkpoint import steps
from headway.core.dataset import PairsSettings, prepare_in_memory
from headway.core.errors import ConfigError, DataError, RunError
from headway.core.run_folder import RunFolder
from headway.core.subwords import TextSettings
from headway.core.tensor_files import load_tensors
from headway.core.train import TranslationSettings, filled_in, train
from headway.core.translate import TextTranslator
from headway.translator import Translator

SECTIONS = {
    "text": {"vocabulary_size": 400},
    "data": {"target_language": "zh", "valid_size": 20},
    "model": {"d_model": 32, "d_ff": 48, "heads": 2, "encoder_layers": 1, "decoder_layers": 1},
    "training": {
        "max_steps": 6, "checkpoint_every": 2, "batch_tokens": 512, "warmup_steps": 3,
        "valid_sentences": 10,
    },
    "decoding": {"max_extra_length": 4},
    "runtime": {"threads": 1, "precision": "fp32", "engine": "torch"},
}  # fmt: skip
ALONE = """
import json, os, shutil, signal, sys
from headway.core.train import train
from headway.core.trainer import Trainer

source, target, folder, sections = json.loads(sys.argv[1])
if not os.fork():
    train_step = Trainer.train_step

    def killed(trainer):
        if trainer.progress.step == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return train_step(trainer)

    Trainer.train_step = killed
    train(source, target, folder + "/killed/run", sections=sections)
    os._exit(0)
assert os.WIFSIGNALED(os.wait()[1])
shutil.copytree(folder + "/killed", folder + "/resumed")
train(source, target, folder + "/resumed/run", resume=True)
train(source, target, folder + "/whole/run", sections=sections)
beside = [m for m in sys.modules if m.startswith("headway.") and not m.startswith("headway.core")]
assert set(beside) <= {"headway.version", "headway.old_paths"}, beside
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def alone(
    module_without_a_gpu: None, corpus: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """What a process leaves that has nothing of headway but the core: the folders of a run that was
    `killed` in its fourth update, of that one `resumed`, and of one that was trained as a `whole`.
    """
    folder = tmp_path_factory.mktemp("core")
    given = json.dumps([*map(str, corpus), str(folder), SECTIONS])
    source = Path(sys.modules["headway"].__file__ or "").parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", ALONE, given],
        env=environment, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(alone: Path) -> RunFolder:
    return RunFolder.open(alone / "whole" / "run")


def test_its_weights_are_those_of_headway_train_to_the_bit(
    run: RunFolder, corpus: tuple[Path, Path], tmp_path: Path
) -> None:
    flags = [
        f"--{section}.{key.replace('_', '-')}={value}"
        for section, keys in SECTIONS.items()
        for key, value in keys.items()
    ]
    names = ["--source", str(corpus[0]), "--target", str(corpus[1]), "--out", str(tmp_path / "run")]
    assert command("train", *names, "--preset=tiny", *flags).status == 0
    for file in ("model.safetensors", "tokenizer.json"):
        assert (tmp_path / "run" / file).read_bytes() == (run.path / file).read_bytes()
    for step in ("step-2", "step-4", "step-6"):
        place = Path("checkpoints", step, "weights.safetensors")
        theirs, ours = load_tensors(tmp_path / "run" / place), load_tensors(run.path / place)
        assert theirs.keys() == ours.keys()
        for name, tensor in ours.items():
            np.testing.assert_array_equal(tensor.numpy(), theirs[name].numpy())


@pytest.mark.parametrize("accumulate", [1, 4])
def test_a_length_that_was_left_open_is_ten_passes_whatever_makes_an_update(corpus, accumulate):
    source, target = corpus
    data = prepare_in_memory(PairsSettings(source=(source,), target=(target,)), TextSettings())
    size = {"batch_tokens": 64, "accumulate": accumulate}
    found = filled_in(TranslationSettings.of({"training": size}), data).training
    n_tokens = int(sum(data.train.lengths["target"] + 1))
    assert 0 <= found.max_steps * 64 * accumulate - 10 * n_tokens < 64 * accumulate


def test_a_run_that_was_killed_goes_on_with_its_own_files_only_as_if_it_had_not_been(
    alone: Path, run: RunFolder, corpus: tuple[Path, Path]
) -> None:
    killed = RunFolder.open(alone / "killed" / "run")
    assert steps(killed.path / "checkpoints") == [2]
    assert not killed.finished
    files = {file: file.read_bytes() for file in corpus}
    for file, lines in files.items():
        file.write_bytes(lines + "One more. 再来一个。\n".encode())
    with pytest.raises(DataError, match="changed since"):
        train(*corpus, killed.path, resume=True)
    for file, lines in files.items():
        file.write_bytes(lines)
    resumed = RunFolder.open(alone / "resumed" / "run")
    assert resumed.model.read_bytes() == run.model.read_bytes()
    assert resumed.card.read_text("utf-8") == run.card.read_text("utf-8")


@pytest.mark.parametrize(
    ("rule", "given"),
    [
        (r"\[training\] max_steps is 6, got 9", {"sections": {"training": {"max_steps": 9}}}),
        (r"\[text\] vocabulary_size is \d+, got 37000", {"preset": "paper-big"}),
        ("sections", {"sections": {"nonsense": {"x": 1}}}),
        ("preset must be one of", {"preset": "huge"}),
        (r"\[data\] source is", {}),
    ],
)
@pytest.mark.parametrize("began", ["killed", "whole"])
def test_a_run_that_goes_on_refuses_what_it_did_not_begin_with(
    alone: Path, corpus: tuple[Path, Path], began: str, rule: str, given: dict[str, Any]
) -> None:
    source = corpus[0] if given else corpus[1]
    with pytest.raises(ConfigError, match=rule):
        train(source, corpus[1], alone / began / "run", resume=True, **given)


def test_the_call_that_began_a_run_goes_on_with_it_whatever_came_of_its_settings(
    corpus: tuple[Path, Path], tmp_path: Path
) -> None:
    open_ones = {**SECTIONS, "text": {"vocabulary_size": 9_000}, "training": {"max_steps": 1}}
    runs = [train(*corpus, tmp_path, sections=open_ones, resume=True) for _ in range(2)]
    assert runs[0].settings()["text"]["vocabulary_size"] < 9_000
    assert runs[1].finished


def test_all_of_headway_opens_what_it_writes(run: RunFolder) -> None:
    texts = ["The dog runs.", "", "A cat sleeps."]
    ours = TextTranslator.load(run.path).translate(texts)
    assert ours == Translator.load(run.path, engine="torch").translate(texts)
    assert ours[1] == ""
    assert TextTranslator.load(run.path).translate(texts[0]) == ours[0]
    assert command("check", str(run.path)).status == 0
    assert "BLEU" in run.card.read_text("utf-8")
    assert run.finished


@pytest.mark.parametrize(
    ("device", "rule"),
    [("gpu", "must be one of 'auto', 'cpu', 'cuda'; got 'gpu'"), ("cuda", "needs a GPU")],
)
def test_a_device_that_is_not_there_is_refused_in_words(run, device, rule, without_a_gpu) -> None:
    with pytest.raises(ConfigError, match=rule):
        TextTranslator.load(run.path, device)


def test_it_refuses_what_it_cannot_use_and_changes_nothing(
    run: RunFolder, corpus: tuple[Path, Path], tmp_path: Path
) -> None:
    before = run.config.read_bytes()
    with pytest.raises(RunError, match="already holds a run"):
        train(*corpus, run.path, sections=SECTIONS)
    assert run.config.read_bytes() == before
    with pytest.raises(ConfigError, match="heads"):
        train(*corpus, tmp_path / "x", sections={**SECTIONS, "model": {"heads": 7}})
    with pytest.raises(DataError, match="nothing.txt"):
        train(tmp_path / "nothing.txt", corpus[1], tmp_path / "x", sections=SECTIONS)
    assert not (tmp_path / "x" / "config.toml").exists()


def test_without_a_usable_pair_to_validate_on_nothing_is_begun(
    corpus: tuple[Path, Path], tmp_path: Path
) -> None:
    blank = tmp_path / "blank.txt"
    blank.write_text("\n\n")
    data = {**SECTIONS["data"], "valid_source": (blank,), "valid_target": (blank,)}
    for _ in range(2):
        with pytest.raises(DataError, match=r"validation needs .*\(dropped: 2 blank side\)"):
            train(*corpus, tmp_path / "run", sections={**SECTIONS, "data": data})
    assert not (tmp_path / "run").exists()
