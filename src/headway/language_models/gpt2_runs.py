"""Runs from GPT-2-shaped models: to score, to write on, to be gone on from."""

from pathlib import Path

from headway.core.config import Sections
from headway.core.run_folder import RunFolder
from headway.exchange.checkpoints import CONFIG, UNSCALED, StoredWeights
from headway.exchange.gpt2 import Gpt2Config
from headway.language_models.spec import SPEC, next_commands_at
from headway.operations.locks import Say
from headway.runs.imported import ImportedModel, ImportedRun, write_imported
from headway.runs.settings import Settings
from headway.tokenizers.byte_level import BOTH, MERGES, VOCABULARY, read_gpt2

PEAK = 1.5e-4
"""The learning rate that a run which goes on from it has a part of: what GPT-2s are tuned with."""


def import_gpt2(model: Path, out: Path, say: Say) -> RunFolder:
    """Make a finished run of a folder with a GPT-2 in `transformers`' format.

    Raises:
        DataError: a file is missing or damaged, or they do not go together.
        ConfigError: the model has something that cannot be held.
        RunError: `out` is taken.
    """

    def read(place: Path) -> ImportedRun:
        path = model / CONFIG
        described = Gpt2Config.read(path)
        stored = StoredWeights.of_folder(model, "GPT2LMHeadModel")
        described.refuse_other_tensors(stored.shapes, stored.files[0])
        vocabulary = read_gpt2(model, described.vocab_size)
        text = {"unit": "subwords", "segmenter": "none", "vocabulary_size": len(vocabulary)}
        sections: Sections = {
            "run": {"task": SPEC.name},
            "text": text,
            "model": described.section(),
            "training": {"learning_rate": PEAK, "window": described.n_positions},
        }
        settings = Settings.of(sections, SPEC)
        weights = described.from_theirs(stored.load(), stored.files[0])
        say(UNSCALED)
        files = (BOTH,) if (model / BOTH).exists() else (VOCABULARY, MERGES)
        data = ImportedModel.of(
            "gpt2", vocabulary, [path, *stored.files, *(model / f for f in files)]
        )
        return ImportedRun(
            data,
            settings,
            weights,
            "Language model, imported from a GPT-2",
            next_commands_at(place),
        )

    return write_imported(model, out, say, read)
