"""What the task of translation brings."""

from torch import nn

from headway.decoding.settings import DecodingSettings
from headway.models import MODELS
from headway.runs.gradient import GRADIENT
from headway.runs.kind import Kind
from headway.runs.settings import Settings
from headway.runtime import Runtime
from headway.tasks.translation import ending, fitting, pairs, tuning
from headway.tasks.translation.presets import PRESETS
from headway.tasks.translation.task import TranslationTask, TranslationTraining
from headway.text.subwords import Subwords, TextSettings
from headway.training.run_folder import RunFolder


def build(settings: Settings, subwords: Subwords) -> nn.Module:
    """The model of a run."""
    _, model = MODELS[settings.model_type]
    return model(settings.model, vocabulary_size=len(subwords), padding=subwords.special.padding)


def task(settings: Settings, data: pairs.Pairs, runtime: Runtime) -> TranslationTask:
    """What the training loop asks for."""
    rows = data.valid_rows()[: settings.training.valid_sentences]
    seed, device = settings.runtime.seed, runtime.device
    return TranslationTask(
        data.prepared, settings.training, valid_rows=rows, seed=seed, device=device
    )


KIND: Kind = Kind(
    name="translation",
    sections={
        "text": TextSettings,
        "data": pairs.TranslationData,
        "training": TranslationTraining,
        "decoding": DecodingSettings,
    },
    models=MODELS,
    default_model="transformer",
    presets=PRESETS,
    choose_preset=fitting.choose_preset,
    fits_dropout=("tiny", "small"),
    read=pairs.read,
    complete=pairs.complete,
    sizes=pairs.sizes,
    vocabulary=lambda run: Subwords.load(RunFolder(run).tokenizer),
    build=build,
    task=task,
    learner=lambda settings: GRADIENT,
    rehearse=ending.rehearse,
    closing=fitting.CLOSING,
    rank=ending.rank,
    tune=ending.tune_length_penalty,
    card=ending.card,
    inherit=lambda parent, given: tuning.inherited(KIND, parent, given),
    refuse_changed_use=tuning.refuse_changed_uses,
)
"""Everything that translation brings; see `headway.runs.kind.Kind`."""
