"""`headway translate --shards`: files of lines of any size, and what was done of them before."""

import shlex
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from headway.bulk.attempts import TaskRunner
from headway.bulk.job import BulkProgress, HereRunner, translate_shards_of
from headway.bulk.shards import ShardFolder
from headway.bulk.slurm import array_script
from headway.bulk.translating import BulkSettings, translated_part, weights_of
from headway.commands.arguments import given, say
from headway.commands.shares import share, this_command
from headway.commands.stages import Stages
from headway.commands.translate_options import NOT_WITH_SHARDS, OF_SHARDS, PARTIAL, TranslateOptions
from headway.core.errors import ConfigError
from headway.core.lines import check_file
from headway.core.runtime import available_cores
from headway.filling.inputs import placed
from headway.filling.steps import Ready
from headway.localization.formats.file_kinds import is_plain_text, no_plain_text
from headway.operations.processes import JobPart, WorkerPool, may_fork
from headway.operations.shipped import refuse_undecodable
from headway.translator import Translator

_LINE_EVERY_S = 30.0
_LONGEST_S = 1800.0
"""A process that is at 2,000 lines for longer is taken for one that will never end."""


def translate_shards(
    run: Path | None, names: Sequence[str], told: TranslateOptions, ready: Ready
) -> int:
    """Translate what is missing of all files; returns the exit status.

    Raises:
        ConfigError: an option does not go with it, or the folder holds another job.
        DataError: a file is missing, or is no text.
        KeyboardInterrupt: finished shards stay, and it is said how to go on.
    """
    out, part = _checked(run, names, told)
    files = [file for file, _ in placed(names, out)]
    for file in files:
        refuse_undecodable(file)
        check_file(file)
        if not (told.as_ or is_plain_text(file)):
            raise no_plain_text(file)
    if told.on == "slurm":
        command = this_command("--on", "--part", "--processes")
        print(array_script(shlex.join(command), told.processes), end="")
        return 0
    translator, how = ready()
    settings = _settings_of(translator, how, told)
    folder, states = ShardFolder(out, say), [file.stat() for file in files]
    inputs = {
        f"{number:05} {file.name}": [state.st_size, state.st_mtime_ns]
        for number, (file, state) in enumerate(zip(files, states, strict=True))
    }
    plan = {"run": settings.weights, "search": settings.search()}
    folder.agree({**plan, "shard_lines": told.shard_lines, "inputs": inputs})
    try:
        with Stages() as stages:
            progress, state, n_retries = translate_shards_of(
                files, folder, _runner(translator, settings, told), told.shard_lines, part,
                _shown(stages), told.price_per_hour,
            )  # fmt: skip
    except KeyboardInterrupt:
        say("headway: interrupted; finished shards stay, the same command again does the others")
        raise
    for one in state.damaged:
        say(f"headway: {one}")
    manifest = folder.write_manifest(files)
    _tell(manifest, folder, progress, n_retries)
    return PARTIAL if state.damaged or (manifest["missing"] and not told.part) else 0


def _checked(
    run: Path | None, names: Sequence[str], told: TranslateOptions
) -> tuple[Path, JobPart]:
    """Where to, and which share. Raises ConfigError for what does not go together."""
    if not told.shards:
        [option, *_] = given(told, *OF_SHARDS)
        raise ConfigError(f"{option} is of shards; got no --shards. Add it, or leave that out.")
    if run is None or not names or told.out is None:
        raise ConfigError(
            "--shards takes a run, files of lines, and a folder for what comes out. For example: "
            "headway translate RUN 'part-*.gz' --out DIR --shards"
        )
    for option in given(told, *NOT_WITH_SHARDS):
        raise ConfigError(
            f"--shards writes the best translation of each line and nothing else; got {option}. "
            f"Leave out {option} or --shards."
        )
    for key, least in {"shard_lines": 1, "processes": 1, "price_per_hour": 0}.items():
        if (value := vars(told)[key]) is not None and value < least:
            raise ConfigError(f"--{key.replace('_', '-')} must be at least {least}; got {value}.")
    return told.out, share(told.part or "")


def _settings_of(
    translator: Translator, how: dict[str, Any], told: TranslateOptions
) -> BulkSettings:
    run, chosen = str(translator.run), translator.search.choice
    codes = tuple(str(file.absolute()) for file in told.codes)
    return BulkSettings(
        run, weights_of(run), tuple(how.items()), chosen.name, chosen.precision, codes,
        told.shortlist,
    )  # fmt: skip


def _runner(translator: Translator, settings: BulkSettings, told: TranslateOptions) -> TaskRunner:
    """Who translates, said in a line."""
    if told.on == "ray":
        from headway.bulk.on_ray import RayRunner

        return RayRunner(settings, told.processes)
    work = partial(translated_part, translator, settings.how)
    if translator.device.type != "cpu" or not may_fork():
        say(f"headway: one process, on {translator.device}")
        return HereRunner(work)
    translator.translate("a", **dict(settings.how))  # what is prepared now, all processes share
    n = told.processes or available_cores()
    say(f"headway: {n} process{'es' * (n > 1)}, one thread each")
    return WorkerPool(work, n, _LONGEST_S)


def _shown(stages: Stages) -> Callable[[BulkProgress], None]:
    """Shows progress: a bar on a terminal, else a line each half minute."""
    told = time.monotonic()

    def show(progress: BulkProgress) -> None:
        nonlocal told
        if sys.stderr.isatty():
            stages("translating", progress.n_read, progress.n_expected)
        elif time.monotonic() - told > _LINE_EVERY_S:
            told = time.monotonic()
            say(f"headway: {progress.in_words()}")

    return show


def _tell(
    manifest: dict[str, Any], folder: ShardFolder, progress: BulkProgress, n_retries: int
) -> None:
    """What there is now, and what is missing or blank."""
    n_lines, n_shards = manifest["lines"], len(manifest["shards"])
    say(f"headway: {folder.out} has {n_lines:,} lines; shards: {n_shards:,}")
    if progress.n_lines:
        say(f"headway: translated now: {progress.n_lines:,}, {progress.in_words()}")
    if folder.n_taken or manifest["missing"]:
        say(
            "headway: shards or files that are missing, as they are of other parts or another "
            f"process is at them: {manifest['missing']:,}. The same command again does what is "
            "missing then."
        )
    if n := manifest["cut"]:
        say(f"headway: {n:,} of the lines were longer than the model reads, and were cut")
    if n := manifest["untranslated"]:
        say(f"headway: {n:,} of the lines are blank: {folder.notes / 'untranslated.tsv'}")
    if n_retries:
        say(f"headway: {n_retries:,} times lines were tried anew: a process ended or failed")
