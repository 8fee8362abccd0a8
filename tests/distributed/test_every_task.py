"""Whatever is learned by gradient is learned by several processes as by one."""

import os
import signal
from pathlib import Path

import pytest
from drawn_pictures import write_folders
from everyday_run import FLAGS, command, left_behind, write_corpus
from labelled_run import write_labelled
from safetensors.torch import load_file
from several_processes import command_by_processes
from text_run import SMALL
from text_run import write_corpus as write_text
from torch import Tensor

from headway.core.training_interfaces import Batch
from headway.demo import generate
from headway.language_models.task import LanguageTask

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

WORDS = "the a I you we they is are to of and in".split()
SHORT = (
    "--training.max-steps=6", "--training.checkpoint-every=3", "--training.batch-tokens=300",
    "--training.learning-rate=0.003", "--training.average=1", "--runtime.threads=1",
    "--runtime.device=cpu", "--runtime.precision=fp32", "--model.dropout=0",
)  # fmt: skip
# With its usual epsilon Adam makes whole updates out of what rounding left of a gradient of zero.
SHORTER = (
    "--training.max-steps=4", "--training.checkpoint-every=4", "--training.adam-epsilon=0.001",
)  # fmt: skip
TRANSFORMER = (
    "--model.type=transformer", "--model.layers=1", "--model.d-model=16", "--model.d-ff=16",
    "--model.heads=2",
)  # fmt: skip
TEXT = ("--text.unit=words", "--text.min-count=1", "--training.window=16")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every kind."""
    place = tmp_path_factory.mktemp("files")
    write_corpus(place)
    write_text(place / "text.txt")
    write_labelled(place / "labelled.tsv", 60, 1)
    write_folders(place / "pictures", 60)
    tagged = [f"the\tO\ncat{n}\tB-PER\nsat\tO\n" for n in range(40)]
    pairs = (f"{source}\t{target}\n" for source, target in generate(80, 9))
    (place / "more.tsv").write_text("".join(pairs), encoding="utf-8")
    vectors = [f"{word} {n / 7} {' '.join(['0.5', '-0.5'] * 15)} 1" for n, word in enumerate(WORDS)]
    text = f"{len(WORDS)} 32\n" + "\n".join(vectors) + "\n"
    (place / "vectors.txt").write_text(text, encoding="utf-8")
    done = command("train", *translation(place), "--out", str(place / "parent"), *SHORT)
    assert done.status == 0, done.err
    (place / "tagged.conll").write_text("\n".join(tagged), encoding="utf-8")
    return place


def translation(place: Path) -> list[str]:
    files = ["--source", str(place / "train.en"), "--target", str(place / "train.zh")]
    return [*files, *FLAGS, "--training.batch-tokens=300", "--training.valid-sentences=2"]


def words_of(kind: str, place: Path) -> list[str]:
    """The command line of a training, without --out."""
    lm = ["--task=language-model", "--corpus", str(place / "text.txt"), *TEXT]
    labelled = ["--corpus", str(place / "labelled.tsv")]
    tuned = ["--pairs", str(place / "more.tsv"), f"--init-from={place / 'parent'}",
             "--data.valid-size=20", "--training.valid-sentences=2"]  # fmt: skip
    recurrent = {name: [*lm, f"--model.type={name}", *SMALL[name]] for name in ("lstm", "elmo")}
    return {
        "translation": translation(place),
        "language_model": [*lm, *TRANSFORMER],
        "lstm": recurrent["lstm"],
        "elmo": [*recurrent["elmo"], "--model.samples=0"],
        "masked": ["--task=masked-language-model", "--corpus", str(place / "text.txt"),
                   *TRANSFORMER, "--text.unit=words"],
        "classification": ["--task=classification", *labelled, *TRANSFORMER, "--text.unit=words"],
        "tagging": ["--task=tagging", "--corpus", str(place / "tagged.conll")],
        "corpora and vectors": ["--pairs", f"{place / 'more.tsv'}@3", *translation(place),
                                f"--init-embedding={place / 'vectors.txt'}"],
        "frozen": [*tuned, "--freeze=encoder"],
        "lora": [*tuned, "--training.lora-rank=2"],
        "images": ["--task=images", "--corpus", str(place / "pictures")],
    }[kind]  # fmt: skip


def last_weights(run: Path) -> dict[str, Tensor]:
    newest = max((run / "checkpoints").glob("step-*"), key=lambda one: int(one.name[5:]))
    return load_file(newest / "weights.safetensors")


def assert_alike(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    """Within 1e-5 of the size of each tensor."""
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        apart = (other[name] - tensor).norm() / tensor.norm().clamp(min=1e-12)
        if not name.endswith("to_key.bias"):
            assert apart < 1e-5, (name, float(apart))


KINDS = [
    *"translation language_model lstm elmo masked classification tagging images".split(),
    *("frozen", "lora", "corpora and vectors"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_learn_what_one_does(place: Path, tmp_path: Path, kind: str) -> None:
    words = ["train", *words_of(kind, place), *SHORT, *SHORTER]
    alone, both = tmp_path / "alone", tmp_path / "both"
    done = command(*words, "--out", str(alone))
    assert done.status == 0, done.err
    log = tmp_path / "said"
    statuses = command_by_processes(2, [*words, "--out", str(both)], log)
    assert statuses == [0, 0], Path(f"{log}.0").read_text() + Path(f"{log}.1").read_text()
    assert_alike(last_weights(alone), last_weights(both))


def test_a_carried_state_stopped_and_gone_on_with_has_the_same_bits(
    place: Path, tmp_path: Path
) -> None:
    """With dropout; one process of the two is asked to stop in the middle of a pass."""
    words = ["train", *words_of("lstm", place), *SHORT, "--model.dropout=0.2"]
    log, whole, again = tmp_path / "said", tmp_path / "whole", tmp_path / "again"
    assert command_by_processes(2, [*words, "--out", str(whole)], log) == [0, 0]

    def stop_at_the_fourth_batch(rank: int) -> None:
        def next_batch(task: LanguageTask) -> Batch:
            if rank == 1 and task.stream.index == 3:
                os.kill(os.getpid(), signal.SIGTERM)
            return taken(task)

        taken = LanguageTask.next_batch
        LanguageTask.next_batch = next_batch  # type: ignore[method-assign]

    out = ["--out", str(again)]
    command_by_processes(2, [*words, *out], log, stop_at_the_fourth_batch)
    assert "stopped at step 4 of 6, saved" in Path(f"{log}.0").read_text(encoding="utf-8")
    assert command_by_processes(2, ["train", *out, "--resume"], log) == [0, 0]
    assert left_behind(again) == left_behind(whole)
