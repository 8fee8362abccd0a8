"""All settings of a translation run: the sections of its config.toml as checked dataclasses."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headway.config import Sections, build
from headway.data.prepared import DataSettings
from headway.decoding.settings import DecodingSettings
from headway.errors import ConfigError
from headway.models import MODELS
from headway.runtime import RuntimeSettings
from headway.text.corpora import Corpus
from headway.text.mixing import PLAIN, parse_pairs_file
from headway.text.subwords import TextSettings
from headway.training.settings import TrainingSettings


@dataclass(frozen=True)
class TranslationData(DataSettings):
    """Section [data]: which files, and which of their pairs."""

    source: tuple[Path, ...] = ()
    target: tuple[Path, ...] = ()
    pairs: tuple[str, ...] = ()
    """Each `PATH[@WEIGHT][:key=value ...]`; see `headway.text.mixing`."""
    valid_source: tuple[Path, ...] = ()
    valid_target: tuple[Path, ...] = ()
    valid_pairs: tuple[str, ...] = ()
    """The same without weights."""
    valid_size: int = 0
    """Pairs held out for validation when no files are given for it; 0 fits it to the corpus."""
    source_language: str | None = None
    target_language: str | None = None
    tags: tuple[str, ...] = ()
    """Every tag that the model has read, its parent's too; empty text stands for none. Filled in,
    where there are any."""

    def corpus(self) -> Corpus:
        """The files to train on; raises ConfigError where it is not clear which."""
        return self._corpus(self.source, self.target, self.pairs)

    def validation(self) -> Corpus | None:
        """The files to validate on, if any are named.

        Raises:
            ConfigError: it is not clear which, or one of them has a weight.
        """
        if not (self.valid_source or self.valid_target or self.valid_pairs):
            return None
        corpus = self._corpus(self.valid_source, self.valid_target, self.valid_pairs)
        for text, use in zip(self.valid_pairs, corpus.uses, strict=True):
            if use.weight != PLAIN.weight:
                raise ConfigError(
                    "every validation pair is scored once, whatever the weights in training; got "
                    f"--valid-pairs {text}. Leave @{use.weight:g} out."
                )
        return corpus

    def _corpus(
        self, source: tuple[Path, ...], target: tuple[Path, ...], pairs: tuple[str, ...]
    ) -> Corpus:
        parsed = [parse_pairs_file(text) for text in pairs]
        return Corpus(
            source,
            target,
            tuple(path for path, _ in parsed),
            self.source_language,
            self.target_language,
            tuple(use for _, use in parsed),
        )


@dataclass(frozen=True)
class Settings:
    """One dataclass a section; `model` is the config of whichever type was chosen."""

    text: TextSettings
    data: TranslationData
    model_type: str
    model: Any
    training: TrainingSettings
    decoding: DecodingSettings
    runtime: RuntimeSettings

    @classmethod
    def of(cls, sections: Mapping[str, Mapping[str, Any]]) -> "Settings":
        """Check every section; raises ConfigError for what is unknown or does not fit."""
        model = dict(sections.get("model", {}))
        model_type = str(model.pop("type", "transformer"))
        text = dict(sections.get("text", {}))
        if text.get("unit") == "subwords":  # written by the versions that knew this key
            del text["unit"]
        if model_type not in MODELS:
            raise ConfigError(
                f"[model] type must be one of {', '.join(MODELS)}; got {model_type!r}."
            )
        return cls(
            text=build(TextSettings, text, section="text"),
            data=build(TranslationData, sections.get("data", {}), section="data"),
            model_type=model_type,
            model=build(MODELS[model_type][0], model, section="model"),
            training=build(TrainingSettings, sections.get("training", {}), section="training"),
            decoding=build(DecodingSettings, sections.get("decoding", {}), section="decoding"),
            runtime=build(RuntimeSettings, sections.get("runtime", {}), section="runtime"),
        )

    def sections(self) -> Sections:
        """As written to config.toml."""
        return {
            "text": asdict(self.text),
            "data": asdict(self.data),
            "model": {"type": self.model_type, **asdict(self.model)},
            "training": asdict(self.training),
            "decoding": asdict(self.decoding),
            "runtime": asdict(self.runtime),
        }
