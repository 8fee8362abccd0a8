"""`headway compare`: several runs side by side, and which of them may be ranked by what."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.commands.arguments import Several, print_json, say
from headway.pages import refuse_no_place

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from headway.study.comparison_tables import TableRow


def compare(
    *runs: Path,
    source: Path | None = None,
    reference: Path | None = None,
    tag: str | None = None,
    corpus: Several = (),
    texts: int = 10,
    page: Path | None = None,
    json: bool = False,
) -> None:
    """Compare runs of one task: quality, size, training, speed, memory, and what they write.

    All do the same work here and now: they are measured on what all of them were validated on, or
    on test files. A ranking that would be unfair is refused, with the reason.

    Parameters
    ----------
    runs
        Folders of two trained runs or more, all of one task: translators, language models, or runs
        that label.
    source
        For translators: file of test texts, one a line; with --reference.
    reference
        File of right translations of --source, one a line.
    tag
        Which tag stands before each text of --source, for the runs that read tags (train --pairs
        F:tag=NAME).
    corpus
        For language models: test text, one or several files. For runs that label: labelled files.
    texts
        How many of the texts stand side by side; 0: none, for a page that others may see.
    page
        Write an HTML page of everything, with learning curves, in one file that loads nothing.
    json
        Print one JSON object on standard output.
    """
    from headway.study.comparison import compared

    given = {"source": source, "reference": reference}
    files: dict[str, tuple[Path, ...]]
    files = {name: (path,) for name, path in given.items() if path is not None}
    if corpus:
        files["corpus"] = corpus
    refuse_no_place(page, read=[path for paths in files.values() for path in paths])
    found = compared(runs, files, lambda message: say(f"headway: {message}"), tag, texts=texts)
    if json:
        print_json(found)
    else:
        print_comparison(found)
    if page is not None:  # last: what was measured is told even where the page has no room
        from headway.core.disk import write_text
        from headway.study.comparison_page import page as html

        write_text(page, html(found))
        say(f"headway: the page is {page}")


def print_comparison(found: Mapping[str, Any]) -> None:
    """Quality, costs, rankings, outputs side by side, and what to know."""
    from rich.console import Console
    from rich.text import Text

    from headway.study import comparison_tables as wording  # and torch

    console = Console(highlight=False)
    console.print(Text(wording.heading(found)), soft_wrap=True)
    console.print(_table(found, [*wording.quality(found), *wording.costs(found)]))
    for sentence in wording.rankings(found):
        console.print(Text(sentence), soft_wrap=True)
    if any(place["p_value"] for ranking in found["rankings"] for place in ranking["places"]):
        test = f"paired bootstrap{wording.sides(found)}"
        console.print(f"p: {test}; below 0.05 chance is a poor explanation.")
    _print_side_by_side(console, found["side_by_side"])
    for note in wording.notes(found):
        console.print(Text(f"- {note}"), soft_wrap=True)


def _table(found: Mapping[str, Any], lines: "Sequence[TableRow]") -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table("", box=box.SIMPLE)
    for run in found["runs"]:
        table.add_column(Text(run["name"], overflow="fold"), justify="right")
    for line in lines:
        table.add_row(line.name, *map(Text, line.cells))
    return table


def _print_side_by_side(console: "Console", examples: Sequence[Mapping[str, Any]]) -> None:
    from rich.text import Text

    if not examples:
        return
    console.print("\nSide by side.")
    width = max(len(output["run"]) for output in examples[0]["outputs"])
    width = max(width, len("wanted"))
    for example in examples:
        console.print(Text(f"\n{'given':>{width}}  {example['given']}"), soft_wrap=True)
        console.print(Text(f"{'wanted':>{width}}  {example['wanted']}"), soft_wrap=True)
        for output in example["outputs"]:
            console.print(Text(f"{output['run']:>{width}}  {output['text']}"), soft_wrap=True)
    console.print()
