"""Runs by their names: `demo` is the one that comes with the package, where nobody has one of their
own; and who may write to one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from headway.core.errors import DataError, RunError
from headway.core.run_folder import RunFolder
from headway.operations import argument_types
from headway.operations.locks import Say, only_writer_of_folder

SHIPPED = Path(__file__).parent.parent / "shipped" / "demo"
"""Trained on generated sentences by `benchmarks/ship_demo.py`; never written to."""
DEMO = Path("demo")


def place_of(run: Path) -> Path:
    """The folder of a run that is named; every name but `demo` is one.

    A demo of one's own comes first: ./demo, or ./demo/run, where `headway demo` trains. Which of
    them it is, is said once a process.
    """
    if run != DEMO:
        return run
    for own in (DEMO, DEMO / "run"):
        if (own / "config.toml").exists():
            say_once(f"demo is your own run, {own}, and not the one that comes with headway")
            return own
    say_once("demo is the run that comes with headway; `headway demo` trains one of your own")
    return SHIPPED


def refuse_undecodable(*paths: Path) -> None:
    """Raise DataError for a name that is no UTF-8, where it is to be written down or passed on."""
    for path in paths:
        try:
            str(path).encode("utf-8")
        except UnicodeEncodeError:
            raise DataError(
                f"a run, and every file and folder that it names, has a name in UTF-8; got {path}. "
                "Rename it. If it is UTF-8, this process does not know: set PYTHONUTF8=1."
            ) from None


def open_folder(run: str | Path) -> RunFolder:
    """The folder of a run that is named; raises RunError when there is none."""
    place = Path(run) if isinstance(run, str | Path) else argument_types.path(run, "run")
    refuse_undecodable(place)
    return RunFolder.open(place_of(place))


def refuse_shipped(run: Path) -> None:
    """Raise RunError for the package's run, which is nobody's to change."""
    if place_of(run) == SHIPPED:
        raise RunError(
            f"the run that comes with headway stays as it is; {run} names it. Copy {SHIPPED} to a "
            "folder of your own, and name that."
        )


@cache
def say_once(message: str) -> None:
    """On stderr, once a process."""
    print(f"headway: {message}", file=sys.stderr, flush=True)


@contextmanager
def only_writer_of_run(path: Path, say: Say) -> Iterator[RunFolder]:
    """The folder, made if need be, in which no other process writes while the block lasts.

    If nothing is in it at the end, it goes again.

    Raises:
        DiskError: it cannot be written to.
        DataError: its name is no UTF-8.
        RunError: it is a file.
        TakenError: another process writes to it.
    """
    refuse_undecodable(path)
    if path.exists() and not path.is_dir():
        raise RunError(f"--out must name a folder; {path} is a file. Give another name.")
    with only_writer_of_folder(path, say):
        yield RunFolder(path)
