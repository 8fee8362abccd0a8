"""Model, task and trainer of a run, made from its settings and its seed."""

import torch
from torch import nn

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


def build_trainer(
    settings: Settings,
    prepared: Prepared,
    runtime: Runtime,
    folder: RunFolder,
    reporter: Reporter,
) -> Trainer[TranslationTask]:
    """Model, float32 twin, task and optimizer, all from the run's seed."""
    training = settings.training
    n_valid = min(training.valid_sentences, len(prepared.valid_texts))
    task = TranslationTask(
        prepared.train,
        prepared.valid,
        [target for _, target in prepared.valid_texts[:n_valid]],
        prepared.subwords,
        weights=prepared.weights,
        batch_tokens=training.batch_tokens,
        label_smoothing=training.label_smoothing,
        seed=settings.runtime.seed,
        device=runtime.device,
        target_language=settings.data.target_language,
        valid_codes=[
            mask_pair(*pair).codes
            for pair in prepared.valid_texts[:n_valid]
            if prepared.codes == "mask"
        ],
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
