"""`headway inspect`: a text on its way through a run's model, every number of it, as one page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from cyclopts import Parameter

from headway.commands.arguments import MOST_USED, group, print_json, say
from headway.core.errors import ConfigError
from headway.pages import refuse_no_place

PARTS = group("Parts and tags", 1)


@dataclass(frozen=True, kw_only=True)
class InspectOptions:
    """What `headway inspect` is told.

    Parameters
    ----------
    out
        Where the page goes; RUN/inspect.html if nothing is said, demo.html of the run that
        comes with headway. Of a run of pictures it may be a .png.
    open
        Open the page in the browser.
    live
        Serve the page on this machine alone, where any sentence can be typed; Ctrl-C ends
        it.
    target
        A translation to follow, as if the model had written it; without it the model's own.
    json
        Print the document that the page draws, as one JSON object on standard output.
    off
        Parts of the model to switch off, such as encoder.2.head.3 or cross.1: the
        translation and its probabilities without them, beside the original. docs/inspect.md
        names the parts.
    tag
        One of the run's tags, if it has any.
    training
        See how it was trained, or is being trained: curves of all runs that are named.
    full
        Put the exact numbers of every layer on the page, however large it gets; without it
        those that fit into 1 MB for one text, the last layer's attention to the source
        first.
    port
        Of the live page; 0 takes a free one.
    """

    out: Annotated[Path | None, MOST_USED] = None
    open: Annotated[bool, MOST_USED] = False
    live: Annotated[bool, MOST_USED] = False
    target: Annotated[str | None, MOST_USED] = None
    json: Annotated[bool, MOST_USED] = False
    off: Annotated[list[str] | None, Parameter(consume_multiple=True), PARTS] = None
    tag: Annotated[str | None, PARTS] = None
    training: bool = False
    full: bool = False
    port: int = 0


NOTHING_TOLD = InspectOptions()


def inspect(
    run: Path,
    /,
    *given: str,
    told: Annotated[InspectOptions, Parameter(name="*")] = NOTHING_TOLD,
) -> None:
    """See a run think: one text going through its model, every number of it, as one HTML page.

    The page is one file that loads nothing and opens from a disk, in English and Chinese (of what
    labels, or fills in, in English). Layers and heads are counted from 0, as everywhere.

    Parameters
    ----------
    run
        Folder of a trained run; demo is one that comes with headway.
    given
        The text to look at; without it some sentences of the run's validation set. With --training
        other runs, whose curves are drawn over those of RUN.
    """
    from headway.commands.labelling import brings
    from headway.tasks import brought_by_run

    page = told.out or (run / "inspect.html" if run.is_dir() else Path(f"{run.name}.html"))
    _refuse_mixed(given, told, page)
    if not told.training and brings(run, "inspect page"):
        _page_of_its_own(brought_by_run(run, "inspect page"), run, given, told, page)
        return
    text = None if told.training else _one_text(given, told.target)
    if told.training:
        look_at, found, news = _trainings([run, *map(Path, given)])
    else:
        look_at, found, news = _sentences(run, text, told)
    if told.json:
        print_json(found)
    elif told.live:
        from headway.inspection.live_server import serve

        serve(look_at, found, news=news, port=told.port, open_browser=told.open, say=say)
    else:
        from headway.inspection.html_page import html

        _write(page, html(found), open_browser=told.open)


def _refuse_mixed(given: Sequence[str], told: InspectOptions, page: Path) -> None:
    """Raise ConfigError for what would mean nothing together, or a page without a place."""
    to_page = bool(told.out) or (told.open and not told.live)
    if told.json + told.live + to_page > 1:
        raise ConfigError("--out, --live and --json are three ways to look. Take one.")
    if not told.json and not told.live:
        refuse_no_place(page, "--out", given)  # a text may be the name of a picture
    of_a_text = ("target", "tag", "off")
    meaningless = [name for name in of_a_text if told.training and getattr(told, name)]
    if meaningless:
        raise ConfigError(
            f"--training shows how runs were trained; --{meaningless[0]} is about one text. Leave "
            "one of them out. Other runs are named behind the first."
        )


def _tell_left_out(n_characters: int, text: str) -> None:
    if n_characters:
        say(
            f"headway: the model does not read so much at once; the last {n_characters:,} "
            f"characters are left out of: {text[:60]} .."
        )


class _Shown(NamedTuple):
    """What a page shows, what it is told when it asks for another text, and what changes."""

    look_at: Callable[..., dict[str, Any]]
    found: dict[str, Any]
    news: Mapping[str, Callable[[], Any]]


def _one_text(given: Sequence[str], target: str | None) -> str | None:
    if len(given) > 1:
        raise ConfigError(
            f"one text is looked at; got {len(given)}. Put it in quotation marks; or give "
            "--training to see the trainings of several runs."
        )
    if target is not None and not given:
        raise ConfigError("--target is the translation of a text; no text was given. Give both.")
    return given[0] if given else None


def _sentences(run: Path, text: str | None, told: InspectOptions) -> _Shown:
    from headway.inspection import document
    from headway.inspection.inspected_model import open_inspected
    from headway.inspection.opened_runs import texts
    from headway.inspection.passage_analysis import room_of_each

    inspected = open_inspected(run, tag=told.tag)
    look_at: Callable[..., dict[str, Any]] = partial(document.sentence, inspected)
    found: dict[str, Any] = {"run": document.run(inspected)}
    given = [(text, told.target)] if text is not None else [(one, None) for one in texts(inspected)]
    room = None if told.full else room_of_each(len(given))
    found["sentences"] = [look_at(*one, room=room, off=told.off or ()) for one in given]
    for one in found["sentences"]:
        _tell_left_out(one["left_out"], one["text"])
    return _Shown(look_at, found, {})


def _trainings(runs: Sequence[Path]) -> _Shown:
    from headway.inspection.document import page, training

    def look_at(**_: Any) -> dict[str, Any]:
        raise ConfigError("this page shows trainings, no texts. Leave out --training.")

    return _Shown(look_at, page(runs), {"training": partial(training, runs)})


def _page_of_its_own(
    look_at: Callable[..., Any], run: Path, given: Sequence[str], told: InspectOptions, page: Path
) -> None:
    """That of a run which writes nothing: see `headway.labelling.predictions.InspectionPage`."""
    from headway.labelling.predictions import InspectionRequest

    of_writing = ("target", "tag", "live", "full")
    meaningless = [name for name in of_writing if getattr(told, name)]
    if meaningless:
        raise ConfigError(
            f"--{meaningless[0]} is for runs that write texts; {run} labels what it is given. "
            "Leave it out."
        )
    found = look_at(InspectionRequest(run, _one_text(given, None), told.off or ()))
    if told.json:
        print_json(found.told)
    elif found.picture and page.suffix.lower() == ".png":
        from headway.core.disk import write_bytes

        write_bytes(page, found.picture)
        say(f"headway: the picture is {page}")
    else:
        _write(page, found.html, open_browser=told.open)


def _write(page: Path, html: str, *, open_browser: bool) -> None:
    from headway.core.disk import write_text

    write_text(page, html)
    size = page.stat().st_size / 1e3
    told = f"{size / 1e3:.1f} MB" if size > 1e3 else f"{size:.0f} kB"
    say(f"headway: the page is {page} ({told})")
    if open_browser:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
