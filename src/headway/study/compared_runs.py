"""What a task brings to a comparison: a run that is opened, what it does with texts, its figures.

A figure says what it holds for; only figures that hold for the same are ranked. That is all that
others know of a task: how its runs are opened is `compare` in its table, and a task without it
is still compared by what every run folder tells.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from headway.core.bleu import Counts, Scores, SentenceStatistics
from headway.core.errors import DataError
from headway.operations.shipped import open_folder
from headway.runs.task_spec import Say

Rows = Sequence[tuple[str, ...]]
"""Examples to be measured on, each in all its parts: source and reference; a line alone."""


class ComparisonRequest(NamedTuple):
    """A run that is to be compared, and on what."""

    run: Path
    files: Mapping[str, Sequence[Path]]
    """Test files by the name of their flag (`source`, `reference`, `corpus`); none for what the run
    was validated on."""
    say: Say
    tag: str | None = None
    """What stands before each test text, for the runs that read tags."""


@dataclass(frozen=True)
class Figure:
    """One figure of a run, and what it holds for."""

    name: str
    """Such as "BLEU"."""
    statistics: SentenceStatistics
    """Counts of each example, so that there are intervals and paired tests."""
    higher_is_better: bool
    holds_for: Mapping[str, str]
    """What must be the same for a ranking to be fair ("the test text"), and what it is here."""
    tested: Callable[[Counts], Scores] | None = None
    """What of the counts the paired test compares, and by both tails, where sacreBLEU has no such
    figure: of a perplexity its logarithm, as that of some resampled texts may be beyond all
    numbers."""
    decimals: int = 2
    """So many are told."""


class FigurePart(NamedTuple):
    """A figure of some of the examples."""

    label: str
    examples: int | None
    """How many; None where examples are not what is counted."""
    value: float


class Parts(NamedTuple):
    """A figure part by part."""

    title: str
    unit: str
    """What the labels count."""
    rows: list[FigurePart]


@dataclass(frozen=True)
class RunResults:
    """What came out of a run's work."""

    figures: list[Figure]
    """The first one first: it stands for the run."""
    output: Callable[[int], str]
    """What it makes of an example, to be read beside that of others."""
    parts: Parts | None = None
    others: Mapping[str, float] = field(default_factory=dict)
    """Figures that nobody is ranked by."""


class Operations(NamedTuple):
    """Of one pass forward over texts as long as the examples on average."""

    for_token: float
    """Of the run's own: characters are cheap, and many."""
    for_example: float


class Work(NamedTuple):
    """What a run does with some examples; the first two are timed."""

    all: Callable[[], Any]
    """Everything, as fast as it goes."""
    one: Callable[[int], object]
    """A single example."""
    examined: Callable[[Any, Sequence[bool] | None], RunResults]
    """What came out of `all`; the other argument is which examples are longer than all that any of
    the runs was trained on, where that is known."""


@dataclass(frozen=True)
class Entrant:
    """A run opened to be compared with others."""

    model: nn.Module
    rows: Rows
    """What it may be measured on; empty where it is known of nothing."""
    row: str
    """What one is called, such as "sentence"."""
    rows_are: str
    """Such as "validation sentences"."""
    begin: Callable[[Rows], Work]
    stand_alone: bool
    """Whether some of the rows may be taken and others left: none is read with those before it."""
    shown: Callable[[tuple[str, ...]], tuple[str, str]]
    """What is shown of an example beside the outputs: what was given, and what was wanted."""
    ways: Callable[[Rows], Mapping[str, str]] = lambda _: {}
    """How it works, where a run's own settings decide that ("the search"), in words."""
    notes: Callable[[Rows], Sequence[str]] = lambda _: ()
    """What is to be known of its figures."""
    tag: str = ""
    """What stands before each test text."""
    beyond: Callable[[Rows], list[bool] | None] | None = None
    """Which examples are longer than anything the run was trained on; gives None where nobody
    knows. Left out where that is no question."""
    operations: Callable[[Rows], Operations] | None = None
    """Left out where they are not counted."""


def refuse_changed(run: Path, checksums: Mapping[str, str]) -> None:
    """Raise DataError where one of these files (SHA-256 by name) is another than data.json says."""
    folder = open_folder(run)
    stored = folder.record()["sha256"] if folder.data.exists() else {}
    for name, sum_ in checksums.items():
        place = str(Path(name).absolute())
        if stored.get(place, sum_) != sum_:
            raise DataError(
                f"runs are compared on what they were validated on; {place} has changed since "
                f"{run} was trained. Give a test set, or put the file back."
            )
