"""Several runs that translate as one, and one translation out of many: what goes with that."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.commands.arguments import ready, say
from headway.commands.translate_options import TranslateOptions
from headway.core.errors import ConfigError, DataError
from headway.core.run_folder import RunFolder
from headway.filling.steps import Ready
from headway.operations.shipped import DEMO
from headway.tasks import brought_by_run

if TYPE_CHECKING:
    from headway.translator import Translator


def of_many(
    run: Path, named: Sequence[str], told: TranslateOptions, load: "partial[Any]"
) -> tuple[Ready, list[str]]:
    """What loads the translator of all the runs that are named, which come first, in the place of
    `load`, which calls `ready`; and the other names.

    Raises ConfigError for options that do not go with several runs, or with --mbr; DataError where
    what follows the runs is neither a run nor a file.
    """
    others, files = leading_runs(named)
    if not told.keep_going:
        refuse_misspelt(files, run)
    if told.mbr is not None and told.n_best is not None:
        raise ConfigError(
            f"--mbr tells one translation, of {told.mbr} candidates; got --n-best {told.n_best} as "
            "well. Leave out one of them."
        )
    if (told.shards or told.part or told.on) and (others or told.mbr is not None):
        raise ConfigError(
            "shards are translated with one run, by its own search; got "
            f"{f'{len(others) + 1} runs' if others else '--mbr'} as well. Leave that out."
        )
    runs = together([run, *others], told.shortlist)
    return partial(ready_by_mbr, told.mbr, runs, *load.args[1:]), files


def leading_runs(names: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The folders of runs that come first among some names, and what comes behind them."""
    runs, left = list[Path](), [*names]
    while left and (RunFolder(Path(left[0])).config.exists() or _is_shipped(left[0])):
        runs.append(Path(left.pop(0)))
    return runs, left


def _is_shipped(name: str) -> bool:
    return Path(name) == DEMO and not Path(name).exists()


def refuse_misspelt(names: Sequence[str], run: Path) -> None:
    """Raise DataError where the first of some names is no file, and by its look none was meant;
    before that RunError where the run does not translate."""
    if names and not (Path(names[0]).exists() or Path(names[0]).suffix or has_magic(names[0])):
        brought_by_run(run, "translate")
        raise DataError(
            f"no such file: {names[0]}, nor is it the folder of another run, which may follow the "
            "first. Check the name and the folder."
        )


def together(runs: Sequence[Path], shortlist: int | None) -> Path | list[Path]:
    """A run, or several, of which it is said that they are an ensemble.

    Raises ConfigError for several with a shortlist, which is one run's.
    """
    if len(runs) == 1:
        return runs[0]
    if shortlist is not None:
        raise ConfigError(
            f"--shortlist is learned for one run; got {len(runs)}. Leave it out, or name one run."
        )
    say(f"headway: an ensemble of {', '.join(map(str, runs))}")
    for run, n in Counter(run.resolve() for run in runs).items():
        if n > 1:
            say(f"headway: WARNING: {run} is named {n} times, and weighs so much. Name it once.")
    return [*runs]


def ready_by_mbr(mbr: int | None, *given: Any, **how: Any) -> "tuple[Translator, dict[str, Any]]":
    """`ready`, which decides among `mbr` candidates; as ever for None."""
    translator, wanted = ready(*given, **how)
    if mbr is not None:
        from headway.translation.minimum_bayes_risk import decide_by_mbr

        decide_by_mbr(translator.plain, mbr)
    return translator, wanted
