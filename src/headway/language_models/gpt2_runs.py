"""Runs from GPT-2-shaped models: to score, to write on, to be gone on from."""

from functools import partial
from pathlib import Path

from headway.exchange.checkpoints import CONFIG, UNSCALED, StoredWeights
from headway.exchange.gpt2 import Gpt2Config
from headway.language_models.spec import SPEC, next_commands_at
from headway.operations.locks import Say
from headway.runs.imported import ImportedRun, write_imported
from headway.tokenizers.byte_level import BOTH, MERGES, VOCABULARY, read_gpt2

PEAK = 1.5e-4
"""The learning rate that a run which goes on from it has a part of: what GPT-2s are tuned with."""


def read(model: Path, place: Path, say: Say) -> ImportedRun:
    """A folder with a GPT-2; see `headway.runs.imported.write_imported`."""
    path = model / CONFIG
    described = Gpt2Config.read(path)
    stored = StoredWeights.of_folder(model, "GPT2LMHeadModel")
    described.refuse_other_tensors(stored.shapes, stored.files[0])
    vocabulary = read_gpt2(model, described.vocab_size)
    pieces = (BOTH,) if (model / BOTH).exists() else (VOCABULARY, MERGES)
    weights = described.from_theirs(stored.load(), stored.files[0])
    say(UNSCALED)
    return ImportedRun(
        "gpt2",
        SPEC,
        vocabulary,
        [path, *stored.files, *(model / name for name in pieces)],
        {
            "text": {"unit": "subwords", "segmenter": "none", "vocabulary_size": len(vocabulary)},
            "model": described.section(),
            "training": {"learning_rate": PEAK, "window": described.n_positions},
        },
        weights,
        "Language model, imported from a GPT-2",
        next_commands_at(place),
    )


import_gpt2 = partial(write_imported, read)
