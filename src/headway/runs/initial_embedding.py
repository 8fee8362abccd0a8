"""Word vectors that a model's token embeddings begin with, by the spelling of each token.

All are multiplied by one factor, so that their numbers are as large as those that were drawn for
the tokens without one; cosines stay.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Protocol, SupportsIndex, cast, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import nn

from headway.core.disk import checksum
from headway.core.errors import ConfigError, DataError, RunError
from headway.core.learning import drawn
from headway.core.optimizer import load_weights
from headway.core.run_folder import MODEL
from headway.corpora.cache_place import silent
from headway.operations.frozen import token_embeddings
from headway.runs.loading import Undrawn
from headway.runs.settings import Settings
from headway.runs.task_spec import Run, Say, Tokens
from headway.vectors.word_vectors import WordVectors

BEGINS_WORD = ("▁", "Ġ")
"""What sub-words show the space before them as, here and in other toolkits."""


@runtime_checkable
class SpelledTokens(Tokens, Protocol):
    """Tokens, each with its spelling: sub-words, words, or what is labelled by them."""

    def pieces(self, ids: Iterable[SupportsIndex]) -> list[str]: ...


class FoundVectors(NamedTuple):
    """Which tokens of a vocabulary have a vector."""

    tokens: list[int]
    vectors: Float[NDArray, "found size"]
    """Theirs, as they stand in the file."""
    n_lower_cased: int
    """So many were found in lower case only."""
    n_asked: int
    """All tokens but the markers."""

    @property
    def spread(self) -> float:
        """The root of the mean square of all numbers."""
        return float(np.sqrt(np.square(self.vectors, dtype=np.float64).mean()))


def find(vocabulary: SpelledTokens, vectors: WordVectors) -> FoundVectors:
    """The vector of the same spelling for each token: the piece itself; where it begins a word, the
    word; else either in lower case. Markers have none: they stand in no text.

    Raises DataError where there is not one, or where all numbers are zero or some are none.
    """
    special = vocabulary.special
    markers = {special.padding, special.unknown, special.decoder_begin, special.end}
    asked = [token for token in range(len(vocabulary)) if token not in markers]
    tokens, rows, n_lower_cased = list[int](), list[int](), 0
    for token, piece in zip(asked, vocabulary.pieces(asked), strict=True):
        row = row_of(piece, vectors)
        if row is None and piece != piece.lower():
            row = row_of(piece.lower(), vectors)
            n_lower_cased += row is not None
        if row is not None:
            tokens.append(token)
            rows.append(row)
    if not tokens:
        some = ", ".join(map(repr, vectors.words[:3]))
        own = ", ".join(map(repr, vocabulary.pieces(asked[:3])))
        raise DataError(
            f"a model begins with vectors of its own tokens; none of its {len(asked):,} ({own}, "
            f"..) is among those words ({some}, ..). Take vectors of the same language and unit."
        )
    found = FoundVectors(
        tokens, np.asarray(vectors.matrix[rows], np.float32), n_lower_cased, len(asked)
    )
    if not 0 < found.spread < np.inf:
        raise DataError(
            f"word vectors are finite numbers that are not all zero; those of {len(tokens):,} "
            "tokens of this model are not. Take the file from a copy."
        )
    return found


def row_of(piece: str, vectors: WordVectors) -> int | None:
    """That of a piece as it is spelled, or of the word that it begins."""
    spellings = [piece]
    if piece.startswith(BEGINS_WORD) and len(piece) > 1:
        spellings += [mark + piece[1:] for mark in (*BEGINS_WORD, "")]
    return next((row for one in spellings if (row := vectors.find(one)) is not None), None)


# -- before a run is written ------------------------------------------------------------------


def fit(run: Run) -> Run:
    """The run with embeddings as long as the vectors; what was found is noted for data.json.

    Raises:
        ConfigError: another size was set, or the model reads no tokens through an embedding.
        DataError: no vector is of any of its tokens.
    """
    place = Path(run.settings.training.init_embedding)
    vectors = opened(run, place, run.say)
    found = find(run.data.vocabulary, vectors)
    run.settings = with_size(run, vectors.size, place)
    seed, settings = run.settings.runtime.seed, run.settings
    model = drawn(lambda: run.spec.build(settings, run.data.vocabulary), seed, torch.device("cpu"))
    embeddings = embeddings_of(model, len(run.data.vocabulary))
    rows = [one.weight.detach()[found.tokens] for one in embeddings]
    factor = float(torch.cat(rows).double().square().mean().sqrt()) / found.spread
    run.noted["init_embedding"] = {
        "place": str(place),
        "sha256": checksum_of(place),
        "tokens": found.n_asked,
        "found": len(found.tokens),
        "lower_cased": found.n_lower_cased,
        "factor": factor,
    }
    lower = f", {found.n_lower_cased:,} of them in lower case only" if found.n_lower_cased else ""
    run.say(
        f"embedding: {len(found.tokens):,} of {found.n_asked:,} tokens have a vector in {place}"
        f"{lower}; times {factor:.3g}, as large as those that are drawn for the others"
    )
    return run


def with_size(run: Run, size: int, place: Path) -> Settings:
    """Settings with which the model's embeddings have this size: what was left open follows."""
    settings, given = run.settings, run.given.get("model", {})
    had = sizes_of(run, settings)
    names = [name for name in ("d_embedding", "d_model") if hasattr(settings.model, name)]
    if had != {size} and names and names[0] not in given:
        run.say(f"{names[0]} {size}: the size of the vectors in {place}")
        settings = replace(settings, model=replace(settings.model, **{names[0]: size}))
        had = sizes_of(run, settings)
    if had != {size}:
        raise ConfigError(
            f"vectors that a model begins with have the size of its embedding; those of {place} "
            f"have {size} numbers, the embedding {' and '.join(map(str, sorted(had)))}. Leave that "
            f"size out, set {size}, or take other vectors."
        )
    return settings


