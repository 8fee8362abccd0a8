"""Two languages in one model, told apart by nothing but the tag in front of the source."""

import random
from pathlib import Path

import pytest

import headway

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

LETTERS = "abcdefgh"
SETTINGS = {
    "text": {"vocabulary_size": 320},
    "data": {"max_ratio": 0, "deduplicate": True},
    "model": {
        "encoder_layers": 1, "decoder_layers": 1, "d_model": 64, "d_ff": 128, "heads": 4,
        "dropout": 0.0, "norm": "pre",
    },
    "training": {
        "max_steps": 500, "checkpoint_every": 250, "batch_tokens": 600, "learning_rate": 0.004,
        "warmup_steps": 100, "valid_sentences": 40, "tune_length_penalty": False, "average": 1,
    },
    "decoding": {"method": "greedy", "max_extra_length": 4},
    "runtime": {"threads": 1, "device": "cpu", "precision": "fp32"},
}  # fmt: skip


def strings(n: int, seed: int) -> list[str]:
    """Three to six letters with spaces between them."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(LETTERS, k=draw.randint(3, 6))) for _ in range(n)]


def written(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    return path


def test_one_model_copies_or_reverses_as_the_tag_says(tmp_path: Path) -> None:
    copied = written(tmp_path / "copy.tsv", [(s, s + " !") for s in strings(1500, seed=1)])
    turned = written(tmp_path / "turn.tsv", [(s, s[::-1] + " !") for s in strings(1500, seed=2)])
    run = headway.train(
        pairs=[f"{copied}:tag=copy", f"{turned}@1:tag=turn"],
        out=tmp_path / "run",
        settings=SETTINGS,
        say=lambda _message: None,
    )
    translator = headway.Translator.load(run)
    unseen = strings(60, seed=3)
    for tag, wanted in (
        ("copy", [s + " !" for s in unseen]),
        ("turn", [s[::-1] + " !" for s in unseen]),
    ):
        found = translator.translate(unseen, tag=tag)
        right = sum(left == right for left, right in zip(found, wanted, strict=True))
        assert right / len(unseen) > 0.9, tag
