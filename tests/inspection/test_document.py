"""Every type of model has a document: what it has not got is said, and nothing fails."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from everyday_run import FLAGS
from writers import SIZES

import headway
from headway.inspection import document
from headway.inspection.inspected_model import open_inspected
from headway.models import MODELS

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.mark.parametrize("kind", SIZES)
def test_every_type_of_model_can_be_looked_into(kind: str, everyday_run: Path) -> None:
    """A random one, with the sub-words of a run."""
    inspected = open_inspected(everyday_run, device="cpu")
    settings, build = MODELS[kind]
    config = settings(**SIZES[kind])
    special = inspected.special
    model = build(config, vocabulary_size=len(inspected.vocabulary), padding=special.padding).eval()
    changed = replace(inspected.settings, model_type=kind, model=config)
    other = replace(inspected, model=model, settings=changed, write=lambda _: "我爱学习。")
    found = {"run": document.run(other), "sentences": [document.sentence(other, "I love cats.")]}
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text)["sentences"][0].keys() >= document.PARTS.keys()
    attention = found["sentences"][0]["steps"]["courses"]["beam"]["attention"]
    assert (attention is None) == (kind == "bytenet")


def test_of_a_text_that_is_too_long_the_beginning_is_read(everyday_run: Path) -> None:
    inspected = replace(open_inspected(everyday_run, device="cpu"), longest=7)
    text = "The dog runs in the park. " * 500
    found = document.sentence(inspected, text, parts=["tokens"])
    assert found["text"] + text[-found["left_out"] :] == text
    assert len(found["tokens"]["source"]) == 7
    assert found["translation"] == inspected.write(found["text"])
    assert len(inspected.passage(text[: len(found["text"]) + 1], "").source) == 8
    assert document.sentence(inspected, "Dogs.", parts=[])["left_out"] == 0


def test_torchs_compiler_is_loaded_neither_to_train_nor_for_a_page(
    everyday_files: tuple[Path, Path], tmp_path: Path
) -> None:
    """It takes a second of every command. In a process of its own, as others load it."""
    train = ["train", f"--source={everyday_files[0]}", f"--target={everyday_files[1]}"]
    train += [f"--out={tmp_path / 'run'}", *FLAGS, "--training.max-steps=1"]
    lines = (
        "import sys; from pathlib import Path",
        "from headway.inspection import document, inspected_model",
        "demo = inspected_model.open_inspected(Path(sys.argv[1]))",
        "document.sentence(demo, 'A dog runs.')",
        f"from headway.cli import main; assert not main({train})",
        "sys.exit('torch._dynamo' in sys.modules)",
    )
    shipped = Path(headway.__file__).parent / "shipped" / "demo"
    subprocess.run([sys.executable, "-c", "\n".join(lines), str(shipped)], check=True)
