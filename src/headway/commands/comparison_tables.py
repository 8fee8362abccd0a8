"""What `headway compare` prints for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.study import comparison_tables as wording


def print_comparison(found: Mapping[str, Any]) -> None:
    """Quality, costs, a figure part by part, rankings, outputs side by side, and what to know."""
    console = Console(highlight=False)
    console.print(Text(wording.heading(found)), soft_wrap=True)
    console.print(_table(found, "", [""], [*wording.quality(found), *wording.costs(found)]))
    if parts := wording.parts(found):
        title, columns, lines = parts
        console.print(_table(found, title, columns, lines))
    for sentence in wording.rankings(found):
        console.print(Text(sentence), soft_wrap=True)
    if any(place["p_value"] for ranking in found["rankings"] for place in ranking["places"]):
        test = f"paired bootstrap{wording.sides(found)}"
        console.print(f"p: {test}; below 0.05 chance is a poor explanation.")
    _print_side_by_side(console, found["side_by_side"])
    for note in wording.notes(found):
        console.print(Text(f"- {note}"), soft_wrap=True)


def _table(
    found: Mapping[str, Any], title: str, columns: Sequence[str], lines: Sequence[wording.TableRow]
) -> Table:
    table = Table(box=box.SIMPLE, title=title or None, title_justify="left")
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left", no_wrap=not i)
    for run in found["runs"]:
        table.add_column(Text(run["name"], overflow="fold"), justify="right")
    for line in lines:
        table.add_row(line.name, *map(Text, line.cells))
    return table


def _print_side_by_side(console: Console, examples: Sequence[Mapping[str, Any]]) -> None:
    if not examples:
        return
    console.print("\nSide by side; words that are not in all outputs are in brackets.")
    width = max(len(output["run"]) for output in examples[0]["outputs"])
    width = max(width, len("wanted"))
    for example in examples:
        console.print(Text(f"\n{'given':>{width}}  {example['given']}"), soft_wrap=True)
        console.print(Text(f"{'wanted':>{width}}  {example['wanted']}"), soft_wrap=True)
        for output in example["outputs"]:
            text = bracketed(output["text"], output["differs"])
            console.print(Text(f"{output['run']:>{width}}  {text}"), soft_wrap=True)
    console.print()


def bracketed(text: str, spans: Sequence[Sequence[int]]) -> str:
    """A text with brackets around some of it; what white space alone parts is in the same ones."""
    for begin, end in reversed(wording.joined(text, spans)):
        text = f"{text[:begin]}[{text[begin:end]}]{text[end:]}"
    return text
