"""What the task of tagging brings: files, models, criterion, and the model card."""

from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from typing import Any, Literal

from torch import nn

from headway.core.errors import ConfigError, command
from headway.core.runtime import Runtime
from headway.labelling.data import LabelledData, LabelledFiles, sizes
from headway.labelling.encoders import ENCODERS
from headway.labelling.task import ExamplesTask
from headway.labelling.vocabulary import load_vocabulary
from headway.language_models.units import LanguageText
from headway.operations.time_budget import PlannedTraining
from headway.runs.settings import Settings
from headway.runs.task_spec import CardWords, Run, TaskSpec, validated
from headway.tagging.crf import TagHead
from headway.tagging.criterion import TagCriterion
from headway.tagging.model import Tagger
from headway.tagging.reading import kinds_of, read
from headway.tagging.schemes import LEARNED, transitions
from headway.tagging.spelling import SpellingTable

Head = Literal["crf", "linear"]
SPELLING_DROPOUT = 0.2
"""How often a feature of spelling is left out."""


@dataclass(frozen=True)
class TaggingTraining(PlannedTraining):
    """Section [training]."""

    label_smoothing: float = 0.0
    """None: a chain has no smoothing that could be summed over all taggings."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.label_smoothing:
            raise ConfigError(
                f"tags are learned as they are; got label_smoothing {self.label_smoothing}. Leave "
                "it out."
            )


def _with_head(config: type) -> type:
    """Section [model] of an encoder, and what stands above it."""
    fields: list[Any] = [("head", Head, "crf"), ("spelling", bool, True)]
    return make_dataclass(f"Tagging{config.__name__}", fields, bases=(config,), frozen=True)


MODELS: dict[str, tuple[type, Callable[..., nn.Module]]] = {
    name: (_with_head(config), encoder) for name, (config, encoder) in ENCODERS.items()
}
"""What `--model.type` may be. `--model.head` is a chain whose transitions are learned (`crf`), or
one that only forbids (`linear`); `--model.spelling` says whether letters are looked at."""


def build(settings: Settings, vocabulary: Any) -> nn.Module:
    """An encoder and a head. A vocabulary that is only described is of words."""
    _, encoder = MODELS[settings.model_type]
    padding, model = vocabulary.special.padding, settings.model
    trunk: Any = encoder(model, vocabulary_size=len(vocabulary), padding=padding)
    allowed = transitions(vocabulary.labels, LEARNED if vocabulary.facts["scheme"] else None)
    learned, d_spelling = model.head == "crf", trunk.embedding.embedding_dim
    head = TagHead(trunk.d_output, allowed, learned=learned, dropout=model.dropout)
    spelling = SpellingTable(d_spelling, SPELLING_DROPOUT) if model.spelling else None
    return Tagger(trunk, head, padding=padding, spelling=spelling)


def task(settings: Settings, data: LabelledData, runtime: Runtime) -> ExamplesTask:
    """What the training loop asks for."""
    vocabulary = data.vocabulary
    scheme = vocabulary.facts["scheme"] and LEARNED
    criterion = TagCriterion(vocabulary.special.padding, vocabulary.labels, scheme)
    return ExamplesTask(
        criterion, data.train, data.valid, settings.training,
        seed=settings.runtime.seed, device=runtime.device,
    )  # fmt: skip


def card(run: Run) -> CardWords:
    """Score the finished model, and word what the card says."""
    vocabulary, record, path = run.data.vocabulary, run.data.record(), run.folder.path
    found, scheme = validated(run.trainer.task, run.trainer.eval_model), vocabulary.facts["scheme"]
    name = f"strict F1 of spans ({scheme})" if scheme else "accuracy"
    scores = f"{name} {found.score:.2f} % on {record['valid']['kept']:,} validation sentences"
    run.say(f"validation: {scores}")
    kinds, n = kinds_of(vocabulary.labels, scheme), record["train"]
    return CardWords(
        title=f"Tagging ({', '.join(kinds)[:80]})",
        vocabulary=f"{len(vocabulary):,} ids; {len(vocabulary.labels)} labels",
        scores=f"{scores}. The checkpoint was chosen by them.",
        data=f"{n['kept']:,} sentences learned from: {n['tokens']:,} tokens.",
        next_commands=[
            command("predict", path, "FILE"),
            command("evaluate", path, "--corpus", "FILE"),
        ],
    )


SPEC: TaskSpec = TaskSpec(
    name="tagging",
    sections={"text": LanguageText, "data": LabelledFiles, "training": TaggingTraining},
    models=MODELS,
    default_model="transformer",
    read=read,
    sizes=sizes,
    build=build,
    task=task,
    vocabulary=load_vocabulary,
    card=card,
)
"""Everything that tagging brings; see `headway.runs.task_spec.TaskSpec`."""
