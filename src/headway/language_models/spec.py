"""What the task of language modelling brings: models and task, and the model card."""

import math
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from headway.core.config import Sections
from headway.core.errors import ConfigError
from headway.core.runtime import Runtime
from headway.core.subwords import SpecialIds
from headway.language_models import counting, models, texts
from headway.language_models.evaluation import Evaluation, evaluated_stream
from headway.language_models.scoring import Scorer
from headway.language_models.task import LanguageTask, LanguageTraining
from headway.language_models.units import BY_LETTERS, LanguageText
from headway.runs.gradient import GRADIENT
from headway.runs.loading import Undrawn, copied
from headway.runs.parent import FREE_OF_MODEL, Parent, on_parent, tuned_rate
from headway.runs.settings import Settings
from headway.runs.task_spec import (
    CardWords,
    Learner,
    Load,
    Run,
    Say,
    TaskSpec,
    Tokens,
)

WINDOW = 128
"""Where neither a preset nor the user says."""
MARKERS = {
    "nnlm": ("begin",),
    "ngram": ("begin", "end"),
    "elmo": ("unknown", "begin", "end"),
}
"""Which ids, beside padding, a type of model must know; the others know none."""
INHERITED_TRAINING = ("batch_tokens", "window", "label_smoothing", "clip_norm", "average")
CLOSING = 5
"""Validations' worth of time for choosing weights and for the model card."""


def build(settings: Settings, vocabulary: Tokens) -> nn.Module:
    """The model of a run. One that reads letters is told the words, where there are some yet."""
    pieces = getattr(vocabulary, "pieces", None)
    if settings.model_type not in BY_LETTERS or pieces is None:
        return built(settings, len(vocabulary), vocabulary.special)
    words = pieces(range(len(vocabulary)))
    return built(settings, len(vocabulary), vocabulary.special, pieces=words)


def built(
    settings: Settings, vocabulary_size: int, special: SpecialIds, **further: Any
) -> nn.Module:
    """The model of some settings."""
    _, model = models.LANGUAGE_MODELS[settings.model_type]
    markers = {
        "unknown": special.unknown,
        "begin": special.decoder_begin,
        "end": special.end,
    }
    needed = {name: markers[name] for name in MARKERS.get(settings.model_type, ())} | further
    sizes = {"vocabulary_size": vocabulary_size, "padding": special.padding}
    return model(settings.model, **sizes, **needed)


def carries(settings: Settings) -> bool:
    """Whether a model of these settings carries a state over all text."""
    with torch.device("meta"), Undrawn():
        return bool(built(settings, 8, SpecialIds()).carries)


def task(settings: Settings, data: texts.Texts, runtime: Runtime) -> LanguageTask:
    """What the training loop asks for."""
    assert data.valid is not None, "only models that count go without"
    return LanguageTask(
        data.train,
        data.valid,
        data.vocabulary.special,
        settings.training,
        carries=carries(settings),
        seed=settings.runtime.seed,
        device=runtime.device,
    )


def with_window(run: Run) -> Settings:
    """With a window that holds twice what the model looks back at: windows overlap by half.

    Raises ConfigError where positions end before the window does, or where one was set that hides
    some of what the model looks back at.
    """
    settings = run.settings
    model, window = settings.model, settings.training.window
    longest = model.max_length if getattr(model, "positions", "") == "learned" else math.inf
    n_before = getattr(model, "order", 1) - 1
    if window > longest:
        raise ConfigError(
            f"learned positions end at model.max_length; got {longest}, and a window of {window}. "
            f"Try --model.max-length {window}, or --training.window {longest}."
        )
    if not window:
        window = int(min(WINDOW, longest))
    if window < 2 * n_before:
        if run.given.get("training", {}).get("window"):
            raise ConfigError(
                f"a window holds twice the {n_before} tokens that a model of order {n_before + 1} "
                f"looks back at; got a window of {window}. Try --training.window {2 * n_before}, "
                f"or --model.order {window // 2 + 1}."
            )
        window = 2 * n_before
        run.say(f"window: {window} tokens, twice what the model looks back at")
    return replace(settings, training=replace(settings.training, window=window))


def learner(settings: Settings) -> Learner:
    """By gradient, or by counting, once the window is known."""
    by = counting.COUNTING if settings.model_type in texts.COUNTING else GRADIENT

    return Learner(lambda run: by.fit(replace(run, settings=with_window(run))), by.learn)


def load(settings: Settings) -> Load:
    """By copying weights, or by laying arrays over their file."""
    return counting.load if settings.model_type in texts.COUNTING else copied


def inherited(parent: Parent, given: Sections, say: Say) -> Sections:
    """The parent's model, tokens, batches and window, and a third of its rate.

    So the score before the first update is the parent's own. Raises ConfigError for another type of
    model, or other tokens.
    """
    stored = parent.settings.sections()
    training = {key: stored["training"][key] for key in INHERITED_TRAINING}
    rate = tuned_rate(parent.settings)
    base = {"text": stored["text"], "training": {**training, "learning_rate": rate}}
    free = {"text": {"sample_lines"}, "model": FREE_OF_MODEL}
    return on_parent(parent, given, base, free)


