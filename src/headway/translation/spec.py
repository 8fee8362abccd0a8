"""What the task of translation brings: model and task, how a training ends, and the model card."""

import shlex
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn

from headway.core.bleu import SentenceStatistics
from headway.core.config import Sections
from headway.core.errors import refuse_below, refuse_beyond
from headway.core.hypothesis import DecodingSettings
from headway.core.run_folder import LANGUAGES, RunFolder, write_json
from headway.core.runtime import Runtime
from headway.core.subwords import Subwords
from headway.core.training_interfaces import Validation
from headway.corpora.settings import TranslationText
from headway.metrics.corpus_scores import BleuAndChrf, score_translations
from headway.models import MODELS, PRESETS
from headway.operations.time_budget import PlannedTraining
from headway.runs.fitting import PresetLadder
from headway.runs.settings import Settings
from headway.runs.task_spec import CardWords, Run, Say, TaskSpec, Tokens
from headway.tokenizers import tokenizer_files
from headway.translation import mixture, pair_vectors, pairs, tuning, tuning_data
from headway.translation.corpus_task import CorpusTask, PackedTraining
from headway.translation.decoding import SamplingSettings, decode_anew
from headway.translation.length_limits import refuse_too_long, row_length
from headway.translation.measuring import below_use, measure
from headway.translation.packed_task import PackedTask


@dataclass(frozen=True)
class PlannedTranslation(PlannedTraining, PackedTraining):
    """Section [training] of a translator's run."""

    tune_length_penalty: bool = True
    """Whether validation sentences choose decoding.length_penalty at the end, unless it was set."""
    forget_at_most: float = 0.5
    """BLEU that a run which goes on from another's weights may lose on that one's validation pairs,
    where its text files are still there."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_below(self, {"forget_at_most": 0})
        refuse_beyond(self, {"forget_at_most": 100})


LADDER = PresetLadder(
    names=("tiny", "small", "paper-base"),
    up_to=(3_000_000, 30_000_000),
    cpu_speed={"tiny": 8000, "small": 2500, "paper-base": 1200},
    least_epochs=5,
    unit="target tokens",
)
EVERY = 8
"""Of the validation sentences this one is searched when the end is rehearsed."""
CLOSING = 12 * EVERY
"""How often that search is made at the end, for choosing weights and length penalty and for the
model card: about eight times for every sentence, each half as long again with trained weights, of
which some hypothesis goes on to the end."""
LENGTH_PENALTIES = (0.6, 1.0, 1.4)  # tried at the end of a training
PRIOR = 5.0
"""BLEU on validation that a length penalty must win for each whole one away from the usual: above 1
a hypothesis gains by its length alone, and text of another domain pays for it."""


def read(settings: Settings, subwords: Subwords | None, say: Say) -> pairs.Pairs:
    """The pairs of a run, and what its parent learned from, if that is mixed in."""
    if settings.data.prepared:
        from headway.translation.sharded_pairs import read_shards  # a side room

        return read_shards(settings, subwords, say)
    if languages := getattr(subwords, "languages", None):
        mixture.refuse_untold(settings.data, languages, say)
    return (tuning_data if settings.data.old_run else pairs).read(settings, subwords, say)


def vocabulary(run: Path) -> Subwords:
    """The sub-words of a run; an imported one may have them in other files."""
    if not any((run / name).exists() for name in ("source.spm", LANGUAGES)):
        return Subwords.load(RunFolder(run).tokenizer, foreign=tokenizer_files.load)
    from headway.tokenizers.words import opened  # a side room

    return cast(Subwords, opened(run))


def build(settings: Settings, subwords: Tokens) -> nn.Module:
    """The model of a run; where its sub-words have languages it is told them."""
    _, model = MODELS[settings.model_type]
    if hasattr(subwords, "languages"):
        from headway.nn.multilingual import MultilingualTransformer  # a side room

        model = MultilingualTransformer
    return model(settings.model, vocabulary_size=len(subwords), padding=subwords.special.padding)


def task(settings: Settings, data: pairs.Pairs, runtime: Runtime) -> CorpusTask:
    """What the training loop asks for."""
    rows = data.valid_rows()[: settings.training.valid_sentences]
    how: Any = {"seed": settings.runtime.seed, "device": runtime.device}
    how |= {"valid_rows": rows, "decode": decode_anew(settings.runtime.engine)}
    if settings.training.pack_length:
        return PackedTask(data.prepared, settings.training, **how)
    if settings.data.old_run:
        tuned = cast(tuning_data.TunedPairs, data)
        return tuning.TuningTask(settings, tuned, how["device"], how["decode"])
    return CorpusTask(data.prepared, settings.training, **how)


def complete(given: Sections, settings: Settings, data: pairs.Pairs) -> Sections:
    """What the data told; raises ConfigError where positions, or rows, end before a pair does."""
    ends = getattr(settings.model, "positions", "learned") == "learned"
    if ends or settings.training.pack_length:
        refuse_too_long(settings, data.prepared, build)
    return (tuning_data if settings.data.old_run else pairs).complete(given, settings, data)


# -- how long a training takes, and how it ends -----------------------------------------------


def rehearse(task: CorpusTask, model: nn.Module) -> None:
    """A validation of as many steps as the sources are long: about what a trained model writes."""
    task.translate(model, DecodingSettings(method="greedy", max_extra_length=0))
    task.validation_loss(model)


def rehearse_end(settings: Settings, task: CorpusTask, model: nn.Module) -> None:
    """The run's own search, of some sentences."""
    some = copy(task)
    some.valid_rows, some.portions = task.valid_rows[::EVERY], None
    some.search(model, replace(settings.decoding, max_extra_length=0))


