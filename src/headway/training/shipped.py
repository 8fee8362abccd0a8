"""The run that comes with the package: `demo`, where nobody has a demo of their own."""

import sys
from functools import cache
from pathlib import Path

from headway.errors import RunError

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
            _say_once(f"demo is your own run, {own}, and not the one that comes with headway")
            return own
    _say_once("demo is the run that comes with headway; `headway demo` trains one of your own")
    return SHIPPED


def refuse_shipped(run: Path) -> None:
    """Raise RunError for the package's run, which is nobody's to change."""
    if place_of(run) == SHIPPED:
        raise RunError(
            f"the run that comes with headway stays as it is; {run} names it. Copy {SHIPPED} to a "
            "folder of your own, and name that."
        )


@cache
def _say_once(message: str) -> None:
    print(f"headway: {message}", file=sys.stderr, flush=True)
