"""The README.md of a run folder: what the model is, learned from, scores, and how to use it."""

import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from headway import runtime as machine_runtime
from headway.data.prepared import Prepared
from headway.metrics.translation import BleuAndChrf, score_translations
from headway.runtime import Runtime
from headway.tasks.mixture import mixture
from headway.tasks.settings import Settings
from headway.tasks.translation import TranslationTask
from headway.training.console import clock
from headway.training.loop import Trainer
from headway.training.run_folder import RunFolder


def write(
    folder: RunFolder,
    settings: Settings,
    prepared: Prepared,
    trainer: Trainer[TranslationTask],
    *,
    chosen: str,
    runtime: Runtime,
    say: Callable[[str], None],
) -> None:
    """Score the chosen weights on the validation sentences, write the card, name what is next."""
    task = trainer.task
    with torch.inference_mode():
        trainer.load(folder.model)
        loss = task.validation_loss(trainer.twin)
        hypotheses = task.translate(trainer.twin, settings.decoding)
    scores = by_language(hypotheses, task.valid_texts, task.valid_languages)
    for language, found in scores.items():
        where = f" ({language})" if len(scores) > 1 else ""
        say(f"validation{where}: BLEU {found.bleu.score:.1f}, chrF {found.chrf.score:.1f}")
    text = card(folder.path, settings, prepared, trainer, chosen, runtime, scores, loss)
    folder.card.write_text(text, encoding="utf-8")
    say("")
    say("next:")
    for command in next_commands(folder.path, settings):
        say(f"  {command}")


def by_language(
    hypotheses: Sequence[str], references: Sequence[str], languages: Sequence[str | None]
) -> dict[str, BleuAndChrf]:
    """The scores in each target language, as it is to be called."""
    scores = {}
    for language in dict.fromkeys(languages):
        rows = [row for row, other in enumerate(languages) if other == language]
        scores[language or "language not known"] = score_translations(
            [hypotheses[row] for row in rows],
            [references[row] for row in rows],
            target_language=language,
        )
    return scores


def next_commands(run: Path, settings: Settings) -> list[str]:
    """What the owner of a new model may want to do with it."""
    place = shlex.quote(str(run))
    data = settings.data
    suffix = f".{data.source_language}" if data.source_language else ".txt"
    other = f".{data.target_language}" if data.target_language else ".txt"
    tag = f" --tag {[tag for tag in data.tags if tag][-1]}" if data.tags else ""
    return [
        f"echo 'a sentence' | headway translate {place}{tag}",
        f"headway translate {place} FILE{suffix} --out FILE{other}{tag}",
        f"headway evaluate {place} --source TEST{suffix} --reference TEST{other}{tag}",
    ]


def origin(folder: RunFolder) -> str:
    """Which run the model began with, and how good that was; nothing if it began with none."""
    parent = json.loads(folder.data.read_text(encoding="utf-8")).get("parent")
    if not parent:
        return ""
    return f"""
It began with the weights of `{parent["run"]}` (sha256 {parent["sha256"]}), whose BLEU on the
validation sentences was {folder.read_log()[0]["bleu"]:.2f} by greedy search."""


def card(
    run: Path,
    settings: Settings,
    prepared: Prepared,
    trainer: Trainer[TranslationTask],
    chosen: str,
    runtime: Runtime,
    scores: dict[str, BleuAndChrf],
    loss: float,
) -> str:
    """The text of the model card."""
    data, training, progress = settings.data, settings.training, trainer.progress
    n_parameters = sum(parameter.numel() for parameter in trainer.twin.parameters())
    direction = f"{data.source_language or 'source'} -> {data.target_language or 'target'}"
    lines = [f"- `{name}` (sha256 {sum_})" for name, sum_ in prepared.checksums.items()]
    lines += [f"- of what is seen in a pass: {line}" for line in mixture(prepared)]
    files = "\n".join(lines)
    dropped = ", ".join(
        f"{n:,} {reason.replace('_', ' ')}" for reason, n in prepared.report.dropped.most_common()
    )
    rows = "\n".join(
        f"| {name}{f', {language}' if len(scores) > 1 else ''} | {score.score:.2f} "
        f"| {score.low:.2f} to {score.high:.2f} | `{score.signature}` |"
        for language, of_language in scores.items()
        for name, score in (("BLEU", of_language.bleu), ("chrF", of_language.chrf))
    )
    commands = "\n".join(next_commands(run, settings))
    machine = "\n".join(f"- {key}: {value}" for key, value in machine_runtime.machine().items())
    return f"""# {direction}, trained with headway

A {settings.model_type} of {n_parameters:,} parameters and {len(prepared.subwords):,} sub-words;
every setting is in `config.toml`. The weights are {chosen}.{origin(RunFolder(run))}

## Scores

On {len(trainer.task.valid_texts):,} validation sentences, with
{settings.decoding.method} search (beam {settings.decoding.beam}, length penalty
{settings.decoding.length_penalty}); intervals are 95% by bootstrap over sentences.
Cross-entropy is {loss:.4f} nats per target token.

| metric | score | interval | signature |
|---|---|---|---|
{rows}

The checkpoint was chosen by these sentences, so scores on other text will be lower.

## Data

{prepared.report.read:,} pairs read, {prepared.report.kept:,} trained on
(dropped: {dropped or "none"}).

{files}

## Training

{progress.step:,} updates of at most {training.batch_tokens:,} padded tokens,
{progress.target_tokens:,} target tokens, {clock(progress.time_s)}, seed {settings.runtime.seed},
on {runtime.describe()}.

{machine}

## Use

```
{commands}
```
"""
