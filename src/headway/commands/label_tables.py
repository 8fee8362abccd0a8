"""What `headway evaluate` prints for people of a run that labels."""

from itertools import islice

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.labelling.scores import Confusion, LabelCalibration, LabelScores

WIDEST = 12
"""A table of confusions has so many labels at most; of others the most frequent are listed."""
TITLES = {"accuracy": "accuracy", "f1": "F1", "micro_f1": "micro-F1"}


def print_label_scores(found: LabelScores) -> None:
    """Figures, each label, what is confused with what, calibration, notes."""
    console = Console(highlight=False)
    table = Table(box=box.SIMPLE)
    for heading, how in (("", "left"), ("%", "right"), ("95 %", "left"), ("interval", "left")):
        table.add_column(heading, justify=how)  # type: ignore[arg-type]
    for name, one in found.figures.items():
        title = TITLES.get(name, name.replace("_", " "))
        interval, how = f"[{one.low:.2f}, {one.high:.2f}]", one.signature.partition(",")[0]
        table.add_row(title, f"{one.score:.2f}", Text(interval), how)
    console.print(table)
    console.print(f"on {found.n:,} {found.unit}")
    if found.labels:
        console.print(_labels(found))
    if found.confusion:
        _print_confusion(console, found.confusion)
    if found.calibration:
        console.print(_calibration(found.calibration))
    for note in found.notes:
        console.print(Text(f"- {note}"), soft_wrap=True)


def _labels(found: LabelScores) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column("label", overflow="fold")
    for heading in ("precision", "recall", "F1", "there", "said"):
        table.add_column(heading, justify="right")
    for row in found.labels:
        percent = (f"{value:.2f}" for value in (row.precision, row.recall, row.f1))
        table.add_row(Text(row.label), *percent, f"{row.support:,}", f"{row.predicted:,}")
    return table


def _print_confusion(console: Console, confusion: Confusion) -> None:
    labels, counts = confusion
    if len(labels) <= WIDEST:
        table = Table(box=box.SIMPLE, title="is (row), said to be (column)", title_justify="left")
        table.add_column("")
        for label in labels:
            table.add_column(Text(label, overflow="fold"), justify="right")
        for label, row in zip(labels, counts, strict=True):
            table.add_row(Text(label), *(f"{n:,}" if n else "." for n in row))
        console.print(table)
        return
    wrong = sorted(
        ((n, i, j) for i, row in enumerate(counts) for j, n in enumerate(row) if n and i != j),
        reverse=True,
    )
    for n, i, j in islice(wrong, 10):
        console.print(Text(f"{n:,} of {labels[i]} are said to be {labels[j]}"), soft_wrap=True)


def _calibration(calibration: LabelCalibration) -> Table:
    title = f"expected calibration error {calibration.error:.2f} %"
    table = Table(box=box.SIMPLE, title=title, title_justify="left")
    for heading in ("probability", "n", "mean, %", "right, %"):
        table.add_column(heading, justify="right")
    for one in calibration.bins:
        if one.n:
            place = f"{100 * one.low:.0f}-{100 * one.high:.0f} %"
            means = (f"{100 * value:.1f}" for value in (one.confidence, one.accuracy))
            table.add_row(place, f"{one.n:,}", *means)
    return table
