"""Words as the encoder of a translator makes vectors of them, and what it reads sub-words as."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.errors import RunError
from headway.core.rows import pad
from headway.core.runtime import Device
from headway.core.subwords import Subwords
from headway.core.translate import TextTranslator
from headway.nn.layer_outputs import Row, layer_outputs, vectors_of_rows
from headway.runs.loading import open_run
from headway.tokenizers.words import Words
from headway.translation.spec import SPEC
from headway.vectors.contextual import EmbeddedText, Sees, embedded_texts
from headway.vectors.word_vectors import WordVectors

LAST = ("from_source", "out_of_encoder", "encoder_norm")
"""Modules of a model, by their names in it, that end its encoder: of two the first."""


class EncoderEmbedder:
    """The layers of an encoder; layer 0 is what goes into the first one: the embedding, and the
    position where the model adds one. Texts are read without tags."""

    sees: Sees = "the words on both sides"

    def __init__(self, model: nn.Module, vocabulary: Subwords | Words, longest: int | None) -> None:
        """`longest`: tokens that are read at once; longer texts are read in stretches."""
        self.model, self.vocabulary, self.longest = cast(Any, model), vocabulary, longest
        self.device = next(model.parameters()).device
        self.stack = list(self.model.encoder)
        self.last = next((getattr(model, name) for name in LAST if hasattr(model, name)), None)

    @property
    def layers(self) -> tuple[str, ...]:
        """The embedding, then the layers by their numbers."""
        return ("embedding", *map(str, range(1, len(self.stack) + 1)))

    def embed(self, texts: Iterable[str]) -> Iterator[EmbeddedText]:
        """See `Embedder`."""
        read = partial(vectors_of_rows, read=self.read, longest=self.longest, causal=False)
        return embedded_texts(texts, self.vocabulary, read)

    def read(self, rows: list[Row]) -> Float[Tensor, "layers rows length size"]:
        """Some sources, each with its end marker."""
        special = self.vocabulary.special
        arrays = [np.array(row, np.int64) for row in rows]
        source = torch.from_numpy(pad(arrays, special.padding, end=special.end)).to(self.device)
        return layer_outputs(lambda: self.model.encode(source), self.stack, self.last)


def embedder(run: Path, device: Device = "auto") -> EncoderEmbedder:
    """What a run of translation brings to `headway embed`.

    Raises RunError: there is no such run, or its model has no encoder in layers.
    """
    opened = open_run(SPEC, run, device=device, training=False)
    model = cast(Any, opened.model)
    if not (hasattr(model, "encode") and hasattr(model, "encoder")):
        raise RunError(
            f"the vectors of words are those of an encoder's layers; {run}, a model of the type "
            f"{opened.settings.model_type}, has none. Take a run of another type."
        )
    longest = opened.settings.data.max_length or None
    translates = TextTranslator(model, opened.vocabulary, opened.device, longest)
    return EncoderEmbedder(opened.model, opened.vocabulary, translates.longest)


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
