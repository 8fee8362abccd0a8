"""Which preset suits a corpus, a budget and a machine; whether a model reads all of it; how long
validation and end will take."""

from copy import copy
from dataclasses import replace
from typing import cast

import torch
from torch import nn

from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings
from headway.core.interfaces import StepDecoder
from headway.core.settings import Settings
from headway.corpora.prepared import Prepared
from headway.models import MODELS
from headway.runs.fitting import Ladder
from headway.translation.corpus_task import CorpusTask

LADDER = Ladder(
    names=("tiny", "small", "paper-base"),
    up_to=(3_000_000, 30_000_000),
    cpu_speed={"tiny": 8000, "small": 2500, "paper-base": 1200},
    least_epochs=5,
    unit="target tokens",
)
HELD_BACK = 0.3
"""Of `headway.runs.parent.tuned_rate`, where nothing of what the other run learned from can be seen
again, or where new pairs are few: with the whole rate 8 cost the demo's translator 0.8 BLEU, more
than may be lost."""
EVERY = 8
"""Of the validation sentences this one is searched when the end is rehearsed."""
CLOSING = 12 * EVERY
"""How often that search is made at the end, for choosing weights and length penalty and for the
model card: about eight times for every sentence, each half as long again with trained weights, of
which some hypothesis goes on to the end."""


def rehearse(task: CorpusTask, model: nn.Module) -> None:
    """A validation of as many steps as the sources are long: about what a trained model writes."""
    task.translate(model, DecodingSettings(method="greedy", max_extra_length=0))
    task.validation_loss(model)


def rehearse_end(settings: Settings, task: CorpusTask, model: nn.Module) -> None:
    """The run's own search, of some sentences."""
    some = copy(task)
    some.valid_rows, some.portions = task.valid_rows[::EVERY], None
    some.search(model, replace(settings.decoding, max_extra_length=0))


def refuse_beyond_last(settings: Settings, prepared: Prepared) -> None:
    """Raise ConfigError where positions end before a pair does: training would end at its batch,
    and there again when it is resumed."""
    _, of_type = MODELS[settings.model_type]
    with torch.device("meta"):  # nothing of it in memory
        model = cast(StepDecoder, of_type(settings.model, vocabulary_size=len(prepared.subwords)))
    sides = [side for one in (prepared.train, prepared.valid) for side in one.lengths.values()]
    longest = 1 + max(int(side.max(initial=0)) for side in sides)  # its begin or end marker
    if model.longest is None or longest <= model.longest:
        return
    larger = "" if settings.training.init_from else f"--model.max-length {longest}, or "
    raise ConfigError(
        f"learned positions end at model.max_length; got {model.longest}, and a pair of {longest} "
        f"tokens, its marker counted. Try {larger}--data.max-length {model.longest - 1}."
    )