def rank(run: Run) -> Callable[[nn.Module], Validation]:
    """By the validation sentences under the run's own search."""
    task: CorpusTask = run.trainer.task
    return lambda model: task.measured(model, run.settings.decoding)


def tune_length_penalty(run: Run) -> Settings:
    """Search the validation sentences with each of `LENGTH_PENALTIES`, and say the choice."""
    settings, trainer = run.settings, run.trainer
    if not settings.training.tune_length_penalty:
        return settings
    tried = {one: replace(settings.decoding, length_penalty=one) for one in LENGTH_PENALTIES}
    bleu = {one: trainer.task.bleu(trainer.eval_model, decoding) for one, decoding in tried.items()}
    best, why = choose_length_penalty(bleu)
    run.say(f"length penalty {best}: {why}")
    return replace(settings, decoding=tried[best])


def choose_length_penalty(bleu: Mapping[float, SentenceStatistics]) -> tuple[float, str]:
    """The best length penalty, less its `PRIOR`, and why, given counts of the same sentences."""
    usual = DecodingSettings().length_penalty
    worth = {one: of.score() - PRIOR * abs(one - usual) for one, of in bleu.items()}
    best = max(worth, key=lambda one: (worth[one], one == usual))
    why = ", ".join(f"{of.score():.2f} with {one}" for one, of in bleu.items())
    return best, f"validation BLEU {why}; one that is 1 away must win {PRIOR:g} BLEU"


# -- the model card ---------------------------------------------------------------------------


