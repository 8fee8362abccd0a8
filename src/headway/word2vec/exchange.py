"""Files of other programs from runs, and runs from them."""

import unicodedata
from functools import partial
from pathlib import Path

import numpy as np
import torch

from headway.core.errors import DataError
from headway.core.run_folder import RunFolder
from headway.core.subword_training import SPECIAL_PIECES
from headway.operations.locks import Say
from headway.runs.imported import ImportedRun, write_imported
from headway.tokenizers.words import WholeUnit, Words
from headway.vectors.files import exporters, open_vectors
from headway.word2vec.run_vectors import FIRST, vectors_of_run
from headway.word2vec.spec import SPEC, next_commands

export_word2vec, export_word2vec_binary, export_glove = exporters(vectors_of_run)


def import_vectors(path: Path, out: Path, say: Say, unit: WholeUnit | None = None) -> RunFolder:
    """Make a finished run of a file of word vectors, whose format is told from what is in it.

    It is asked as any other; words do not predict each other in it, as files have no outputs.

    Raises:
        DataError: the file is none, is damaged, or no word of it has a place in a run.
        RunError: `out` is taken.
    """
    return write_imported(partial(read, unit or "words"), path, out, say)


def read(unit: WholeUnit, path: Path, place: Path, say: Say) -> ImportedRun:
    """A file of word vectors; see `headway.runs.imported.write_imported`."""
    found = open_vectors(path, say)
    split, rows = Words([], unit).split, dict[str, int]()
    for row, word in enumerate(found.words):
        normal = unicodedata.normalize("NFC", word)
        if split(normal) == [normal] and normal not in SPECIAL_PIECES:
            rows.setdefault(normal, row)
    if not rows:
        raise DataError(
            f"a run has {unit}; none of the {len(found):,} words of {path} is one. Leave "
            "--unit out."
        )
    n_left_out = len(found) - len(rows)
    if n_left_out:
        say(f"{n_left_out:,} words that are none of a run (markers, spaces, twice in NFC) left")
    words = Words([*rows], unit)
    text = {"unit": unit, "segmenter": "none", "min_count": 1, "vocabulary_size": len(words)}
    matrix = np.zeros((len(words), found.size), np.float32)
    matrix[FIRST:] = found.matrix[[*rows.values()]]
    tensors = {
        "vectors": torch.from_numpy(matrix),
        "outputs": torch.zeros(matrix.shape),
        "counts": torch.zeros(len(words), dtype=torch.int64),
    }
    return ImportedRun(
        {"left_out": n_left_out},
        SPEC,
        words,
        [path],
        {"text": text, "model": {"type": SPEC.default_model, "d_model": found.size}},
        tensors,
        "Word vectors, from a file",
        next_commands(place, next(iter(rows))),
        about=f"{len(rows):,} {unit}, each with a vector of {found.size} numbers",
    )
