"""Runs from Marian models, such as OPUS-MT's: to be translated with, and to be gone on from."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from headway.core.config import Sections
from headway.core.errors import ConfigError, DataError
from headway.core.run_folder import RunFolder
from headway.core.subwords import Subwords
from headway.core.transformer import TransformerConfig
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
from headway.runs.imported import ImportedModel, ImportedRun, write_imported
from headway.runs.settings import Settings
from headway.tokenizers.sentencepieces import LIST, SOURCE, TARGET, SentencePieces
from headway.translation.spec import SPEC

PEAK = 3e-4
"""The learning rate that a run which goes on from it has a part of: Marian's usual one."""


def import_marian(model: Path, out: Path, say: Say) -> RunFolder:
    """Make a finished run of a folder with a Marian model in `transformers`' format.

    Raises:
        DataError: a file is missing or damaged, or they do not go together.
        ConfigError: the model has something that cannot be held, or SentencePiece is missing.
        RunError: `out` is taken.
    """

    def read(place: Path) -> ImportedRun:
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
        languages = languages_of(model / TOKENIZER_CONFIG)
        settings = Settings.of(sections(described, vocabulary, config, languages), SPEC)
        if vocabulary.codes:
            say(f"it writes several languages; --tag says which: {' '.join(vocabulary.codes)}")
        files = [path, *stored.files, *(model / name for name in (SOURCE, TARGET, LIST))]
        order = sines_first(described.d_model)
        weights = from_theirs(tensors, config, scaled=described.scale_embedding, order=order)
        data = ImportedModel.of("marian", vocabulary, files)
        source = settings.data.source_language or "source"
        target = settings.data.target_language or "target"
        title = f"{source} -> {target}, imported from a Marian model"
        return ImportedRun(
            data, settings, weights, title, use(place, source, target, vocabulary.codes)
        )

    return write_imported(model, out, say, read)


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


def sections(
    described: MarianConfig,
    vocabulary: SentencePieces,
    config: TransformerConfig,
    languages: dict[str, str],
) -> Sections:
    """What the run's config.toml says besides the defaults."""
    return {
        "run": {"task": SPEC.name},
        "text": {
            "algorithm": "sentencepiece",
            "vocabulary_size": len(vocabulary),
            "codes": "keep",
        },
        "data": {
            "max_length": described.max_position_embeddings - 1,
            "tags": vocabulary.codes,
            **languages,
        },
        "model": {"type": "transformer", **asdict(config)},
        "training": {"learning_rate": PEAK},
    }


def use(place: Path, source: str, target: str, tags: Sequence[str]) -> list[str]:
    """Commands for the card."""
    run, tag = shlex.quote(str(place)), f" --tag {tags[0]}" if tags else ""
    return [
        f"echo 'a sentence' | headway translate {run}{tag}",
        f"headway train --init-from {run} --source MINE.{source} --target MINE.{target} --out NEW",
        f"headway export {run} --to ctranslate2 DIR",
    ]
