"""The vectors that a translator's encoder reads its sub-words as."""

from pathlib import Path

from torch import nn

from headway.core.errors import RunError
from headway.runs.loading import open_run
from headway.translation.spec import SPEC
from headway.vectors.word_vectors import WordVectors


def vectors_of_sub_words(run: Path) -> WordVectors:
    """Those of a run, with `▁` for the space before a piece; markers are left out. Where source and
    target have embeddings of their own they are the source's.

    Raises RunError: there is no such run, or its model has no embedding of the source.
    """
    _, subwords, model, _ = open_run(SPEC, run, device="cpu", training=False)
    embedding = getattr(model, "source_embedding", None)
    if not isinstance(embedding, nn.Embedding):
        raise RunError(
            "vectors of sub-words are the rows of the embedding of a source; the model of "
            f"{run} has none. Name a run of another type of model."
        )
    special = subwords.special
    markers = {special.padding, special.unknown, special.decoder_begin, special.end}
    tokens = [token for token in range(len(subwords)) if token not in markers]
    return WordVectors(subwords.pieces(tokens), embedding.weight.detach().numpy()[tokens])