# -- the model card ---------------------------------------------------------------------------


def card(run: Run) -> CardWords:
    """Score the finished model on all validation text, and word what the card says."""
    data: texts.Texts = run.data
    if data.valid is None:
        scores = "Every line was counted; none was held out. headway evaluate scores it on others."
        run.say(scores)
    else:
        found = validation(run, data)
        scores = score_words(found, learned=run.settings.model_type not in texts.COUNTING)
        each = found.scores.per_unit
        run.say(
            f"validation: perplexity {found.scores.per_token:,.1f} per token, "
            f"{each.shown(1)} per {each.unit}, "
            f"{found.scores.bits_per_character:.3f} bits per character"
        )
    reading = data.reading
    title = {
        "ngram": "n-gram",
        "nnlm": "NNLM",
        "rnn": "RNN",
        "lstm": "LSTM",
        "gru": "GRU",
        "elmo": "ELMo",
    }
    unit = {"subwords": "sub-words"}.get(data.unit.unit, data.unit.unit)
    return CardWords(
        title=f"Language model ({title.get(run.settings.model_type, run.settings.model_type)})",
        vocabulary=f"{len(data.vocabulary):,} {unit}",
        scores=scores,
        data=f"{reading['read']:,} lines read; {len(data.train['text'].ids):,} tokens learned "
        "from, line ends and the blank lines between documents included.",
        next_commands=next_commands(run),
    )


def _counted(run: Run) -> nn.Module:
    """A model that was counted, opened before its run is marked as finished."""
    model = run.spec.build(run.settings, run.data.vocabulary)
    load(run.settings)(model, run.folder.model)
    return model.to(run.runtime.device).eval()


def validation(run: Run, data: texts.Texts) -> Evaluation:
    """The finished model on the validation text."""
    assert data.valid is not None
    settings, vocabulary = run.settings, data.vocabulary
    model = run.trainer.eval_model if run.trainer else _counted(run)
    scorer = Scorer(
        model,
        vocabulary.special,
        window=settings.training.window or WINDOW,
        device=run.runtime.device,
    )
    ids = data.valid["text"].ids
    n_ends = len(data.valid)
    n_words, n_characters = (data.valid_reading[of] + n_ends for of in ("words", "characters"))
    counts = {"n_words": n_words, "n_characters": n_characters, "n_ends": n_ends}
    return evaluated_stream(scorer, ids, vocabulary, **counts)


def score_words(found: Evaluation, *, learned: bool) -> str:
    """The card's table; `learned` by gradient, so that a checkpoint was chosen."""
    scores, each, accuracy = found.scores, found.scores.per_unit, found.accuracy
    chosen = (
        " The checkpoint was chosen by\nthis text, so other text will cost a little more."
        if learned
        else ""
    )
    positions = ", ".join(f"{of}: {value:,.1f}" for of, value in found.by_position.items())
    unknown = (
        f"\n{found.share_unknown:.2%} of the tokens are the unknown word, so models with other "
        "vocabularies do not compare at all.\n"
        if scores.n_unknown
        else ""
    )
    halves = ", ".join(f"{name} {value:,.2f}" for name, value in found.both_ways.items())
    if halves:
        unknown += f"\nIt reads both ways; perplexity per token {halves}.\n"
    return f"""On the validation text, {scores.n_tokens:,} tokens:

| what | value | divided by |
|---|---|---|
| perplexity per token | {scores.per_token:,.2f} | {scores.n_tokens:,} tokens, line ends included |
| perplexity per {each.unit} | {each.shown()} | {each.divided_by} |
| bits per character | {scores.bits_per_character:.4f} | {scores.n_characters:,} characters |

The next token is the likeliest one in {accuracy.likeliest:.1%} of cases, among the five likeliest
in {accuracy.among_five:.1%} (of {accuracy.n_tokens:,} tokens). Perplexity per token by its position
in the text that is seen: {positions}.
{unknown}
Only the last two rows compare with models of other vocabularies.{chosen}"""


def next_commands(run: Run) -> list[str]:
    """What the owner of a new model may want to do with it."""
    return next_commands_at(run.folder.path)


def next_commands_at(folder: Path) -> list[str]:
    """The same of a model in a folder."""
    place = shlex.quote(str(folder))
    return [
        f"headway generate {place}",
        f"headway predict {place} 'a beginning'",
        f"headway score {place} FILE.txt",
        f"headway evaluate {place} --corpus TEST.txt",
    ]


SPEC: TaskSpec = TaskSpec(
    name="language-model",
    sections={
        "text": LanguageText,
        "data": texts.LanguageData,
        "training": LanguageTraining,
    },
    models=models.LANGUAGE_MODELS,
    default_model="transformer",
    presets=models.PRESETS,
    choose_preset=models.choose,
    fits_dropout=("tiny", "small"),
    read=texts.read,
    complete=texts.complete,
    sizes=texts.sizes,
    build=build,
    task=task,
    learner=learner,
    closing=CLOSING,
    card=card,
    counted=texts.COUNTING,
    inherit=inherited,
    load=load,
)
"""Everything that language modelling brings; see `headway.runs.task_spec.TaskSpec`."""
