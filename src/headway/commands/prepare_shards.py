"""`headway prepare --shards DIR`: a corpus of 10^7 pairs or more for `train --prepared`."""

from json import loads as read_json
from pathlib import Path
from typing import Any

from headway.commands.arguments import print_json, say
from headway.commands.shares import share, this_command
from headway.commands.stages import Stages
from headway.core.config import Sections, build
from headway.core.errors import ConfigError
from headway.corpora.mixed_languages import refuse_mixed
from headway.corpora.settings import TranslationText
from headway.large_corpora.plan import ShardPlan, disk_need, gigabytes, refuse_no_room
from headway.large_corpora.slurm import slurm_script
from headway.large_corpora.stages import SHARED_STAGES, STAGES, prepare_shards
from headway.large_corpora.summary import in_words
from headway.operations.locks import only_writer_of_folder
from headway.operations.processes import JobPart
from headway.translation.pairs import TranslationData

SLURM_JOBS = 16
"""Of each array, where --part says no other number."""


def refuse_others(shards: Path | None, **others: object) -> None:
    """Raise ConfigError for options that do not go together."""
    if shards is None:
        raise ConfigError(
            "--stage, --part and --on say how shards are made; got no --shards. Add --shards DIR."
        )
    for name, value in others.items():
        if value:
            raise ConfigError(
                f"--shards writes all that it finds to its folder; got --{name} too. Leave it out."
            )


def prepare_into(
    shards: Path, given: Sections, *, stage: str, part: str, on: str, json: bool
) -> list[Any]:
    """Prepare the corpus that some sections name, or do what is left of it, and print the report.

    Returns why nobody should train on this.

    Raises:
        ConfigError, DataError: a setting or a file cannot be used, or there is no room.
    """
    if others := sorted(set(given) - {"data", "text"}):
        raise ConfigError(
            f"prepare --shards has settings in [data] and [text]; got [{others[0]}]. Leave it out."
        )
    data = build(TranslationData, given.get("data", {}), section="data")
    mine = _part(part, stage, on)
    corpus, valid = data.corpus(), data.validation()
    for one in (corpus, valid):
        if one is not None:
            one.check()
    refuse_mixed(corpus, valid)
    for use in corpus.uses:
        if use.weight != 1 or use.tag:
            raise ConfigError(
                "shards hold each pair once and as it is written; got a file with "
                f"{f'tag {use.tag}' if use.tag else f'weight {use.weight:g}'}. Leave that out."
            )
    text = build(TranslationText, given.get("text", {}), section="text")
    plan = ShardPlan(shards.absolute(), data, text)
    plan.begin(say)
    if on:
        n_jobs = mine.of if mine.of > 1 else min(SLURM_JOBS, len(plan.units))
        print(slurm_script(this_command("--on", "--part"), n_jobs), end="")
        return []
    if not plan.finished.exists() and not stage:
        need = disk_need(plan)
        say(
            f"about {need.n_pairs:,} pairs in {len(plan.units):,} units of work; on the disk about "
            f"{gigabytes(need.most)} while they are prepared, {gigabytes(need.final)} at the end"
        )
        refuse_no_room(plan, need)
    lock = plan.work / "locks" / f"{stage or 'all'}-{mine.number}"
    with only_writer_of_folder(lock, say), Stages() as stages:
        if not stage:
            _refuse_jobs_at_work(lock)
        prepare_shards(plan, say, stages, only=stage, part=mine)
    if not plan.finished.exists():
        return []
    found = read_json((plan.directory / "report.json").read_text("utf-8"))
    print_json(found) if json else print(in_words(found), end="")
    return list(found["serious"])


def _refuse_jobs_at_work(own: Path) -> None:
    """Raise TakenError where a part of a stage is being done elsewhere: what it has begun would be
    swept."""
    for lock in sorted(own.parent.iterdir()):
        if lock != own:
            with only_writer_of_folder(lock, say):
                pass


def _part(text: str, stage: str, on: str) -> JobPart:
    """K/N of --part; raises ConfigError for what cannot be shared."""
    if stage and stage not in STAGES:
        raise ConfigError(f"--stage is one of {', '.join(STAGES)}; got {stage}.")
    if on and on != "slurm":
        raise ConfigError(f"--on is slurm, which prints the jobs; got {on}. Leave it out.")
    part = share(text)
    if text and not on and stage not in SHARED_STAGES:
        raise ConfigError(
            f"--part shares out one stage, {', '.join(SHARED_STAGES)}; got "
            f"{f'--stage {stage}' if stage else 'no --stage'}. Say which; no stage begins before "
            "all parts of the one before are done."
        )
    return part