def sizes_of(run: Run, settings: Settings) -> set[int]:
    """Of the token embeddings of a model with these settings."""
    with torch.device("meta"), Undrawn():  # none of it in memory
        model = run.spec.build(settings, run.data.vocabulary)
    return {one.embedding_dim for one in embeddings_of(model, len(run.data.vocabulary))}


def embeddings_of(model: nn.Module, n_tokens: int) -> list[nn.Embedding]:
    """Those with a row for each token; raises ConfigError where there is none."""
    found = token_embeddings(model).values()
    whole = [one for one in found if one.num_embeddings == n_tokens]
    if not whole:
        raise ConfigError(
            "word vectors are what a model begins with that has a row for each token; this one "
            f"has none for its {n_tokens:,}. Leave --init-embedding out, or choose another "
            "--model.type."
        )
    return whole


def opened(run: Run, place: Path, say: Say) -> WordVectors:
    """Of a file, or of a run."""
    opens = run.request and run.request.open_vectors
    assert opens, "who has vectors to begin with says how they are opened"
    return cast(WordVectors, opens(place, say))


def checksum_of(place: Path) -> str:
    """Of a file of vectors, or of the weights of a run that has some."""
    return checksum(place / MODEL if place.is_dir() else place)


# -- before the first update ------------------------------------------------------------------


def begin_with(run: Run) -> None:
    """Give the embeddings the vectors that `fit` found; raises RunError where they have changed."""
    place, trainer = Path(run.settings.training.init_embedding), run.trainer
    noted = run.folder.record()["init_embedding"]
    if not place.exists() or checksum_of(place) != noted["sha256"]:
        raise RunError(
            "a run goes on with the word vectors that it began with, until its first checkpoint; "
            f"{place} {'has changed since' if place.exists() else 'is gone'}. Put it back, or "
            "start a new run."
        )
    found = find(run.data.vocabulary, opened(run, place, silent))
    scaled = torch.from_numpy(found.vectors * np.float32(noted["factor"]))
    weights = {name: one.clone() for name, one in trainer.optimizer.weights().items()}
    names = {id(parameter): name for name, parameter in trainer.model.named_parameters()}
    for embedding in embeddings_of(trainer.model, len(run.data.vocabulary)):
        matrix = weights[names[id(embedding.weight)]]  # perhaps the output's as well
        matrix[found.tokens] = scaled.to(matrix.device)
    trainer.optimizer.take(weights)
    load_weights(trainer.eval_model, weights)  # a training whose loss runs away begins again there
