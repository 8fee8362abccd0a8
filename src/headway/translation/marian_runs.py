"""Runs from Marian models, such as OPUS-MT's: to be translated with, and to be gone on from."""

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headway.core import tensor_files
from headway.core.config import Sections
from headway.core.disk import checksum
from headway.core.errors import ConfigError, DataError
from headway.core.run_folder import RunFolder
from headway.core.subwords import Subwords
from headway.core.transformer import TransformerConfig
from headway.exchange.checkpoints import CONFIG, TOKENIZER_CONFIG, StoredWeights, read_json
from headway.exchange.marian import MarianConfig
from headway.exchange.marian_weights import BIAS, from_theirs
from headway.languages.codes import is_language
from headway.operations.shipped import only_writer_of_run, refuse_undecodable
from headway.runs.settings import Settings
from headway.runs.task_spec import Say
from headway.runs.train import write_record
from headway.tokenizers.sentencepieces import LIST, SOURCE, TARGET, SentencePieces
from headway.translation.spec import SPEC

PEAK = 3e-4
"""The learning rate that a run which goes on from it has a part of: Marian's usual one."""


@dataclass(frozen=True)
class ImportedModel:
    """Where a model is from: a `headway.runs.task_spec.Data` without examples."""

    vocabulary: Subwords
    checksums: dict[str, str]

    def record(self) -> dict[str, Any]:
        """What data.json says."""
        return {"imported": "marian"}

    def save_vocabulary(self, folder: RunFolder) -> None:
        """What the task reads it from."""
        self.vocabulary.save(folder.tokenizer)


def import_marian(model: Path, out: Path, say: Say, unit: str | None = None) -> RunFolder:
    """Make a finished run of a folder with a Marian model in `transformers`' format.

    Raises:
        DataError: a file is missing or damaged, or they do not go together.
        ConfigError: the model has something that cannot be held, or SentencePiece is missing.
        RunError: `out` is taken.
    """
    if unit:
        raise ConfigError(f"--unit is for ARPA files; got {unit!r} for marian. Leave it out.")
    refuse_undecodable(model.absolute())
    with only_writer_of_run(out, say) as folder:
        folder.refuse_taken()
        path = model / CONFIG
        described = MarianConfig.read(path)
        stored = StoredWeights.of_folder(model, "MarianMTModel")
        vocabulary = SentencePieces.of_folder(model)
        refuse_other_ids(described, vocabulary, path)
        config = described.as_transformer(path, output_bias=BIAS in stored.shapes)
        described.refuse_other_tensors(stored.shapes, config, stored.files[0])
        tensors = stored.load()
        described.refuse_other_values(tensors, stored.files[0])
        if described.all_one and not described.scale_embedding:
            say("its embeddings are not scaled: they and the output become matrices of their own")
        languages = languages_of(model / TOKENIZER_CONFIG)
        settings = Settings.of(sections(described, vocabulary, config, languages), SPEC)
        if vocabulary.codes:
            say(f"it writes several languages; --tag says which: {' '.join(vocabulary.codes)}")
        files = [path, *stored.files, *(model / name for name in (SOURCE, TARGET, LIST))]
        data = ImportedModel(vocabulary, {str(file): checksum(file) for file in files})
        write_record(folder, data, None)
        data.save_vocabulary(folder)
        folder.write_settings(settings.sections())
        scaled = described.scale_embedding
        tensor_files.save_tensors(from_theirs(tensors, config, scaled=scaled), folder.model)
        folder.write_card(card(folder, data, settings))
        folder.finish(settings.sections())
    return folder


def refuse_other_ids(described: MarianConfig, vocabulary: Subwords, path: Path) -> None:
    """Raise ConfigError where a config and a vocabulary are of two models."""
    special = vocabulary.special
    for name, value, own in (
        ("vocab_size", described.vocab_size, len(vocabulary)),
        ("pad_token_id", described.pad_token_id, special.padding),
        ("eos_token_id", described.eos_token_id, special.end),
    ):
        if value != own:
            raise ConfigError(
                f"config.json and {LIST} are of one model; {path} has {name} {value}, {LIST} {own}."
                " Put the files of one model together."
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


def card(folder: RunFolder, data: ImportedModel, settings: Settings) -> str:
    """README.md of an imported run."""
    files = "\n".join(f"- `{name}` (sha256 {sum_})" for name, sum_ in data.checksums.items())
    place, tags = shlex.quote(str(folder.path)), settings.data.tags
    tag = f" --tag {tags[0]}" if tags else ""
    source = settings.data.source_language or "source"
    target = settings.data.target_language or "target"
    return f"""# {source} -> {target}, imported from a Marian model

A Transformer of {len(data.vocabulary):,} sub-words; every setting is in `config.toml`. It was not
trained here and has not been scored here; its license and its makers are those of the files below.

{files}

## Use

```
echo 'a sentence' | headway translate {place}{tag}
headway train --init-from {place} --source MINE.{source} --target MINE.{target} --out NEW
headway export {place} --to ctranslate2 DIR
```
"""
