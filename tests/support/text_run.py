"""Small language models of the everyday corpus, trained once for all tests of a process."""

from pathlib import Path

from everyday_run import Finished, command

from headway.demo import generate

FLAGS = (
    "--training.max-steps=40", "--training.checkpoint-every=20", "--training.log-every=5",
    "--training.batch-tokens=256", "--training.window=16", "--training.learning-rate=0.01",
    "--runtime.threads=1", "--runtime.device=cpu", "--text.unit=words", "--text.min-count=1",
)  # fmt: skip
SMALL = {
    "transformer": ("--model.layers=1", "--model.d-model=16", "--model.d-ff=32", "--model.heads=2"),
    "lstm": ("--model.layers=1", "--model.d-model=16"),
    "elmo": (
        "--model.layers=2", "--model.d-model=16", "--model.d-cell=24", "--model.filters=8,8,8",
        "--model.output-words=60", "--model.samples=20",
    ),
    "nnlm": ("--model.order=3", "--model.d-model=16", "--model.d-hidden=16"),
}  # fmt: skip


def write_corpus(path: Path, n_lines: int = 300) -> Path:
    """English sentences, signs apart from words; a blank line after each tenth."""
    lines = []
    for number, (english, _) in enumerate(generate(n_lines, seed=4), start=1):
        lines.append(english.replace(".", " .").replace("?", " ?").replace(",", " ,"))
        if number % 10 == 0:
            lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def train(model_type: str, corpus: Path, run: Path, *flags: str) -> Finished:
    """The whole command."""
    names = ("--task", "language-model", "--corpus", str(corpus), "--out", str(run))
    shape = (f"--model.type={model_type}", *SMALL[model_type])
    return command("train", *names, *shape, *FLAGS, *flags)
