"""Pairs that are too long for what is to learn from them, refused before anything is written."""

from collections.abc import Callable
from typing import cast

import torch
from torch import nn

from headway.core.errors import ConfigError
from headway.core.interfaces import StepDecoder
from headway.core.transformer import TransformerConfig
from headway.corpora.prepared import Prepared
from headway.runs.loading import Undrawn
from headway.runs.settings import Settings
from headway.runs.task_spec import Tokens
from headway.translation.pairs import Pairs

ROW_LENGTHS = (128, 264, 512)
"""The second holds whatever the usual data.max_length lets through, and a marker. In longer ones
most of attention is between tokens that do not see each other."""


def refuse_too_long(
    settings: Settings, prepared: Prepared, build: Callable[[Settings, Tokens], nn.Module]
) -> None:
    """Raise ConfigError where positions, or rows of packed pairs, end before a pair does: training
    would end at its batch, and there again when it is resumed."""
    longest = longest_of(prepared)
    if settings.training.pack_length:
        refuse_unpackable(settings, prepared, longest)
    with torch.device("meta"), Undrawn():  # nothing of it in memory
        model = cast(StepDecoder, build(settings, prepared.subwords))
    if model.longest is None or longest <= model.longest:
        return
    larger = "" if settings.training.init_from else f"--model.max-length {longest}, or "
    raise ConfigError(
        f"learned positions end at model.max_length; got {model.longest}, and a pair of {longest} "
        f"tokens, its marker counted. Try {larger}--data.max-length {model.longest - 1}."
    )


def longest_of(prepared: Prepared) -> int:
    """Tokens of the longest side of a pair, its begin or end marker counted."""
    sides = [side for one in (prepared.train, prepared.valid) for side in one.lengths.values()]
    return 1 + max(int(side.max(initial=0)) for side in sides)


def row_length(settings: Settings, data: Pairs) -> int:
    """Of the shortest usual rows that hold any pair; 0 where there are none, or no packing."""
    fitting = [length for length in ROW_LENGTHS if length >= longest_of(data.prepared)]
    try:
        refuse_unpackable(settings, data.prepared, 0)
    except ConfigError:
        return 0
    return fitting[0] if fitting else 0


def refuse_unpackable(settings: Settings, prepared: Prepared, longest: int) -> None:
    """Raise ConfigError for rows that are too short, or a model or data that cannot be packed."""
    model, length = settings.model, settings.training.pack_length
    if not isinstance(model, TransformerConfig) or getattr(model, "window", False):
        raise ConfigError(
            "training.pack_length is for Transformers without a window; got --model.type "
            f"{settings.model_type}. Leave it out."
        )
    if settings.data.old_run or hasattr(prepared.subwords, "languages"):
        raise ConfigError(
            "training.pack_length is for pairs of one corpus; this training goes on from a run "
            f"({settings.training.init_from}) with its old pairs or its languages. Leave it out."
        )
    if length < longest:
        raise ConfigError(
            f"rows of training.pack_length hold any pair; got {length}, and a pair of {longest} "
            f"tokens, its marker counted. Try 512, or --data.max-length {max(1, length - 1)}."
        )
