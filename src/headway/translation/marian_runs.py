"""Runs from Marian models, such as OPUS-MT's: to be translated with, and to be gone on from."""

import shlex
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from headway.core.errors import ConfigError, DataError
from headway.core.subwords import Subwords
from headway.exchange.checkpoints import (
    CONFIG,
    TOKENIZER_CONFIG,
    UNSCALED,
    StoredWeights,
    read_json,
)
from headway.exchange.marian import MarianConfig, StoredTranslatorConfig
from headway.exchange.marian_weights import BIAS, from_theirs, sines_first
from headway.languages.codes import is_language
from headway.operations.locks import Say
from headway.runs.imported import ImportedRun, write_imported
from headway.tokenizers.sentencepieces import LIST, SOURCE, TARGET, SentencePieces
from headway.translation.spec import SPEC

PEAK = 3e-4
"""The learning rate that a run which goes on from it has a part of: Marian's usual one."""


def read(model: Path, place: Path, say: Say) -> ImportedRun:
    """A folder with a Marian; see `headway.runs.imported.write_imported`. Raises ConfigError, too,
    where SentencePiece is missing."""
    path = model / CONFIG
    described = MarianConfig.read(path)
    stored = StoredWeights.of_folder(model, "MarianMTModel")
    vocabulary = SentencePieces.of_folder(model)
    refuse_other_ids(described, vocabulary, path, model / LIST)
    config = described.as_transformer(path, output_bias=BIAS in stored.shapes)
    described.refuse_other_tensors(stored.shapes, config, stored.files[0])
    tensors = stored.load()
    described.refuse_other_values(tensors, stored.files[0])
    if described.tied != described.all_one:
        say(UNSCALED)
    languages, tags = languages_of(model / TOKENIZER_CONFIG), vocabulary.codes
    if tags:
        say(f"it writes several languages; --tag says which: {' '.join(tags)}")
    source, target = (languages.get(f"{side}_language", side) for side in ("source", "target"))
    longest, order = described.max_position_embeddings - 1, sines_first(described.d_model)
    run, tag = shlex.quote(str(place)), f" --tag {tags[0]}" if tags else ""
    return ImportedRun(
        "marian",
        SPEC,
        vocabulary,
        [path, *stored.files, *(model / name for name in (SOURCE, TARGET, LIST))],
        {
            "text": pieces_as_they_are(vocabulary),
            "data": {"max_length": longest, "tags": tags, **languages},
            "model": {"type": "transformer", **asdict(config)},
            "training": {"learning_rate": PEAK},
        },
        from_theirs(tensors, config, scaled=described.scale_embedding, order=order),
        f"{source} -> {target}, imported from a Marian model",
        [
            f"echo 'a sentence' | headway translate {run}{tag}",
            f"headway train --init-from {run} --source MINE.{source} --target MINE.{target} "
            "--out NEW",
            f"headway export {run} --to ctranslate2 DIR",
        ],
    )


import_marian = partial(write_imported, read)


def pieces_as_they_are(vocabulary: Subwords) -> dict[str, Any]:
    """[text] of a run whose vocabulary was made elsewhere."""
    return {"algorithm": "sentencepiece", "vocabulary_size": len(vocabulary), "codes": "keep"}


def refuse_other_ids(
    described: StoredTranslatorConfig, vocabulary: Subwords, path: Path, listed: Path
) -> None:
    """Raise ConfigError where a config, read from `path`, and a vocabulary, which the file `listed`
    has, are of two models."""
    special = vocabulary.special
    for name, own in (
        ("vocab_size", len(vocabulary)),
        ("pad_token_id", special.padding),
        ("eos_token_id", special.end),
    ):
        if (value := getattr(described, name)) != own:
            raise ConfigError(
                f"{path.name} and {listed.name} are of one model; {path} has {name} {value}, "
                f"{listed} {own}. Put the files of one model together."
            )


def languages_of(path: Path) -> dict[str, str]:
    """From which language into which, where tokenizer_config.json says it."""
    try:
        values = read_json(path)
    except DataError:
        return {}
    found = {side: values.get(f"{side}_lang") for side in ("source", "target")}
    return {
        f"{side}_language": code
        for side, code in found.items()
        if isinstance(code, str) and is_language(code)
    }