def card(run: Run) -> CardWords:
    """Score the chosen weights on the validation sentences, and word what the card says of them."""
    task: CorpusTask = run.trainer.task
    with torch.inference_mode():
        loss = task.validation_loss(run.trainer.eval_model)
        searched = task.search(run.trainer.eval_model, run.settings.decoding, evidence=True)
    hypotheses = task.written(searched)
    scores = {}
    groups = task.groups()
    for group in dict.fromkeys(groups):
        rows = [row for row, other in enumerate(groups) if other == group]
        scores[group] = score_translations(
            [hypotheses[row] for row in rows],
            [task.valid_texts[row] for row in rows],
            target_language=task.valid_languages[rows[0]],
        )
    for language, found in scores.items():
        where = f" ({language})" if len(scores) > 1 else ""
        run.say(f"validation{where}: BLEU {found.bleu.score:.1f}, chrF {found.chrf.score:.1f}")
    if before := task.before_words(hypotheses):
        run.say(before.strip())
    data, report = run.settings.data, run.data.prepared.report
    readings = task.readings(searched)
    languages = data.source_language, data.target_language
    measured = measure(run.data, languages, task.valid_rows, readings, hypotheses, tags=data.tags)
    write_json(run.folder.checks, measured.as_dict())
    trust = measured.trust.words()
    run.say(trust)
    shares = [f"- of what is seen in a pass: {line}" for line in run.data.mixture()]
    shares = ["", *shares] if shares else []
    read = f"{report.read:,} pairs read, {report.kept:,} kept to train on"
    below = "" if data.one_language else below_use(task.valid_sources, hypotheses, task.valid_texts)
    return CardWords(
        title=f"{data.source_language or 'source'} -> {data.target_language or 'target'}",
        vocabulary=f"{len(run.data.vocabulary):,} sub-words",
        scores=f"{score_words(run, scores, loss, before)}\n\n{trust}",
        data="\n".join([read, f"(dropped: {report.dropped_words()}).", *shares]),
        next_commands=next_commands(run),
        below_use=below,
    )


def score_words(run: Run, scores: Mapping[str, BleuAndChrf], loss: float, before: str) -> str:
    """The card's table of scores, by target language, what they are of, and what was `before`."""
    rows = "\n".join(
        f"| {name}{f', {language}' if len(scores) > 1 else ''} | {score.score:.2f} "
        f"| {score.low:.2f} to {score.high:.2f} | `{score.signature}` |"
        for language, of_language in scores.items()
        for name, score in (("BLEU", of_language.bleu), ("chrF", of_language.chrf))
    )
    decoding = run.settings.decoding
    return f"""On {len(run.trainer.task.valid_texts):,} validation sentences, with
{decoding.method} search (beam {decoding.beam}, length penalty
{decoding.length_penalty}); intervals are 95% by bootstrap over sentences.
Cross-entropy is {loss:.4f} nats per target token.

| metric | score | interval | signature |
|---|---|---|---|
{rows}

{before}The checkpoint was chosen by these sentences, so scores on other
text will be lower."""


def next_commands(run: Run) -> list[str]:
    """What the owner of a new model may want to do with it."""
    place, data = shlex.quote(str(run.folder.path)), run.settings.data
    source, target, tag = data.source_language, data.target_language, ""
    if any(data.tags):
        name, source, target = mixture.most_seen(run.data, data)
        tag = f" --tag {name}"
    suffix, other = (f".{language or 'txt'}" for language in (source, target))
    out, reference = ("FILE", "TEST") if suffix != other else ("TRANSLATION", "REFERENCE")
    return [
        f"echo 'a sentence' | headway translate {place}{tag}",
        f"headway translate {place} FILE{suffix} --out {out}{other}{tag}",
        f"headway evaluate {place} --source TEST{suffix} --reference {reference}{other}{tag}",
    ]


SPEC: TaskSpec = TaskSpec(
    name="translation",
    sections={
        "text": TranslationText,
        "data": pairs.TranslationData,
        "training": PlannedTranslation,
        "decoding": SamplingSettings,
    },
    models=MODELS,
    default_model="transformer",
    presets=PRESETS,
    choose_preset=LADDER.choose,
    fits_dropout=("tiny", "small", "recurrent", "ablated", "convolutional", "bytenet"),
    slow_warmup=("transformer", "ablated"),  # measured; the second is compared with the first
    read=read,
    complete=complete,
    absolute=pairs.absolute,
    sizes=pairs.sizes,
    vocabulary=vocabulary,
    build=build,
    row_length=row_length,
    begun_at_pairs=pair_vectors.begun,
    task=task,
    rehearse=rehearse,
    rehearse_end=rehearse_end,
    closing=CLOSING,
    rank=rank,
    tune=tune_length_penalty,
    card=card,
    inherit=lambda parent, given, say: tuning.inherited(SPEC, parent, given, say),
)
"""Everything that translation brings; see `headway.runs.task_spec.TaskSpec`."""
