"""`headway export`: a run's model, as a file for other programs."""

from pathlib import Path
from shlex import quote


def export(run: Path, place: Path, /, *, to: str) -> None:
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
    from headway.core.setting_errors import unknown_name
    from headway.tasks import brought_by_run, objects_of

    if to == "tensorboard":
        from headway.exchange.curves import scalars
        from headway.exchange.tensorboard import write_scalars

        n_values = write_scalars(place, scalars(run))
        say(f"{n_values:,} values written. See them: tensorboard --logdir {quote(str(place))}")
        return
    if to not in (known := objects_of("export")):
        raise unknown_name("--to", to, [*known, "tensorboard"])
    brought_by_run(run, f"export {to}")(run, place, say)
