"""One training through the package's own trainer, and what is measured on every trained model."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import nn

from headway.core.bleu import bleu_statistics
from headway.core.config import build
from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.interfaces import StepDecoder
from headway.core.optimizer import load_weights
from headway.core.run_folder import RunFolder
from headway.core.runtime import RuntimeSettings, start
from headway.core.trainer import NotFiniteError, Trainer
from headway.core.training_interfaces import Progress, Validation
from headway.models import MODELS
from headway.runs.gradient import trainer_of
from headway.translation.corpus_task import CorpusTask
from headway.translation.decoding import decode_anew
from headway.translation.spec import PlannedTranslation
from whys.lessons import Lesson, Pair, opened_lesson

Figures = dict[str, Any]
MODEL: dict[str, Any] = {
    "type": "transformer",
    "encoder_layers": 2,
    "decoder_layers": 2,
    "d_model": 64,
    "d_ff": 256,
    "heads": 4,
    "dropout": 0.0,
    "norm": "pre",
    "residual_gain": 0.35,
}
"""As the preset `tiny` is, but smaller."""
TRAINING: dict[str, Any] = {
    "max_steps": 300,
    "warmup_steps": 80,
    "learning_rate": 6e-3,
    "batch_tokens": 1024,
    "patience": 0,
    "valid_sentences": 50,
}
LAST_SHARE = 0.1
"""Of the updates: the training loss is a mean over them."""
GREEDY = DecodingSettings(method="greedy", max_extra_length=10)


class Trained(NamedTuple):
    """A model after its training, and what it learned from."""

    model: nn.Module
    lesson: Lesson
    task: CorpusTask
    trainer: Trainer[CorpusTask]
    seed: int


class Silent:
    """A reporter that tells nobody; see `headway.core.training_interfaces.Reporter`."""

    def step(
        self, progress: Progress, *, loss: float, speed: float, unit: str, last_step: int
    ) -> None:
        """Said by metrics.jsonl already."""

    def validation(self, progress: Progress, result: Validation, *, best: bool) -> None:
        """Measured once more at the end, on more sentences."""

    def say(self, message: str) -> None:
        """Nothing else is of interest."""


def train(settings: Mapping[str, Any], root: Path, threads: int) -> Figures:
    """Train as a cell says and measure: what is measured always, and what the cell asks for."""
    from whys.measures import MEASURES

    lesson = opened_lesson(settings["lesson"], root)
    began = time.process_time()
    with TemporaryDirectory(prefix="why-") as folder, denormals_flushed():
        trained, figures = learned(settings, lesson, Path(folder), threads)
        figures["training_s"] = round(time.process_time() - began, 2)
        with torch.inference_mode():
            figures |= usual_figures(trained)
            for name in settings["measures"] if math.isfinite(figures["valid_loss"]) else ():
                figures |= MEASURES[name](trained)
    return figures


@contextmanager
def denormals_flushed() -> Iterator[None]:
    """Gradients that vanish pass through numbers that are slow, which are zero here; what the
    process measures next is not to know of it."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def built(model: Mapping[str, Any], lesson: Lesson, seed: int) -> nn.Module:
    """A new model, drawn from the seed."""
    given = dict(model)
    config, module = MODELS[given.pop("type")]
    vocabulary = lesson.prepared.subwords
    torch.manual_seed(seed)
    new: nn.Module = module(
        build(config, given, section="model"),
        vocabulary_size=len(vocabulary),
        padding=vocabulary.special.padding,
    )
    return new


