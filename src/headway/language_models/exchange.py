"""Runs from ARPA files; ARPA files, and files of word vectors, from runs."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch

from headway.core.embedding import TokenEmbedding
from headway.core.errors import RunError
from headway.core.run_folder import RunFolder
from headway.core.subwords import SpecialIds
from headway.language_models.arpa import Arpa, read_arpa, write_arpa
from headway.language_models.ngram import Ngram, NgramConfig
from headway.language_models.spec import SPEC, next_commands_at
from headway.language_models.texts import COUNTING
from headway.operations.locks import Say
from headway.runs.imported import ImportedRun, write_imported
from headway.runs.loading import open_run
from headway.tokenizers.words import WholeUnit
from headway.vectors.files import exporters
from headway.vectors.word_vectors import WordVectors

REPAIRS = {
    "not_nfc": "words were brought to NFC, as all text is",
    "begin_inside": "n-grams with <s> behind their first word are left out: nothing asks for them",
    "unknown_word_unlisted": "the file has no <unk>: unknown words have the logarithm -100",
}
"""What is said of what was put right, behind how often."""


def import_arpa(path: Path, out: Path, say: Say, unit: WholeUnit | None = None) -> RunFolder:
    """Make a finished run of an ARPA file; `unit` as in `read_arpa`.

    Raises:
        DataError: the file is no ARPA file, or damaged, or of another unit.
        RunError: `out` is taken.
    """
    return write_imported(partial(read, unit), path, out, say)


def read(unit: WholeUnit | None, path: Path, place: Path, say: Say) -> ImportedRun:
    """An ARPA file; see `headway.runs.imported.write_imported`."""
    arpa = read_arpa(path, unit)
    say(f"unit: {arpa.words.unit}")
    n_grams = ", ".join(f"{n:,} of {order}" for order, n in enumerate(arpa.n_grams, start=1))
    say(f"n-grams by their words, four markers among the first: {n_grams}")
    repaired = {why: n for why, n in arpa.repaired.items() if n}
    for why, n in repaired.items():
        say(f"{n:,}: {REPAIRS[why]}")
    config = NgramConfig(order=len(arpa.orders), smoothing="backoff", n_grams=arpa.n_grams)
    text = {"unit": arpa.words.unit, "segmenter": "none", "vocabulary_size": len(arpa.words)}
    return ImportedRun(
        repaired,
        SPEC,
        arpa.words,
        [path],
        {"text": text, "model": {"type": "ngram", **asdict(config)}},
        arrays(arpa),
        "Language model (n-gram), from an ARPA file",
        next_commands_at(place),
        about=f"N-grams by their words: {n_grams}",
    )


def arrays(arpa: Arpa) -> dict[str, torch.Tensor]:
    """Those of an `Ngram`."""
    found = {}
    for order, of_order in enumerate(arpa.orders, start=1):
        if order > 1:
            found[f"keys_{order}"] = torch.from_numpy(of_order.keys)
        found[f"weights_{order}"] = torch.from_numpy(of_order.weights)
        if order < len(arpa.orders):
            found[f"backoffs_{order}"] = torch.from_numpy(of_order.backoffs)
    return found


def export_arpa(run: Path, path: Path, say: Say) -> None:
    """Write the model of a run to an ARPA file, and say how many n-grams it has.

    Raises:
        RunError: there is no such run, or its model does not count.
        DataError: a word has no place in such a file.
    """
    settings, vocabulary, model, _ = open_run(SPEC, run, device="cpu")
    if settings.model_type not in COUNTING:
        raise RunError(
            f"an ARPA file holds n-grams; {run} is a model of the type {settings.model_type}. "
            "Count one: --model.type ngram."
        )
    n_grams = write_arpa(cast(Ngram, model), spelled(vocabulary), path)
    say(f"{n_grams:,} n-grams written to {path}")


def spelled(vocabulary: Any) -> list[str]:
    """Each id as an ARPA file has it."""
    special: SpecialIds = vocabulary.special
    pieces: list[str] = vocabulary.pieces(range(len(vocabulary)))
    pieces[special.unknown], pieces[special.end] = "<unk>", "</s>"
    pieces[special.decoder_begin] = "<s>"
    return pieces


def vectors_of_tokens(run: Path) -> WordVectors:
    """The vectors that the model of a run reads its tokens as; markers are left out.

    Raises:
        RunError: there is no such run, or its model has none.
    """
    settings, vocabulary, model, _ = open_run(SPEC, run, device="cpu")
    embedding = getattr(model, "embedding", None)
    if not isinstance(embedding, TokenEmbedding):
        raise RunError(
            f"vectors of words are the rows of an embedding; {run} is a model of the type "
            f"{settings.model_type}, which has none. Train another: --model.type nnlm."
        )
    special: SpecialIds = vocabulary.special
    markers = {special.padding, special.unknown, special.decoder_begin, special.end}
    kept = [token for token in range(len(vocabulary)) if token not in markers]
    vectors = embedding.weight.detach()[kept] * embedding.scale
    return WordVectors(vocabulary.pieces(kept), vectors.numpy())


export_word2vec, export_word2vec_binary, export_glove = exporters(vectors_of_tokens)
