"""What is compared of a run: what its folder tells whatever its task, and what its task brings, a
run that is opened, what it does with texts, its figures.

A figure says what it holds for; only figures that hold for the same are ranked. That is all that
others know of a task: how its runs are opened is `compare` in its table, and a task without it
is still compared by what every run folder tells.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor, nn

from headway.core.bleu import Counts, Scores, SentenceStatistics
from headway.core.disk import checksum
from headway.core.errors import DataError, RunError
from headway.core.optimizer import saved_tensors
from headway.core.run_folder import RunFolder
from headway.exchange import curves
from headway.exchange.curves import Log, thinned
from headway.operations.shipped import open_folder
from headway.runs.parent import ancestors
from headway.runs.task_spec import Say
from headway.study.cost_table import of_words
from headway.study.operation_counting import parts_of
from headway.tasks import model_type_of

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


@dataclass(frozen=True)
class RunResults:
    """What came out of a run's work."""

    figures: list[Figure]
    """The first one first: it stands for the run."""
    output: Callable[[int], str]
    """What it makes of an example, to be read beside that of others."""
    others: Mapping[str, float] = field(default_factory=dict)
    """Figures that nobody is ranked by."""


class Work(NamedTuple):
    """What a run does with some examples; the first two are timed."""

    all: Callable[[], Any]
    """Everything, as fast as it goes."""
    one: Callable[[int], object]
    """A single example."""
    examined: Callable[[Any], RunResults]
    """What came out of `all`."""


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


def trained_with(run: Path, files: Collection[Path]) -> list[str]:
    """A sentence for each of these files, by name or by content, that a run, or one that it began
    with, learned from or was validated on, as far as data.json tells."""
    found = dict[Path, str]()
    with suppress(OSError, RunError):  # others say so, where it matters
        sums = {file: file.is_file() and checksum(file) for file in files}
        for n, (folder, record) in enumerate(ancestors(open_folder(run))):
            stored, who = record["sha256"], f"{folder.path}, which {run} began with," if n else run
            for file, sum_ in sums.items():
                if str(file.absolute()) in stored or sum_ in stored.values():
                    found.setdefault(file, str(who))
    return [
        f"{who} was trained with {file}, to learn from or to be validated on: what it scores there "
        "tells nothing of other text."
        for file, who in sorted(found.items())
    ]


POINTS = 300
"""A curve has no more points."""


def model_size(model: nn.Module) -> dict[str, int]:
    """Numbers that are learned, and without those that grow with the vocabulary.

    Tied matrices count once. A model without gradients has learned what is saved of it; of others
    that holds running statistics as well. `bytes` is what all of it takes in memory.
    """
    saved = saved_tensors(model).values()
    numbers: list[Tensor] = [*model.parameters()]
    numbers = numbers or [tensor for tensor in saved if tensor.is_floating_point()]
    learned = sum(tensor.numel() for tensor in numbers)
    of_tokens = sum(part.parameters for part in parts_of(model) if of_words(part.name))
    return {
        "parameters": learned,
        "parameters_without_embeddings": learned - of_tokens,
        "bytes": sum(tensor.nbytes for tensor in saved),
    }


def training_record(run: Path) -> dict[str, Any]:
    """How long it was trained, on what machine, how much it saw, and its curves."""
    folder = open_folder(run)
    sections, log = folder.settings(), folder.read_log()
    last: Mapping[str, Any] = log[-1] if log else {}
    return {
        "finished": folder.finished,
        "model": model_type_of(sections),
        "updates": last.get("step"),
        "time_s": last.get("time_s"),
        "counts": curves.counts(log),
        "machine": _machine(folder),
        "threads": sections.get("runtime", {}).get("threads"),
        "curves": {
            "training loss": _curve(log, "loss"),
            "validation loss": _curve(log, "valid_loss"),
            **{name: _curve(log, name) for name in curves.scores(log)},
        },
    }


def _curve(log: Log, name: str) -> list[dict[str, int | float]]:
    """One value over updates, tokens (all that were counted) and seconds."""
    return [point._asdict() for point in thinned(curves.curve(log, name), POINTS)]


def _machine(folder: RunFolder) -> str:
    """What it was trained on, as far as the run tells."""
    try:
        found = folder.record().get("machine", {})
    except RunError:
        return "not known"
    gpu = found.get("gpu", "none")
    return str(found.get("cpu", "not known") if gpu == "none" else gpu)