def learned(
    settings: Mapping[str, Any], lesson: Lesson, folder: Path, threads: int
) -> tuple[Trained, Figures]:
    """The trained model, and what was seen on the way."""
    seed, model = settings["seed"], settings["model"]
    training = build(
        PlannedTranslation,
        {"checkpoint_every": settings["training"]["max_steps"], **settings["training"]},
        section="training",
    )
    runtime = start(RuntimeSettings(device="cpu", precision="fp32", threads=threads, seed=seed))
    task = CorpusTask(
        lesson.prepared,
        training,
        valid_rows=np.arange(min(training.valid_sentences, len(lesson.prepared.valid))),
        seed=seed,
        device=runtime.device,
    )
    twin, module = built(model, lesson, seed), built(model, lesson, seed)
    run = RunFolder(folder)
    trainer = trainer_of(module, twin, task, run, training, dtype=runtime.dtype, reporter=Silent())
    diverged = False
    try:
        while not trainer.progress.finished:
            trainer.advance()
    except NotFiniteError:
        diverged = True
    load_weights(twin, trainer.optimizer.weights())
    log = [line for line in run.read_log() if "loss" in line]
    last = [line["loss"] for line in log if line["step"] > (1 - LAST_SHARE) * training.max_steps]
    figures: Figures = {
        "parameters": sum(p.numel() for p in module.parameters()),
        "outside_embeddings": sum(
            p.numel() for name, p in module.named_parameters() if "embedding" not in name
        ),
        "finite": not diverged,
        "loss": mean(last) if last and not diverged else None,
        "curve": [[line["step"], line["loss"]] for line in log],
        "target_tokens": trainer.progress.counts["target_tokens"],
    }
    return Trained(twin.eval(), lesson, task, trainer, seed), figures


def usual_figures(trained: Trained) -> Figures:
    """Loss on training and validation pairs, and what is written for each test."""
    task, lesson = trained.task, trained.lesson
    valid_loss = task.validation_loss(trained.model)
    figures: Figures = {"valid_loss": valid_loss}
    if not math.isfinite(valid_loss):  # nothing can be written with such weights
        nothing = {"bleu": 0.0, "exact": 0.0, "by_length": {}}
        return figures | {"written": {test: nothing for test in lesson.tests if test != "valid"}}
    few = task.batches_of(task.valid_rows[: len(task.train)])
    some = [task.batch(task.train, rows) for rows in few]
    nats = sum(task.cross_entropy(trained.model, batch, 0.0).nll.item() for batch in some)
    figures["train_loss"] = nats / sum(batch.units for batch in some)
    figures["written"] = {
        test: scored(lesson, pairs, texts_written(trained.model, lesson, pairs))
        for test, pairs in lesson.tests.items()
        if test != "valid"
    }
    return figures


def ids_written(model: nn.Module, lesson: Lesson, sources: Sequence[str]) -> list[list[int]]:
    """What the model writes for each source, greedily."""
    vocabulary = lesson.prepared.subwords
    request = SearchRequest(vocabulary.special, GREEDY, torch.device("cpu"), want_scores=False)
    ids = vocabulary.encode_batch(list(sources))
    found = decode_anew()(cast(StepDecoder, model), ids, request)
    return [list(hypotheses[0].ids) for hypotheses in found]


def texts_written(model: nn.Module, lesson: Lesson, pairs: Sequence[Pair]) -> list[str]:
    """The same as texts."""
    ids = ids_written(model, lesson, [source for source, _ in pairs])
    return lesson.prepared.subwords.decode_batch(ids)


EDGES = (0, 10, 20, 1000)
"""Of the groups by length, in words of the source."""


def scored(lesson: Lesson, pairs: Sequence[Pair], texts: Sequence[str]) -> Figures:
    """BLEU and the share that is exactly right, of all and by the length of the source."""
    groups: dict[str, Figures] = {}
    for low, high in pairwise(EDGES):
        here = [i for i, (source, _) in enumerate(pairs) if low < len(source.split()) <= high]
        if len(here) >= 10:
            name = f"{low + 1}-{high}" if high < EDGES[-1] else f"over {low}"
            groups[name] = score(lesson, [pairs[i][1] for i in here], [texts[i] for i in here])
    whole = score(lesson, [target for _, target in pairs], texts)
    return {**whole, "by_length": groups}


def score(lesson: Lesson, references: Sequence[str], texts: Sequence[str]) -> Figures:
    """BLEU, and the share that is exactly right (%)."""
    exact = 100 * mean(a == b for a, b in zip(texts, references, strict=True))
    language = "zh" if lesson.chinese else None
    bleu = bleu_statistics(list(texts), list(references), target_language=language).score()
    return {"bleu": bleu, "exact": exact, "n": len(references)}
