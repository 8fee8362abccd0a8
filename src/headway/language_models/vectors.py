"""Word vectors out of runs: what a neural n-gram model has learned of its words besides."""

from pathlib import Path
from typing import cast

from headway.core.errors import RunError
from headway.exchange.word2vec import write_word2vec
from headway.language_models.nnlm import Nnlm
from headway.language_models.spec import SPEC
from headway.runs.loading import open_run
from headway.runs.task_spec import Say

WITH_VECTORS = ("nnlm",)
"""Types of model whose words have vectors to be taken out."""


def export_word2vec_binary(run: Path, path: Path, say: Say) -> None:
    """The same as `export_word2vec` in the binary format."""
    export_word2vec(run, path, say, binary=True)


def export_word2vec(run: Path, path: Path, say: Say, *, binary: bool = False) -> None:
    """Write the word vectors of a run in word2vec's text or binary format, and say how many;
    markers, and words that have no place in such a file, are left out.

    Raises:
        RunError: there is no such run, or its model has none.
    """
    settings, vocabulary, model, _ = open_run(SPEC, run, device="cpu")
    if settings.model_type not in WITH_VECTORS:
        raise RunError(
            f"word vectors are taken out of models of the type {' or '.join(WITH_VECTORS)}; {run} "
            f"is one of the type {settings.model_type}. Train one: --model.type nnlm."
        )
    special = vocabulary.special
    words = vocabulary.pieces(range(len(vocabulary)))
    for marker in {special.padding, special.decoder_begin}:
        words[marker] = ""  # left out: they stand in no text
    vectors = cast(Nnlm, model).word_vectors().numpy()
    n_left_out = write_word2vec(path, words, vectors, binary=binary)
    n_words = len(words) - n_left_out
    say(f"vectors of {n_words:,} words written to {path}, {n_left_out:,} left out")
