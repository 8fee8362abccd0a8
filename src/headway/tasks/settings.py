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
from headway.text.subwords import TextSettings
from headway.training.settings import TrainingSettings


@dataclass(frozen=True)
class TranslationData(DataSettings):
    """Section [data]: which files, and which of their pairs."""

    source: tuple[Path, ...] = ()
    target: tuple[Path, ...] = ()
    pairs: tuple[Path, ...] = ()
    valid_source: tuple[Path, ...] = ()
    valid_target: tuple[Path, ...] = ()
    valid_pairs: tuple[Path, ...] = ()
    valid_size: int = 0
    """Pairs held out for validation when no files are given for it; 0 fits it to the corpus."""
    source_language: str | None = None
    target_language: str | None = None

    def corpus(self) -> Corpus:
        """The files to train on."""
        return Corpus(
            self.source, self.target, self.pairs, self.source_language, self.target_language
        )

    def validation(self) -> Corpus | None:
        """The files to validate on, if any are named."""
        if not (self.valid_source or self.valid_target or self.valid_pairs):
            return None
        return Corpus(
            self.valid_source,
            self.valid_target,
            self.valid_pairs,
            self.source_language,
            self.target_language,
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
        if model_type not in MODELS:
            raise ConfigError(
                f"[model] type must be one of {', '.join(MODELS)}; got {model_type!r}."
            )
        return cls(
            text=build(TextSettings, sections.get("text", {}), section="text"),
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
