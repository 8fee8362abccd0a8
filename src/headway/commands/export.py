"""`headway export`: a run's model, as a file for other programs."""

from pathlib import Path
from typing import Literal


def export(run: Path, file: Path, /, *, to: Literal["arpa"]) -> None:
    """Write a run's model to a file that other programs read.

    Parameters
    ----------
    run
        The run folder.
    file
        Where to; packed where it ends in .gz.
    to
        arpa: a model of n-grams for kenlm, SRILM and others.
    """
    from headway.commands.arguments import say
    from headway.tasks.language_modeling.arpa_runs import export_arpa

    n_grams = export_arpa(run, file)
    say(f"{n_grams:,} n-grams written to {file}")
