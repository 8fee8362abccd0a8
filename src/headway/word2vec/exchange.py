"""Files of other programs from runs, and runs from them."""

import unicodedata
from pathlib import Path

import numpy as np
import torch

from headway.core.config import Sections
from headway.core.disk import checksum
from headway.core.errors import DataError
from headway.core.run_folder import RunFolder
from headway.core.subword_training import SPECIAL_PIECES
from headway.core.tensor_files import save_tensors
from headway.language_models.exchange import ImportedFile
from headway.operations.locks import Say
from headway.operations.shipped import only_writer_of_run, refuse_undecodable
from headway.runs.settings import Settings
from headway.runs.train import write_record
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
    refuse_undecodable(path.absolute())
    with only_writer_of_run(out, say) as folder:
        folder.refuse_taken()
        found = open_vectors(path, say)
        unit = unit or "words"
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
        data = ImportedFile(words, {str(path): checksum(path)}, {"left_out": n_left_out})
        write_record(folder, data, None)
        data.save_vocabulary(folder)
        text = {"unit": unit, "segmenter": "none", "min_count": 1, "vocabulary_size": len(words)}
        model = {"type": SPEC.default_model, "d_model": found.size}
        given: Sections = {"run": {"task": SPEC.name}, "text": text, "model": model}
        settings = Settings.of(given, SPEC)
        folder.write_settings(settings.sections())
        matrix = np.zeros((len(words), found.size), np.float32)
        matrix[FIRST:] = found.matrix[[*rows.values()]]
        tensors = {
            "vectors": torch.from_numpy(matrix),
            "outputs": torch.zeros(matrix.shape),
            "counts": torch.zeros(len(words), dtype=torch.int64),
        }
        save_tensors(tensors, folder.model)
        use = "\n".join(next_commands(folder.path, next(iter(rows))))
        folder.write_card(
            f"# Word vectors, from a file\n\n{len(rows):,} {unit}, each with a vector of "
            f"{found.size} numbers.\n`{path}` (sha256 {data.checksums[str(path)]})\n\n## Use\n\n"
            f"```\n{use}\n```\n"
        )
        folder.finish(settings.sections())
    return folder
