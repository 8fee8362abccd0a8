"""The vectors of a run, and what else its model holds, read where they lie: without torch."""

import json
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from headway.core.errors import RunError, command
from headway.core.run_folder import RunFolder
from headway.language_models.units import TokenUnit
from headway.operations.shipped import open_folder
from headway.operations.unfinished_runs import warn_unfinished
from headway.tokenizers.words import Words
from headway.vectors.contextual import EmbeddedText, Sees
from headway.vectors.word_vectors import WordVectors

KINDS: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "I64": np.dtype("<i8")}


def vectors_of_run(run: Path, *, warns: bool = True) -> WordVectors:
    """The words of a run and their vectors, which stay on the disk until they are looked at;
    where it `warns`, that the run is unfinished is said on stderr.

    Raises RunError where there is no run, or no model in it, or a damaged one.
    """
    folder = open_folder(run)
    folder.refuse_damaged()
    if warns:
        warn_unfinished(run, folder.settings())
    words = Words.load(folder.tokenizer)
    matrix = mapped(folder, "vectors")
    if matrix.ndim != 2 or len(matrix) != len(words):
        raise RunError(
            f"each word has a row of weights; {folder.tokenizer} has {len(words):,} and "
            f"{folder.model} {list(matrix.shape)}. Put the two files of one run together."
        )
    return WordVectors(words.pieces(range(FIRST, len(words))), matrix[FIRST:])


FIRST = len(Words([]))
"""The first id that is no marker."""


def mapped(folder: RunFolder, name: str) -> NDArray[Any]:
    """One tensor of a run's model, of which only what is looked at comes into memory."""
    path = folder.model
    if not path.exists():
        again = command("train", "--out", folder.path, "--resume")
        raise RunError(f"{folder.path} has no model yet. Go on with: {again}")
    try:
        with safe_open(path, framework="numpy"), path.open("rb") as file:  # it checks all places
            n_bytes = int.from_bytes(file.read(8), "little")
            of = json.loads(file.read(n_bytes))[name]
        kind = KINDS[of["dtype"]]
    except (OSError, SafetensorError, ValueError, LookupError) as error:
        raise RunError(
            f"vectors lie in a file as headway wrote it; {path} cannot be used: {error}. "
            f"See what can be done: {command('check', folder.path)}"
        ) from None
    offset = 8 + n_bytes + of["data_offsets"][0]
    return np.memmap(path, kind, "r", offset, (*of["shape"],)).view(np.ndarray)


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
