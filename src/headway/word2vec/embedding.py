"""Words of a text with the one vector that each has, as `headway embed` asks for them."""

import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from headway.language_models.units import TokenUnit
from headway.operations.shipped import open_folder
from headway.tokenizers.words import Words
from headway.vectors.contextual import EmbeddedText, Sees
from headway.vectors.word_vectors import WordVectors
from headway.word2vec.run_vectors import vectors_of_run


class StaticEmbedder:
    """A look-up; a word without a vector has zeros."""

    layers = ("embedding",)
    sees: Sees = "the word alone"

    def __init__(self, vectors: WordVectors, unit: TokenUnit) -> None:
        self.vectors, self.cut = vectors, unit.cut
        self.vocabulary = Words([], "characters" if unit.unit == "characters" else "words")

    def embed(self, texts: Iterable[str]) -> Iterator[EmbeddedText]:
        """See `Embedder`."""
        for text in texts:
            cut = unicodedata.normalize("NFC", self.cut(text))
            rows = [self.vectors.find(word) for word in self.vocabulary.split(cut)]
            unknown = [row is None for row in rows]
            found = np.zeros((1, len(rows), self.vectors.size), np.float32)
            known = [row for row in rows if row is not None]
            found[0, ~np.array(unknown, bool)] = self.vectors.matrix[known]
            yield EmbeddedText(cut, self.vocabulary.source_spans(cut), found, unknown)


def embedder(run: Path, _device: Any = "auto") -> StaticEmbedder:
    """What a run of word vectors brings to `headway embed`.

    Raises RunError: there is no such run, or it is damaged.
    """
    vectors = vectors_of_run(run)
    text = open_folder(run).settings()["text"]
    return StaticEmbedder(vectors, TokenUnit(text["unit"], text["segmenter"]))
