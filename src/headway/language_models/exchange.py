"""Runs from ARPA files; ARPA files, and files of word vectors, from runs."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import torch

from headway.core.config import Sections
from headway.core.disk import checksum
from headway.core.errors import RunError
from headway.core.run_folder import RunFolder
from headway.core.subwords import SpecialIds
from headway.core.tensor_files import save_tensors
from headway.language_models.arpa import Arpa, read_arpa, write_arpa
from headway.language_models.ngram import Ngram, NgramConfig
from headway.language_models.nnlm import Nnlm
from headway.language_models.spec import SPEC, next_commands_at
from headway.language_models.texts import COUNTING
from headway.operations.locks import Say
from headway.operations.shipped import only_writer_of_run, refuse_undecodable
from headway.runs.loading import open_run
from headway.runs.settings import Settings
from headway.runs.train import write_record
from headway.tokenizers.words import WholeUnit
from headway.vectors.files import write_word2vec

WITH_VECTORS = ("nnlm",)
"""Types of model whose words have vectors to be taken out."""
REPAIRS = {
    "not_nfc": "words were brought to NFC, as all text is",
    "begin_inside": "n-grams with <s> behind their first word are left out: nothing asks for them",
    "unknown_word_unlisted": "the file has no <unk>: unknown words have the logarithm -100",
}
"""What is said of what was put right, behind how often."""


@dataclass(frozen=True)
class ImportedFile:
    """Where a model is from: a `headway.runs.task_spec.Data` without examples."""

    vocabulary: Any
    checksums: dict[str, str]
    repaired: dict[str, int]

    def record(self) -> dict[str, Any]:
        """What data.json says."""
        return {"imported": self.repaired}

    def save_vocabulary(self, folder: RunFolder) -> None:
        """tokenizer.json."""
        self.vocabulary.save(folder.tokenizer)


def import_arpa(path: Path, out: Path, say: Say, unit: WholeUnit | None = None) -> RunFolder:
    """Make a finished run of an ARPA file; `unit` as in `read_arpa`.

    Raises:
        DataError: the file is no ARPA file, or damaged, or of another unit.
        RunError: `out` is taken.
    """
    refuse_undecodable(path.absolute())
    with only_writer_of_run(out, say) as folder:
        folder.refuse_taken()
        arpa = read_arpa(path, unit)
        say(f"unit: {arpa.words.unit}")
        n_grams = ", ".join(f"{n:,} of {order}" for order, n in enumerate(arpa.n_grams, start=1))
        say(f"n-grams by their words, four markers among the first: {n_grams}")
        repaired = {why: n for why, n in arpa.repaired.items() if n}
        for why, n in repaired.items():
            say(f"{n:,}: {REPAIRS[why]}")
        data = ImportedFile(arpa.words, {str(path): checksum(path)}, repaired)
        write_record(folder, data, None)
        data.save_vocabulary(folder)
        settings = Settings.of(_sections(arpa), SPEC)
        folder.write_settings(settings.sections())
        save_tensors(arrays(arpa), folder.model)
        use = "\n".join(next_commands_at(folder.path))
        folder.write_card(
            f"# Language model (n-gram), from an ARPA file\n\nN-grams by their words: {n_grams}.\n"
            f"`{path}` (sha256 {data.checksums[str(path)]})\n\n## Use\n\n```\n{use}\n```\n"
        )
        folder.finish(settings.sections())
    return folder


def _sections(arpa: Arpa) -> Sections:
    config = NgramConfig(order=len(arpa.orders), smoothing="backoff", n_grams=arpa.n_grams)
    text = {"unit": arpa.words.unit, "segmenter": "none", "vocabulary_size": len(arpa.words)}
    return {
        "run": {"task": SPEC.name},
        "text": text,
        "model": {"type": "ngram", **asdict(config)},
    }


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


def export_word2vec_binary(run: Path, path: Path, say: Say) -> None:
    """The same as `export_word2vec` in the binary format."""
    export_word2vec(run, path, say, binary=True)


def export_word2vec(run: Path, path: Path, say: Say, *, binary: bool = False) -> None:
    """Write the word vectors of a run in word2vec's text or binary format, and say how many;
    markers, and words that have no place in such a file, are left out.

    Raises:
        RunError: there is no such run, or its model has none.
    """
    settings, vocabulary, model, _ = open_run(SPEC, run, device="cpu")
    if settings.model_type not in WITH_VECTORS:
        raise RunError(
            f"word vectors are taken out of models of the type {' or '.join(WITH_VECTORS)}; {run} "
            f"is one of the type {settings.model_type}. Train one: --model.type nnlm."
        )
    special = vocabulary.special
    words = vocabulary.pieces(range(len(vocabulary)))
    for marker in {special.padding, special.decoder_begin}:
        words[marker] = ""  # left out: they stand in no text
    vectors = cast(Nnlm, model).word_vectors().numpy()
    n_left_out = write_word2vec(path, words, vectors, binary=binary)
    n_words = len(words) - n_left_out
    say(f"vectors of {n_words:,} words written to {path}, {n_left_out:,} left out")
