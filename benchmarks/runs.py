"""Training and scoring translators on public data, as several benchmarks need it."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from headway import Translator
from headway.core.bleu import bleu_statistics
from headway.core.errors import DataError, HeadwayError
from headway.core.hypothesis import DecodingSettings
from headway.core.lines import read_lines
from headway.core.run_folder import RunFolder
from headway.metrics.corpus_scores import score_translations
from headway.metrics.tokenizers import bleu_metric
from headway.operations.shipped import open_folder


class Corpus(NamedTuple):
    """A public corpus below DIR/mt, split as its publisher did."""

    folder: str
    source: str
    target: str
    train: str
    valid: str
    tests: tuple[str, ...]
    moses: bool
    """Papers on it report lower-cased BLEU over Moses tokens."""

    def file(self, data: Path, split: str, language: str) -> Path:
        """The file of one side of a split, packed or not; raises DataError without one."""
        plain = data / "mt" / self.folder / f"{split}.{language}"
        for path in (plain, plain.with_name(plain.name + ".gz")):
            if path.exists():
                return path
        raise DataError(f"--data must hold mt/{self.folder}; there is no {plain}[.gz].")

    def lines(self, data: Path, split: str) -> tuple[list[str], list[str]]:
        """Sources and references of a split."""
        sides = [
            [line or "" for line in read_lines(self.file(data, split, language))]
            for language in (self.source, self.target)
        ]
        return sides[0], sides[1]


FLICKR = ("test_2016_flickr", "test_2018_flickr")
CORPORA = {
    "multi30k-en-de": Corpus("multi30k", "en", "de", "train", "val", FLICKR, True),
    "multi30k-fr-en": Corpus("multi30k", "fr", "en", "train", "val", FLICKR, True),
    "tatoeba-en-de": Corpus("tatoeba-en-de", "en", "de", "train", "valid", ("devtest",), False),
    "tatoeba-en-zh": Corpus("tatoeba-en-zh", "en", "zh", "train", "valid", ("devtest",), False),
    "pydocs-en-zh": Corpus("pydocs-en-zh", "en", "zh", "train", "valid", ("devtest",), False),
}


def train(corpus: Corpus, data: Path, out: Path, flags: Sequence[str]) -> None:
    """`headway train` on a corpus, validated on what its publisher says."""
    files: list[str] = []
    for split, prefix in ((corpus.train, ""), (corpus.valid, "valid-")):
        files += [f"--{prefix}source", str(corpus.file(data, split, corpus.source))]
        files += [f"--{prefix}target", str(corpus.file(data, split, corpus.target))]
    headway_train(out, [*files, *flags])


def headway_train(out: Path, flags: Sequence[str]) -> None:
    """`headway train` in a process of its own; a run that was interrupted is gone on with.

    Raises HeadwayError when it ends without a model.
    """
    command = [sys.executable, "-m", "headway", "train", "--out", str(out), *flags]
    if RunFolder(out).config.exists():
        command.append("--resume")
    process = subprocess.Popen(command)
    try:
        process.wait()
    except KeyboardInterrupt:
        process.wait()  # it has heard the same Ctrl-C, and saves
        raise
    if process.returncode:
        raise HeadwayError(
            f"Training must end with a model; it ended with exit status {process.returncode}. "
            "What it printed above says why; the same command goes on with the run."
        )


def facts(run: Path) -> dict[str, Any]:
    """What a finished run says of itself: all that repeats it, and how long it took."""
    folder = open_folder(run)
    sections = folder.settings()
    training, log = sections["training"], folder.read_log()
    return {
        "seed": sections["runtime"]["seed"],
        "budget": training["budget"],
        "max_steps": training["max_steps"],
        "checkpoint_every": training["checkpoint_every"],
        "updates": log[-1]["step"],
        "training_s": round(log[-1]["time_s"]),
        "updating_s": round(updating_s(log)),
        "target_tokens": log[-1]["target_tokens"],
        "best_valid_bleu": max(line["bleu"] for line in log if "bleu" in line),
        "settings": {
            name: sections[name] for name in ("text", "model", "training", "decoding", "runtime")
        },
    }


def updating_s(log: Sequence[Mapping[str, Any]]) -> float:
    """Seconds that the updates took: what one takes where nothing is validated, times all."""
    validated = {line["step"] for line in log if "valid_loss" in line}
    each = [
        (after["time_s"] - line["time_s"]) / (after["step"] - line["step"])
        for line, after in pairwise(line for line in log if "loss" in line)
        if after["step"] > line["step"] and line["step"] not in validated
    ]
    return float(log[-1]["step"]) * mean(each) if each else 0.0


@dataclass(frozen=True)
class TestScores:
    """One test set under one search."""

    test: str
    decoding: str
    sentences: int
    bleu: dict[str, Any]
    """Cased sacreBLEU: score, low, high (95 % by bootstrap), signature."""
    chrf: dict[str, Any]
    moses_bleu: float | None
    """Lower-cased, over Moses tokens; None where nobody reports it."""


def decodings(own: DecodingSettings) -> dict[str, DecodingSettings]:
    """Beam 5, and the run's own search where that differs."""
    searches = {"beam 5": replace(own, method="beam", beam=5)}
    if own not in searches.values():
        beam = f" {own.beam}" if own.method == "beam" else ""
        searches[f"the run's own: {own.method}{beam}"] = own
    return searches


def score(
    corpus: Corpus, test: str, references: Sequence[str], output: Sequence[str], decoding: str
) -> TestScores:
    """All figures of one output."""
    scores = score_translations(output, references, target_language=corpus.target)
    moses = None
    if corpus.moses:
        metric = bleu_metric("moses", target_language=corpus.target, lowercase=True)
        moses = bleu_statistics(output, references, metric).score()
    return TestScores(
        test=test,
        decoding=decoding,
        sentences=len(references),
        bleu=asdict(scores.bleu),
        chrf=asdict(scores.chrf),
        moses_bleu=moses,
    )


def translate(
    translator: Translator, sources: Sequence[str], search: DecodingSettings
) -> list[str]:
    """The best translation of each source under exactly this search."""
    return translator.translate(sources, **asdict(search))
