"""Models of random weights, looked at through a run's vocabulary."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from headway.core.transformer import Transformer
from headway.inspection.inspected_model import InspectedModel, open_inspected
from headway.inspection.passage_analysis import PassageAnalysis
from headway.nn.positioned import PositionedConfig

TEXT = "The dog didn't see the cat because it was tired."
TARGET = "那只狗没有看见那只猫。"
SIZES: dict[str, Any] = {
    "d_model": 24, "d_ff": 40, "heads": 3, "encoder_layers": 2, "decoder_layers": 2,
}  # fmt: skip


def subject_of(run: Path, **settings: Any) -> InspectedModel:
    """The run's vocabulary around a Transformer with random weights, not in training mode."""
    inspected = open_inspected(run, device="cpu")
    torch.manual_seed(1)
    config = PositionedConfig(**(SIZES | settings))
    model = Transformer(config, vocabulary_size=len(inspected.vocabulary)).eval()
    return replace(inspected, model=model)


def analysis_of(run: Path, **settings: Any) -> PassageAnalysis:
    """Of one sentence with a translation that is given."""
    inspected = subject_of(run, **settings)
    return PassageAnalysis(inspected, inspected.passage_of(TEXT, TARGET))
