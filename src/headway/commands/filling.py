"""`headway translate RUN FILE..` for files that hold both sides: what is empty is filled in."""

import sys
from collections.abc import Iterator, Sequence
from json import dump
from pathlib import Path
from typing import NamedTuple

from headway.commands.arguments import say
from headway.commands.stages import Stages
from headway.core.errors import ConfigError
from headway.filling.calls import called
from headway.filling.files import FillOptions
from headway.filling.report import rows, table
from headway.filling.rows import FileReport, Row, badness, said_of, summary, total
from headway.filling.steps import Aids, Ready

_WORST = 5
_EACH = 5
"""So many files have a line each; more are told in one."""
PARTIAL = 3
"""Exit status of `--keep-going` where files could not be translated."""


class Told(NamedTuple):
    """What goes to standard output about each unit."""

    json: bool = False
    scores: bool = False
    n_best: bool = False
    alignment: bool = False

    @property
    def anything(self) -> bool:
        """A table or an object was asked for."""
        return self.json or self.scores or self.n_best


def translate_files(
    run: Path | None,
    names: Sequence[str],
    options: FillOptions,
    aids: Aids,
    told: Told,
    ready: Ready,
) -> int:
    """Fill in the files with the run's translator; `options.direction` goes before the run's own.

    Without a run a memory does it alone. The exit status is `PARTIAL` where files were left out.

    Raises:
        ConfigError: an option is for lines of text only, or as `fill_files`.
        DataError: as `fill_files`.
        KeyboardInterrupt: what was done is kept, and it is said how to go on.
    """
    if told.alignment:
        raise ConfigError(
            f"--alignment is for text that is translated line by line; {names[0]} is filled in. "
            "Leave out --alignment."
        )
    with Stages() as stages:
        done = called(run, names, options, aids, ready, [told, sys.argv[1:]], say, stages)
    tell(done.files, listed=options.report is not None)
    if told.anything:
        print_units(done.files, told)
    if not done.whole:
        if done.go_on:
            say(f"headway: interrupted; {done.go_on}")
        raise KeyboardInterrupt
    return PARTIAL if any(one.refused for one in done.files) else 0


def tell(files: Sequence[FileReport], *, listed: bool, noun: str = "") -> None:
    """A line for each file, or for all of many, and the units that need a look most, on stderr."""
    done, refused = [one for one in files if not one.refused], [one for one in files if one.refused]
    for one in done if len(done) <= _EACH else [total(done)]:
        say(f"headway: {summary(one, noun if one in done else 'units')}")
    if refused:
        say(f"headway: {len(refused):,} of {len(files):,} files could not be translated:")
        for one in refused:
            say(f"  {one.file}: {one.refused}")
    doubtful = [row for row in rows(files) if row["reasons"]]
    if listed or not doubtful:
        return
    for row in sorted(doubtful, key=badness, reverse=True)[:_WORST]:
        say(said_of(row))
    if len(doubtful) > _WORST:
        say(f"and {len(doubtful) - _WORST:,} more: --report F.html lists them all")


def print_units(files: Sequence[FileReport], told: Told) -> None:
    """Every unit on standard output: one JSON object, or a table with a line for each."""
    if told.json:
        dump({"translations": list(rows(files))}, sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
        return
    for line in table(_ranked(rows(files)) if told.n_best else rows(files)):
        sys.stdout.write(f"{line}\n")


def _ranked(some: Iterator[Row]) -> Iterator[Row]:
    """Each alternative as a row of its own."""
    for row in some:
        yield row
        for other in row["n_best"][1:]:
            yield {**row, **other, "written": False, "reasons": [], "near": [], "confidence": None}
