"""`headway import`: a model from another program's file, as a run."""

from pathlib import Path
from typing import Literal


def import_(kind: Literal["arpa"], file: Path, /, *, out: Path) -> None:
    """Make a run of another program's file. It is scored, asked and written with as any other.

    Parameters
    ----------
    kind
        arpa: a model of n-grams, as kenlm, SRILM and others write it; packed (.gz) or not.
    file
        The file. One that is cut, or is not as its header says, is refused with its line.
    out
        The run folder.
    """
    from headway.commands.arguments import say
    from headway.tasks.language_modeling.arpa_runs import import_arpa

    import_arpa(file, out, say)
    say(f"written to {out}")
