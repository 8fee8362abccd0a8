"""What may be set for translation alone: files and pairs, and how its training ends."""

from dataclasses import dataclass
from pathlib import Path

from headway.data.prepared import DataSettings
from headway.errors import ConfigError
from headway.text.corpora import Corpus
from headway.text.mixing import PLAIN, parse_pairs_file
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
class TranslationTraining(TrainingSettings):
    """Section [training]."""

    tune_length_penalty: bool = True
    """Whether decoding.length_penalty is chosen on validation sentences at the end; never where it
    was set."""
    valid_sentences: int = 1000
    """How many validation sentences are translated at each checkpoint."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.valid_sentences < 1:
            raise ConfigError(f"valid_sentences must be at least 1; got {self.valid_sentences}.")
