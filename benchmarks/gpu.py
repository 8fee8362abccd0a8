"""What one GPU does: target tokens a second by shape and precision, memory, and decoding.

    python benchmarks/gpu.py --data DIR [--steps 60] [--record FILE]

trains `tiny`, `small` and `paper-base` on Multi30k (en-de) for some updates each, in bf16 and fp32,
and translates test 2016 with what `small` has learned, on the GPU and on the CPU. Before that it
checks that a run that was stopped and resumed on the GPU goes on where it was.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from record import add_data_option, add_record_option, exit_status, parser, write
from runs import CORPORA

import headway
from headway.config import merge
from headway.training.loop import Trainer
from headway.training.run_folder import RunFolder
from headway.translator import Translator

CORPUS = CORPORA["multi30k-en-de"]
BATCH_TOKENS = {"tiny": 16384, "small": 32768, "paper-base": 25000}
COMMON: dict[str, dict[str, Any]] = {
    "text": {"vocabulary_size": 8000},
    "training": {"patience": 0, "valid_sentences": 100, "average": 1},
}


def train(data: Path, out: Path, preset: str, precision: str, steps: int) -> dict[str, float]:
    """One short training; its speed is over the second half of the updates."""
    files = {
        f"{valid}{side}": CORPUS.file(data, split, language)
        for valid, split in (("", CORPUS.train), ("valid_", CORPUS.valid))
        for side, language in (("source", CORPUS.source), ("target", CORPUS.target))
    }
    training = {
        "max_steps": steps,
        "checkpoint_every": steps,
        "batch_tokens": BATCH_TOKENS[preset],
        "log_every": steps // 2,
        "warmup_steps": max(1, steps // 4),
    }
    settings = merge(COMMON, {"training": training, "runtime": {"precision": precision}})
    torch.cuda.reset_peak_memory_stats()
    run = headway.train(out=out, preset=preset, settings=settings, say=lambda _: None, **files)
    half, whole = (line for line in RunFolder(run).read_log() if "loss" in line)
    tokens = whole["target_tokens"] - half["target_tokens"]
    return {
        "target_tokens_per_s": tokens / (whole["time_s"] - half["time_s"]),
        "peak_gb": torch.cuda.max_memory_allocated() / 1e9,
        "loss": whole["loss"],
    }


def interrupted_once(update: Callable[[Trainer[Any]], torch.Tensor], before: int) -> Any:
    """`Trainer.update`, interrupted once before its n-th update."""
    left = [before]

    def interrupted(trainer: Trainer[Any]) -> torch.Tensor:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return update(trainer)

    return interrupted


def resumes(data: Path, folder: Path) -> float:
    """The largest difference of a loss between a run that was stopped and one that never was."""
    flags = {"checkpoint_every": 5, "log_every": 1, "max_steps": 20, "batch_tokens": 4096}
    settings = merge(COMMON, {"training": {**flags, "warmup_steps": 5}})
    files = {
        "source": CORPUS.file(data, CORPUS.valid, CORPUS.source),
        "target": CORPUS.file(data, CORPUS.valid, CORPUS.target),
    }
    whole, stopped = folder / "whole", folder / "stopped"
    headway.train(out=whole, preset="tiny", settings=settings, say=print, **files)
    update = Trainer.update
    Trainer.update = interrupted_once(update, before=12)  # type: ignore[method-assign]
    try:
        headway.train(out=stopped, preset="tiny", settings=settings, say=print, **files)
    except KeyboardInterrupt:
        headway.train(out=stopped, resume=True, say=print)
    Trainer.update = update  # type: ignore[method-assign]
    logs = [
        [line["loss"] for line in RunFolder(run).read_log() if "loss" in line]
        for run in (whole, stopped)
    ]
    return max(abs(a - b) for a, b in zip(*logs, strict=True))


def decode(run: Path, sources: list[str], device: str, **decoding: Any) -> tuple[float, list[Any]]:
    """Sentences a second, loading left out, and the translations."""
    translator = Translator.load(run, device=device)  # type: ignore[arg-type]
    translator.translate(sources[:64], **decoding)
    begun = time.monotonic()
    found = translator.translate_fully(sources, **decoding)
    return len(sources) / (time.monotonic() - begun), found


def main() -> int:
    """Measure, print, record."""
    wanted = parser(__doc__)
    add_data_option(wanted)
    add_record_option(wanted)
    wanted.add_argument("--steps", type=int, default=60, help="updates of each training")
    options = wanted.parse_args()
    figures: dict[str, Any] = {"gpu": torch.cuda.get_device_name()}
    sources = [line for line in CORPUS.lines(options.data, "test_2016_flickr")[0] if line]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures["resume_difference"] = resumes(options.data, folder)
        print(f"stopped and resumed: losses differ by {figures['resume_difference']:.1e} at most")
        for preset in BATCH_TOKENS:
            for precision in ("bf16", "fp32"):
                out = folder / f"{preset}-{precision}"
                found = train(options.data, out, preset, precision, options.steps)
                figures[f"{preset} {precision}"] = found
                print(preset, precision, json.dumps(found), flush=True)
        run = folder / "small-bf16"
        for how in ({"method": "greedy"}, {"beam": 5}):
            speed, on_gpu = decode(run, sources, "cuda", **how)
            _, on_cpu = decode(run, sources[:100], "cpu", **how)
            both = list(zip(on_gpu, on_cpu, strict=False))
            same = sum(a.target == b.target for a, b in both)
            figures[str(how)] = {"sentences_per_s": speed, "as_on_the_cpu_of_100": same}
            print(how, f"{speed:,.0f} sentences/s; {same} of 100 are those of the CPU", flush=True)
    write(options.record, "gpu", seeds=[1], figures=figures)
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
