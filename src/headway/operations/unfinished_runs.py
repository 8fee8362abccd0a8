"""A run that is used before its training is over: said once a process, with how it goes on."""

from pathlib import Path

from headway.core.config import Sections
from headway.core.errors import CONTROLS, command
from headway.operations.shipped import say_once


def warn_unfinished(run: str | Path, sections: Sections) -> None:
    """Say it on stderr, where a run with these settings is; an earlier version wrote no mark."""
    if not sections.get("run", {"finished": True}).get("finished"):
        resume = command("train", "--out", Path(run), "--resume")
        say_once(f"WARNING: {run} is unfinished: {resume} goes on".translate(CONTROLS))
