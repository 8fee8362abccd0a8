"""Runs from M2M-100- and NLLB-shaped models: to be translated with, and to be gone on from."""

import json
import re
import shlex
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from headway.core.errors import DataError
from headway.core.run_folder import RunFolder
from headway.core.subwords import Subwords
from headway.exchange.checkpoints import (
    CONFIG,
    TOKENIZER_CONFIG,
    UNSCALED,
    StoredWeights,
    read_json,
)
from headway.exchange.m2m100 import LANGUAGE_CODES, M2m100Config
from headway.operations.locks import Say
from headway.runs.imported import ImportedRun, write_imported
from headway.tokenizers import tokenizer_files
from headway.tokenizers.multilingual import KnownLanguages, MultilingualPieces
from headway.tokenizers.sentencepieces import LIST, SentencePieces, read_file
from headway.translation.marian_runs import pieces_as_they_are, refuse_other_ids
from headway.translation.spec import SPEC

PIECES, ONE_FILE, NAMED = "sentencepiece.bpe.model", "tokenizer.json", "special_tokens_map.json"
PEAK = 1e-4
"""The learning rate that a run which goes on from it has a part of."""
BATCH_TOKENS = 512
"""Of a batch: activations of such a model take a megabyte for each."""
_CODES = {LIST: re.compile(r"__([a-z]{2,3})__"), ONE_FILE: re.compile(r"([a-z]{3}_[A-Z][a-z]{3})")}
"""Tokens that are languages, by the file that has the others."""


def read(
    source_language: str, target_language: str, model: Path, place: Path, say: Say
) -> ImportedRun:
    """A folder with an M2M-100 or NLLB; see `headway.runs.imported.write_imported`. Raises
    ConfigError, too, where it does not know a language, or SentencePiece is missing."""
    path = model / CONFIG
    described = M2m100Config.read(path)
    stored = StoredWeights.of_folder(model, "M2M100ForConditionalGeneration")
    config = described.as_transformer(path)
    described.refuse_other_tensors(stored.shapes, config, stored.files[0])
    vocabulary = read_vocabulary(model, described, source_language, target_language)
    source, target = vocabulary.languages.source, vocabulary.languages.target
    others = [code for code in vocabulary.languages.ids if code != target]
    say(f"it reads {source} and writes {target}, or one of {len(others)} others by --tag")
    if described.tied != described.all_one:
        say(UNSCALED)
    run, files = shlex.quote(str(place)), f"--source MINE.{source} --target MINE.{target}"
    return ImportedRun(
        "m2m100",
        SPEC,
        vocabulary,
        [path, *stored.files, *vocabulary_files(model)],
        {
            "text": pieces_as_they_are(vocabulary),
            "data": {
                "max_length": described.max_position_embeddings - 2,
                "tags": ("", *others),
                "source_language": source,
                "target_language": target,
            },
            "model": {"type": "transformer", **asdict(config)},
            "training": {"learning_rate": PEAK, "batch_tokens": BATCH_TOKENS},
        },
        described.from_theirs(stored.load(), config, stored.files[0]),
        f"{source} -> {target}, imported from an M2M-100",
        [
            f"echo 'a sentence' | headway translate {run}",
            f"echo 'a sentence' | headway translate {run} --tag {others[0]}",
            f"headway train --init-from {run} --training.lora-rank 8 {files} --out NEW",
        ],
    )


def import_m2m100(
    model: Path,
    out: Path,
    say: Say,
    source_language: str = "",
    target_language: str = "",
) -> RunFolder:
    """See `headway.runs.imported.write_imported`; with the languages that the run reads, and writes
    where no tag says another."""
    return write_imported(partial(read, source_language, target_language), model, out, say)


def vocabulary_files(model: Path) -> list[Path]:
    """NLLB has one file, M2M-100 two."""
    names = (PIECES, LIST) if (model / LIST).exists() else (ONE_FILE,)
    return [model / name for name in names]


def read_vocabulary(
    model: Path, described: M2m100Config, source: str, target: str
) -> MultilingualPieces:
    """The sub-words of such a folder, a row of weights for each; rows without one get a piece that
    no text has.

    Raises:
        DataError: a file is missing or damaged, or ids are not those of the config.
        ConfigError: it does not know a language.
    """
    files = vocabulary_files(model)
    place, n_rows = files[-1], described.vocab_size
    if len(files) == 1:
        whole = tokenizer_files.load(model)
        tokenizer = Tokenizer.from_str(whole.serialized)
        n_known = tokenizer.get_vocab_size()
        tokenizer.add_special_tokens([f"<unused{i}>" for i in range(n_known, n_rows)])
        inner, known = Subwords(tokenizer.to_str(), str(place)), tokenizer.get_vocab()
    else:
        listed = read_json(place)
        known = {**listed, **language_tokens(model, len(listed))}
        known |= {f"<unused{i}>": i for i in range(len(known), n_rows)}
        pieces = read_file(model / PIECES)
        inner = SentencePieces(pieces, pieces, json.dumps(known).encode("utf-8"), str(model))
    refuse_other_ids(described, inner, model / CONFIG, place)
    pattern = _CODES[place.name]
    ids = {found[1]: i for name, i in known.items() if (found := pattern.fullmatch(name))}
    ids = dict(sorted(ids.items(), key=lambda item: item[1]))
    return MultilingualPieces(inner, KnownLanguages(ids, source, target), str(model))


def language_tokens(model: Path, first: int) -> dict[str, int]:
    """Of an M2M-100, whose list of pieces has none: they have the ids from `first` on. Its
    tokenizer's tables name them, or the list that they are in.

    Raises DataError where none says so.
    """
    for name in (TOKENIZER_CONFIG, NAMED):
        held = read_json(model / name) if (model / name).exists() else {}
        for key in ("extra_special_tokens", "additional_special_tokens", "language_codes"):
            listed: Any = held.get(key)
            if key == "language_codes":
                listed = [f"__{code}__" for code in LANGUAGE_CODES.get(str(listed), "").split()]
            found = [token for token in listed or () if _CODES[LIST].fullmatch(str(token))]
            if found:
                return {token: first + i for i, token in enumerate(found)}
    raise DataError(
        f"the languages of an M2M-100 are named in its {TOKENIZER_CONFIG} or {NAMED}; {model} has "
        "none. Take both from a copy."
    )
