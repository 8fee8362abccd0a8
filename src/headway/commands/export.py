"""`headway export`: a run's model, as a file for other programs."""

from pathlib import Path
from shlex import quote
from typing import Literal

Program = Literal[
    "ctranslate2", "marian", "pegasus", "arpa", "word2vec", "word2vec-binary", "tensorboard"
]


def export(run: Path, place: Path, /, *, to: Program) -> None:
    """Write a run's model, the word vectors in it, or its curves, for other programs.

    A translator is checked before it is left: both programs score and translate 200 sentences.

    Parameters
    ----------
    run
        The run folder.
    place
        Where to: a new folder for a translator, a folder for TensorBoard, else a file. An ARPA
        file is packed where it ends in .gz.
    to
        ctranslate2: a Transformer for CTranslate2, with its vocabulary beside it. marian, pegasus:
        a Transformer for Hugging Face's `transformers`, of post-norm and of pre-norm. (These three
        need the extra `export`.) arpa: a model of n-grams for kenlm, SRILM and others. word2vec,
        word2vec-binary: the word vectors of an NNLM in word2vec's two formats. tensorboard: loss,
        score and learning rate of a training, also while it goes on (the extra `tensorboard`).
    """
    from headway.commands.arguments import say

    if to == "ctranslate2":
        from headway.translation.exporting import export_ctranslate2

        say(str(export_ctranslate2(run, place, say)))
        say(f"written to {place}")
        return
    if to == "marian" or to == "pegasus":
        from headway.translation.exporting import export_hugging_face

        say(str(export_hugging_face(run, to, place, say)))
        say(f"written to {place}")
        return
    if to == "tensorboard":
        from headway.exchange.curves import scalars
        from headway.exchange.tensorboard import write_scalars

        n_values = write_scalars(place, scalars(run))
        say(f"{n_values:,} values written. See them: tensorboard --logdir {quote(str(place))}")
        return
    if to == "arpa":
        from headway.language_models.arpa_runs import export_arpa

        n_grams = export_arpa(run, place)
        say(f"{n_grams:,} n-grams written to {place}")
        return
    from headway.language_models.vectors import export_word2vec

    written = export_word2vec(run, place, binary=to == "word2vec-binary")
    say(f"vectors of {written.n_words:,} words written to {place}, {written.n_left_out:,} left out")
