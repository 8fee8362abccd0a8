"""Model, task and trainer of a run, made from its settings and its seed."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from headway.data.batching import Indices
from headway.data.prepared import Prepared
from headway.models import MODELS
from headway.runtime import Runtime
from headway.tasks.settings import Settings
from headway.tasks.translation import TranslationTask
from headway.text.codes import mask_pair
from headway.text.subwords import Subwords
from headway.training.loop import Reporter, Trainer
from headway.training.run_folder import RunFolder


def build_model(settings: Settings, subwords: Subwords) -> nn.Module:
    """The model of a run, with weights drawn from the run's seed."""
    torch.manual_seed(settings.runtime.seed)
    _, model = MODELS[settings.model_type]
    return model(settings.model, vocabulary_size=len(subwords), padding=subwords.special.padding)


def in_turn(file_numbers: NDArray[np.uint32]) -> Indices:
    """All pairs in an order whose beginning holds of each file what is its share: [pairs].

    Those of one file stay in their order.
    """
    rows = np.arange(len(file_numbers))
    place = np.zeros(len(rows))
    for number in np.unique(file_numbers):
        own = rows[file_numbers == number]
        place[own] = (np.arange(len(own)) + 0.5) / len(own)
    return np.argsort(place, kind="stable")


def build_trainer(
    settings: Settings,
    prepared: Prepared,
    runtime: Runtime,
    folder: RunFolder,
    reporter: Reporter,
) -> Trainer[TranslationTask]:
    """Model, float32 twin, task and optimizer, all from the run's seed."""
    training = settings.training
    rows = in_turn(prepared.valid.file_numbers)[: training.valid_sentences]
    texts = [prepared.valid_texts[row] for row in rows]
    task = TranslationTask(
        prepared.train,
        prepared.valid,
        [target for _, target in texts],
        prepared.subwords,
        weights=prepared.weights,
        valid_rows=rows,
        batch_tokens=training.batch_tokens,
        label_smoothing=training.label_smoothing,
        seed=settings.runtime.seed,
        device=runtime.device,
        valid_languages=[prepared.valid_languages[row] for row in rows],
        valid_codes=[mask_pair(*pair).codes for pair in texts if prepared.codes == "mask"],
    )
    twin = build_model(settings, prepared.subwords).to(runtime.device)
    model = build_model(settings, prepared.subwords).to(runtime.device)
    return Trainer(
        model,
        twin,
        task,
        folder,
        training,
        dtype=runtime.dtype,
        d_model=getattr(settings.model, "d_model", 512),
        reporter=reporter,
    )
