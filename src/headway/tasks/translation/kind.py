"""What the task of translation brings."""

from collections.abc import Mapping
from typing import Any

from torch import nn

from headway.config import Sections
from headway.decoding.settings import DecodingSettings
from headway.models import MODELS
from headway.runs.gradient import GRADIENT
from headway.runs.kind import Kind
from headway.runs.parent import Parent
from headway.runs.settings import Settings
from headway.runtime import Runtime
from headway.tasks.translation import ending, fitting, reading
from headway.tasks.translation.presets import PRESETS
from headway.tasks.translation.settings import TranslationData, TranslationTraining
from headway.tasks.translation.task import TranslationTask
from headway.text.subwords import Subwords, TextSettings


def build(settings: Settings, subwords: Subwords) -> nn.Module:
    """The model of a run."""
    _, model = MODELS[settings.model_type]
    return model(settings.model, vocabulary_size=len(subwords), padding=subwords.special.padding)


def task(settings: Settings, data: reading.Pairs, runtime: Runtime) -> TranslationTask:
    """What the training loop asks for."""
    prepared, training = data.prepared, settings.training
    rows = data.valid_rows()[: training.valid_sentences]
    texts = [prepared.valid_texts[row] for row in rows]
    return TranslationTask(
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
        valid_codes=codes_of(texts) if prepared.codes == "mask" else (),
    )


def codes_of(texts: list[tuple[str, str]]) -> list[Any]:
    """What the placeholders of each pair stand for."""
    from headway.text.codes import mask_pair

    return [mask_pair(*pair).codes for pair in texts]


def inherit(parent: Parent, given: Sections) -> Sections:
    """See `headway.runs.kind.Kind.inherit`."""
    from headway.tasks.translation.tuning import inherited

    return inherited(KIND, parent, given)


def refuse_changed_use(given: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
    """See `headway.runs.kind.Kind.refuse_changed_use`."""
    if given.get("pairs") or given.get("valid_pairs"):
        from headway.tasks.translation.tuning import refuse_changed_uses

        refuse_changed_uses(given, stored)


KIND = Kind(
    name="translation",
    sections={
        "text": TextSettings,
        "data": TranslationData,
        "training": TranslationTraining,
        "decoding": DecodingSettings,
    },
    models=MODELS,
    default_model="transformer",
    presets=PRESETS,
    choose_preset=fitting.choose_preset,
    fits_dropout=("tiny", "small"),
    read=reading.read,
    complete=reading.complete,
    sizes=reading.sizes,
    vocabulary=reading.open_vocabulary,
    build=build,
    task=task,
    learner=lambda settings: GRADIENT,
    rehearse=ending.rehearse,
    closing=fitting.CLOSING,
    rank=ending.rank,
    tune=ending.tune_length_penalty,
    card=ending.card,
    inherit=inherit,
    refuse_changed_use=refuse_changed_use,
)
"""Everything that translation brings; see `headway.runs.kind.Kind`."""
