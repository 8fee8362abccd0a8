"""Word vectors out of runs: what a neural n-gram model has learned of its words besides."""

from pathlib import Path
from typing import NamedTuple, cast

from headway.core.errors import RunError
from headway.exchange.word2vec import write_word2vec
from headway.language_models.nnlm import Nnlm
from headway.language_models.spec import KIND
from headway.runs.loading import open_run

WITH_VECTORS = ("nnlm",)
"""Types of model whose words have vectors to be taken out."""


class WrittenVectors(NamedTuple):
    """What became of the vectors."""

    n_words: int
    n_left_out: int
    """Markers, and words that have no place in such a file."""


def export_word2vec(run: Path, path: Path, *, binary: bool) -> WrittenVectors:
    """Write the word vectors of a run in word2vec's text or binary format.

    Raises:
        RunError: there is no such run, or its model has none.
    """
    settings, vocabulary, model, _ = open_run(KIND, run, device="cpu")
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
    return WrittenVectors(len(words) - n_left_out, n_left_out)
