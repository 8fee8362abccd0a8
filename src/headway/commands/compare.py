"""`headway compare`: several runs side by side, and which of them may be ranked by what."""

from pathlib import Path

from headway.commands.arguments import Several, print_json, say
from headway.pages import refuse_no_place


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
        Folders of two trained runs or more, all of one task: translators, or language models.
    source
        For translators: file of test texts, one a line; with --reference.
    reference
        File of right translations of --source, one a line.
    tag
        Which tag stands before each text of --source, for the runs that read tags (train --pairs
        F:tag=NAME).
    corpus
        For language models: test text, one or several files.
    texts
        How many of the texts stand side by side; 0: none, for a page that others may see.
    page
        Write an HTML page of everything, with learning curves, in one file that loads nothing.
    json
        Print one JSON object on standard output.
    """
    from headway.study.comparison import compared

    refuse_no_place(page)
    given = {"source": source, "reference": reference}
    files: dict[str, tuple[Path, ...]]
    files = {name: (path,) for name, path in given.items() if path is not None}
    if corpus:
        files["corpus"] = corpus
    found = compared(runs, files, lambda message: say(f"headway: {message}"), tag, texts=texts)
    if json:
        print_json(found)
    else:
        from headway.commands.comparison_tables import print_comparison  # and torch

        print_comparison(found)
    if page is not None:  # last: what was measured is told even where the page has no room
        from headway.core.disk import write_text
        from headway.study.comparison_page import page as html

        write_text(page, html(found))
        say(f"headway: the page is {page}")
