"""`headway inspect`: a text on its way through a run's model, every number of it, as one page."""

import json as json_format
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.commands.arguments import say
from headway.errors import ConfigError
from headway.pages import refuse_no_place

if TYPE_CHECKING:
    from headway.inspection.subject import Subject


def inspect(
    run: Path,
    text: str | None = None,
    /,
    *,
    target: str | None = None,
    tag: str | None = None,
    out: Path | None = None,
    png: Path | None = None,
    live: bool = False,
    port: int = 0,
    open: bool = False,
    json: bool = False,
) -> None:
    """See a run think: one text going through its model, every number of it, as one HTML page.

    The page is one file that loads nothing and opens from a disk, in English and Chinese. Layers
    and heads are counted from 0, as everywhere.

    Parameters
    ----------
    run
        Folder of a trained run.
    text
        What to look at; without it some sentences of the run's validation set.
    target
        A translation to follow, as if the model had written it; without it the model's own.
    tag
        One of the run's tags, if it has any.
    out
        Where the page goes; RUN/inspect.html if nothing is said.
    png
        Draw every attention of the text into this folder, as PNG files, in the place of the page.
    live
        Serve the page on this machine alone, where any sentence can be typed; Ctrl-C ends it.
    port
        Of the live page; 0 takes a free one.
    open
        Open the page in the browser.
    json
        Print the document that the page draws, as one JSON object on standard output.
    """
    if target is not None and text is None:
        raise ConfigError("--target is the translation of a text; no text was given. Give both.")
    if sum((json, live, png is not None, bool(out) or (open and not live))) > 1:
        raise ConfigError("--out, --png, --live and --json are four ways to look. Take one.")
    page = out or run / "inspect.html"
    if not json and not live and png is None:
        refuse_no_place(page, "--out")
    from headway.inspection import document
    from headway.inspection.examples import texts
    from headway.inspection.subject import open_subject

    subject = open_subject(run, tag=tag)
    if png is not None:
        _draw(subject, text if text is not None else texts(subject)[0], target, png)
        return
    given = [(text, target)] if text is not None else [(one, None) for one in texts(subject)]
    found: dict[str, Any] = {
        "run": document.run(subject),
        "sentences": [document.sentence(subject, *one) for one in given],
    }
    if json:
        print(json_format.dumps(found, ensure_ascii=False))
    elif live:
        from headway.inspection.live import serve

        serve(subject, found, port=port, open_browser=open, say=say)
    else:
        _write(page, found, open_browser=open)


def _draw(subject: "Subject", text: str, target: str | None, folder: Path) -> None:
    from headway.inspection.pictures import draw_pictures
    from headway.inspection.sight import Sight

    for line in draw_pictures(Sight(subject, subject.passage_of(text, target)), folder):
        say(line)
    say(f"headway: the pictures are in {folder}")


def _write(page: Path, found: Mapping[str, Any], *, open_browser: bool) -> None:
    from headway.disk import write_text
    from headway.inspection.page_file import html

    write_text(page, html(found))
    say(f"headway: the page is {page} ({page.stat().st_size / 1e6:.1f} MB)")
    if open_browser:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
