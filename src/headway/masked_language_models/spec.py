"""What the task of masked language models brings: model, presets, windows of text, and the card."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.core.config import Sections
from headway.core.errors import ConfigError, command, refuse_below, refuse_beyond
from headway.core.runtime import Runtime
from headway.labelling.task import ExamplesTask
from headway.language_models import texts
from headway.language_models.units import LanguageText
from headway.masked_language_models.criterion import MaskedCriterion
from headway.masked_language_models.data import MaskedData, Windows
from headway.masked_language_models.masking import HIDDEN, Masking
from headway.masked_language_models.model import MaskedLanguageModel
from headway.nn.encoder import EncoderConfig
from headway.operations.time_budget import PlannedTraining
from headway.runs.fitting import PresetLadder
from headway.runs.settings import Settings
from headway.runs.task_spec import CardWords, Run, Say, Sizes, TaskSpec, built_from, validated

MODELS = {"transformer": (EncoderConfig, MaskedLanguageModel)}


@dataclass(frozen=True)
class MaskedTraining(PlannedTraining):
    """Section [training]."""

    window: int = 128
    """Tokens that are read at once, the markers around them included."""
    valid_tokens: int = 50_000
    """At most so many tokens of validation text are read at each checkpoint, from all over it."""
    label_smoothing: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_beyond(self, {"window": 1 << 20, "valid_tokens": 1 << 40}, above="training.")
        refuse_below(self, {"window": 4, "valid_tokens": 1}, above="training.")


def _preset(layers: int, d_model: int, heads: int, rate: float) -> Sections:
    sizes = {"layers": layers, "d_model": d_model, "d_ff": 4 * d_model, "heads": heads}
    return {
        "model": {"type": "transformer", **sizes, "dropout": 0.1},
        "training": {"batch_tokens": 4096, "window": 128, "learning_rate": rate},
    }


PRESETS = {"tiny": _preset(4, 128, 4, 3e-3), "small": _preset(6, 256, 4, 1.5e-3)}
LADDER = PresetLadder(
    names=("tiny", "small"),
    up_to=(1_500_000,),
    cpu_speed={"tiny": 3_000, "small": 750},
    least_epochs=3,
    unit="hidden places",
)
"""As of language models, of which every token is told."""


def read(settings: Settings, known: Any, say: Say) -> texts.Texts:
    """Files to streams of ids; `known` is the vocabulary of a run that this one begins with.

    Raises what `headway.language_models.texts.read` does, and ConfigError for a window beyond the
    last learned position.
    """
    model, window = settings.model, settings.training.window
    if model.positions == "learned" and window > model.max_length:
        raise ConfigError(
            f"learned positions end at model.max_length; got {model.max_length}, and a window of "
            f"{window}. Try --model.max-length {window}, or --training.window {model.max_length}."
        )
    return texts.read(settings, getattr(known, "tokens", known), say)


def sizes(data: texts.Texts) -> Sizes:
    """Hidden places of one pass."""
    n_hidden = round(HIDDEN * len(data.train["text"].ids))
    return Sizes(n_hidden, n_hidden)


def criterion(settings: Settings, tokens: Any) -> MaskedCriterion:
    """How places are hidden and told, of some settings."""
    return MaskedCriterion(
        Masking(tokens, whole_words=settings.data.whole_words), tokens.special.padding,
        smoothing=settings.training.label_smoothing, seed=settings.runtime.seed,
    )  # fmt: skip


def task(settings: Settings, data: texts.Texts, runtime: Runtime) -> ExamplesTask:
    """What the training loop asks for."""
    assert data.valid is not None, "only models that count go without"
    special, training = data.vocabulary.special, settings.training
    train, valid = (
        Windows(some["text"].ids, special, training.window) for some in (data.train, data.valid)
    )
    asked, held = criterion(settings, data.vocabulary), valid.spread(training.valid_tokens)
    return ExamplesTask(asked, train, held, settings, runtime.device)


def next_commands(place: Path) -> list[str]:
    """For the card of a run in a place."""
    child = ("train", "--task", "classification", "--init-from", place, "--corpus", "LABELLED.tsv")
    return [
        command("predict", place, "The capital of France is [MASK]."),
        command("evaluate", place, "--corpus", "TEST.txt"),
        command("embed", place, "FILE.txt", "--out", "vectors.safetensors"),
        command(*child, "--out", "NEW"),
    ]


def card(run: Run) -> CardWords:
    """Score the finished model on validation text, and word what the card says."""
    trainer, data = run.trainer, run.data
    found, tokens = validated(trainer.task, trainer.eval_model), len(data.train["text"].ids)
    scores = (
        f"at hidden places of held-out text: {found.score:.1f}% right, perplexity "
        f"{found.others['perplexity']:.2f} ({found.loss:.4f} nats)"
    )
    run.say(f"validation: {scores}")
    unit = {"subwords": "sub-words"}.get(data.unit.unit, data.unit.unit)
    whole = ", whole words" if run.settings.data.whole_words else ""
    return CardWords(
        "Masked language model",
        f"{len(data.vocabulary):,} {unit}",
        f"{scores[0].upper()}{scores[1:]}.\n\nThe checkpoint was chosen by this text. "
        "Perplexities of other vocabularies do not compare.",
        f"{data.reading['read']:,} lines read; {tokens:,} tokens in windows of "
        f"{run.settings.training.window}, of which {HIDDEN:.0%} are hidden, anew each time{whole}.",
        next_commands(run.folder.path),
    )


SPEC: TaskSpec = TaskSpec(
    name="masked-language-model",
    sections={"text": LanguageText, "data": MaskedData, "training": MaskedTraining},
    models=MODELS,
    default_model="transformer",
    presets=PRESETS,
    choose_preset=LADDER.choose,
    read=read,
    complete=texts.complete,
    sizes=sizes,
    build=built_from(MODELS),
    task=task,
    card=card,
)
"""Everything that masked language models bring; see `headway.runs.task_spec.TaskSpec`."""
