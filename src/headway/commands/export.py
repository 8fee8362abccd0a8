"""`headway export`: a run's model, as a file for other programs."""

from pathlib import Path
from typing import Literal


def export(run: Path, file: Path, /, *, to: Literal["arpa", "word2vec", "word2vec-binary"]) -> None:
    """Write a run's model, or the word vectors in it, to a file that other programs read.

    Parameters
    ----------
    run
        The run folder.
    file
        Where to; an ARPA file is packed where it ends in .gz.
    to
        arpa: a model of n-grams for kenlm, SRILM and others. word2vec, word2vec-binary: the word
        vectors of an NNLM in word2vec's two formats.
    """
    from headway.commands.arguments import say

    if to == "arpa":
        from headway.tasks.language_modeling.arpa_runs import export_arpa

        n_grams = export_arpa(run, file)
        say(f"{n_grams:,} n-grams written to {file}")
        return
    from headway.tasks.language_modeling.vectors import export_word2vec

    written = export_word2vec(run, file, binary=to == "word2vec-binary")
    say(f"vectors of {written.n_words:,} words written to {file}, {written.n_left_out:,} left out")
