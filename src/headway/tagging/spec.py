"""What the task of tagging brings: files, models, criterion, and the model card."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from torch import nn

from headway.core.config import Sections
from headway.core.dropout import check_dropout
from headway.core.errors import ConfigError, command
from headway.core.runtime import Runtime
from headway.labelling.data import LabelledData, LabelledFiles
from headway.labelling.encoders import ENCODERS, LstmConfig
from headway.labelling.task import ExamplesTask, LabelledTraining
from headway.labelling.vocabulary import load_vocabulary
from headway.language_models.units import LanguageText
from headway.nn.encoder import EncoderConfig
from headway.runs.settings import Settings, absolute_files
from headway.runs.task_spec import CardWords, Run, Sizes, TaskSpec, validated
from headway.tagging.criterion import TagCriterion
from headway.tagging.model import Tagger, TagHead
from headway.tagging.reading import read
from headway.tagging.schemes import LEARNED, transitions
from headway.tagging.spelling import SpellingTable

Head = Literal["crf", "linear"]
SEEN, LEAST_PASSES, MOST_PASSES = 60_000, 8, 25
"""Sentences to see where no length is given, and bounds for how often each is."""
BATCH_TOKENS, RATE = 1_024, 3e-3
"""Small batches, as sentences are few."""


@dataclass(frozen=True)
class TaggingTraining(LabelledTraining):
    """Section [training]. There is no label smoothing that could be summed over all taggings."""

    spelling_dropout: float = 0.5
    """Share of what is seen of spelling that is left out, others each time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_dropout(self.spelling_dropout, "spelling_dropout", remedy="Try 0.5.")
        if self.label_smoothing:
            raise ConfigError(
                f"tags are learned as they are; got label_smoothing {self.label_smoothing}. Leave "
                "it out."
            )


@dataclass(frozen=True)
class LstmTagger(LstmConfig):
    """Reads both ways."""

    dropout: float = 0.5
    """Between layers, and in front of the head."""
    head: Head = "crf"
    """A chain whose transitions are learned (`crf`), or one that only forbids (`linear`)."""
    spelling: bool = True
    """Whether letters are looked at: of words how they begin and end, of characters the next."""


@dataclass(frozen=True)
class TransformerTagger(EncoderConfig):
    """Self-attention."""

    layers: int = 2
    dropout: float = 0.3
    head: Head = "crf"
    """As of lstm."""
    spelling: bool = True
    """As of lstm."""


MODELS: dict[str, tuple[type, Callable[..., nn.Module]]] = {
    "transformer": (TransformerTagger, ENCODERS["transformer"][1]),
    "lstm": (LstmTagger, ENCODERS["lstm"][1]),
}
"""What `--model.type` may be."""


def build(settings: Settings, vocabulary: Any) -> nn.Module:
    """An encoder and a head. A vocabulary that is only described is of words."""
    _, encoder = MODELS[settings.model_type]
    padding, model = vocabulary.special.padding, settings.model
    trunk: Any = encoder(model, vocabulary_size=len(vocabulary), padding=padding)
    allowed = transitions(vocabulary.labels, LEARNED if vocabulary.facts["scheme"] else None)
    learned, d_spelling = model.head == "crf", trunk.embedding.embedding_dim
    head = TagHead(trunk.d_output, allowed, learned=learned, dropout=model.dropout)
    spelling = SpellingTable(d_spelling) if model.spelling else None
    return Tagger(trunk, head, padding=padding, spelling=spelling)


def complete(given: Sections, settings: Settings, data: LabelledData) -> Sections:
    """Batches and rate, where they are left open."""
    usual: dict[str, float] = {"batch_tokens": BATCH_TOKENS}
    if not settings.training.init_from:
        usual |= {"learning_rate": RATE}
    training = {key: value for key, value in usual.items() if not getattr(settings.training, key)}
    return {"data": absolute_files(settings.data), "training": training}


def sizes(data: LabelledData) -> Sizes:
    """Tags, and how often each is to be seen."""
    n = sum(len(one.target.tags) for one in data.train)
    passes = min(max(SEEN / len(data.train), LEAST_PASSES), MOST_PASSES)
    return Sizes(n, n, passes=passes)


def task(settings: Settings, data: LabelledData, runtime: Runtime) -> ExamplesTask:
    """What the training loop asks for."""
    vocabulary = data.vocabulary
    scheme = vocabulary.facts["scheme"] and LEARNED
    training = settings.training
    criterion = TagCriterion(
        vocabulary.special, vocabulary.labels, scheme,
        hidden=training.word_dropout, unspelled=training.spelling_dropout,
    )  # fmt: skip
    return ExamplesTask(criterion, data.train, data.valid, settings, runtime.device)


def card(run: Run) -> CardWords:
    """Score the finished model, and word what the card says."""
    vocabulary, record, path = run.data.vocabulary, run.data.record(), run.folder.path
    found, scheme = validated(run.trainer.task, run.trainer.eval_model), vocabulary.facts["scheme"]
    name = f"strict F1 of spans ({scheme})" if scheme else "accuracy"
    scores = f"{name} {found.score:.2f} % on {record['valid']['kept']:,} validation sentences"
    run.say(f"validation: {scores}")
    n = record["train"]
    return CardWords(
        title=f"Tagging ({', '.join(vocabulary.facts['kinds'])[:80]})",
        vocabulary=f"{len(vocabulary):,} ids; {len(vocabulary.labels)} labels",
        scores=f"{scores}. The checkpoint was chosen by them.",
        data=f"{n['kept']:,} sentences learned from: {n['tokens']:,} tokens.",
        below_use="" if found.score else f"{name} is 0 on the validation sentences",
        next_commands=[
            command("predict", path, "FILE"),
            command("evaluate", path, "--corpus", "FILE"),
        ],
    )


SPEC: TaskSpec = TaskSpec(
    name="tagging",
    sections={"text": LanguageText, "data": LabelledFiles, "training": TaggingTraining},
    models=MODELS,
    default_model="lstm",
    read=read,
    complete=complete,
    sizes=sizes,
    build=build,
    task=task,
    vocabulary=load_vocabulary,
    card=card,
)
"""Everything that tagging brings; see `headway.runs.task_spec.TaskSpec`."""
