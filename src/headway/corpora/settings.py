"""What is said of a corpus: which pairs are used, and how text becomes ids."""

from dataclasses import dataclass, fields
from typing import Literal

from headway.core.cleaning import CleaningSettings, Pair
from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.subwords import TextSettings
from headway.localization.placeholders.own_codes import OwnPattern, compiled
from headway.tokenizers.learners import Algorithm

_MOST = {"max_ratio": 1e9, "max_characters": 1 << 30, "max_length": 1 << 24, "workers": 1 << 10}


@dataclass(frozen=True)
class NotedCleaning(CleaningSettings):
    """Which pairs are refused, also by what is noted of them."""

    skip_notes: tuple[str, ...] = ()
    """Words of translators' notes for which a pair is dropped; see `headway.corpora.remarks`."""

    def judge(self, pair: Pair) -> tuple[Pair, str]:
        """A pair with what its notes say against it, and whether it is dropped for one."""
        from headway.corpora.remarks import doubt, held  # a side room

        doubted = doubt(pair.remarks)
        noted = held(pair.remarks, self.skip_notes, doubted)
        return pair._replace(remarks=(doubted,) if doubted else ()), "noted" if noted else ""


@dataclass(frozen=True)
class DataSettings(NotedCleaning):
    """Section [data]: which pairs are used."""

    max_length: int = 256
    """The longest side of a pair that is kept, in sub-words without markers; 0 for any."""
    workers: int = 0
    """Processes that clean and encode a large corpus, with the same result; 0: one for a core."""

    def __post_init__(self) -> None:
        """Raise ConfigError for a value that no pair could satisfy."""
        super().__post_init__()
        refuse_beyond(self, _MOST, above="data.")
        if self.max_length < 0:
            raise ConfigError(
                f"data.max_length is 0 (any) or more; got {self.max_length}. Try 256."
            )
        if self.workers < 0:
            raise ConfigError(
                f"data.workers is 0 (one for each core) or more; got {self.workers}. Try 0."
            )

    def cleaning(self) -> NotedCleaning:
        names = [field.name for field in fields(NotedCleaning)]
        return NotedCleaning(**{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class TranslationText(TextSettings):
    """Section [text]: how text becomes ids."""

    algorithm: Algorithm = "bpe"
    """`bpe` (byte-level: any text), `wordpiece` (some is unknown), or imported `sentencepiece`."""
    sample_lines: int = 1_000_000
    """The sub-words are learned from at most so many lines, drawn at random."""
    codes: Literal["auto", "mask", "keep"] = "auto"
    """Tags, placeholders and other codes: `mask` (each is one symbol to the model, and put back
    into what it writes), `keep` (text like any other), or `auto`, which looks at the corpus."""
    own_codes: tuple[str, ...] = ()
    """Regular expressions of what is a code besides: see
    `headway.localization.placeholders.own_codes`."""

    def __post_init__(self) -> None:
        """Raise ConfigError for sizes that no vocabulary has, and for what is no pattern."""
        super().__post_init__()
        refuse_below(self, {"sample_lines": 1}, above="text.")
        self.patterns()

    def patterns(self) -> tuple[OwnPattern, ...]:
        """`own_codes`, ready for use; raises ConfigError where one cannot be."""
        return compiled(self.own_codes) if self.own_codes else ()
