"""What is looked at: a run's model and how text becomes what it is fed, whatever its task.

And one text to be written by it: what the views of decoding share.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings, Rules
from headway.core.interfaces import State, StepDecoder
from headway.core.runtime import Device
from headway.core.subwords import SpecialIds
from headway.operations.argument_types import refuse_no_unicode
from headway.runs.settings import Settings
from headway.tasks import brought_by_run


class Passage(NamedTuple):
    """One text on its way through one model, in ids."""

    text: str
    """What was given to be translated; the text itself under a language model."""
    target: str
    """What is written, or followed as if it were; the text itself under a language model."""
    source: list[int]
    """What an encoder reads, the end marker included; none under a language model."""
    fed: list[int]
    """What the decoder is fed: the begin marker, then the target."""
    names: Mapping[str, str] = MappingProxyType({})
    """What stands for a code in the text, and the code."""
    left_out: int = 0
    """Characters behind the text: it was longer than is read at once."""

    @property
    def target_ids(self) -> list[int]:
        """What is written, without markers."""
        return self.fed[1:]


class Examples(NamedTuple):
    """Texts that a run may be looked at with."""

    files: Sequence[Path]
    """The run's, that they are of."""
    texts: Iterator[str]


@dataclass(frozen=True)
class InspectedModel:
    """A run, opened to be looked into."""

    run: Path
    task: str
    settings: Settings
    model: Any
    """A `headway.core.interfaces.StepDecoder`; most can more."""
    vocabulary: Any
    device: torch.device
    write: Callable[[str], str]
    """The model's own target of a text."""
    passage: Callable[[str, str], Passage]
    """A text and its target as ids."""
    longest: int | None
    """Tokens of a source that are read at once, the end marker included; None for all."""
    used: Any
    """The `Translator` or `TrainedLanguageModel` that the run is used by."""
    examples: Callable[[], Examples]
    """Texts of the run's own files."""
    reads_source: bool = False
    """Whether there is a text that is translated, besides the one that is written."""
    whole_words: bool = False
    """Tokens are whole words, with white space between them."""

    @property
    def name(self) -> str:
        """Of the run's folder."""
        return self.run.resolve().name

    @property
    def special(self) -> SpecialIds:
        """The vocabulary's markers."""
        special: SpecialIds = self.vocabulary.special
        return special

    def shown(self, ids: Sequence[int], names: Mapping[str, str]) -> list[str]:
        """The pieces as a reader would write them, codes in the place of what stands for them."""
        return [names.get(piece, piece) for piece in self.pieces(ids)]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The pieces as they stand in a text: `▁` is the space before a word, whole ones too."""
        pieces: list[str] = self.vocabulary.pieces(ids)
        if not self.whole_words:
            return pieces
        markers = (self.special.padding, self.special.begin, self.special.end)
        spaces = ["" if one in markers else "▁" for one in ids]
        return [space + piece for space, piece in zip(spaces, pieces, strict=True)]

    def fitting(self, text: str) -> int:
        """How many characters of a text are read at once."""
        if self.longest is None or len(self.passage(text, "").source) <= self.longest:
            return len(text)

        def tokens(n: int) -> int:
            return len(self.passage(text[:n], "").source)

        return bisect_right(range(len(text)), self.longest, key=tokens) - 1

    def passage_of(self, text: str, target: str | None = None) -> Passage:
        """A text with the target that is forced, or with the model's own; of a source that is too
        long the beginning.

        Raises ConfigError for a text without a sub-word, for one that is no Unicode, and for one
        longer than the model reads.
        """
        refuse_no_unicode(text, target or "")
        if not text.strip():
            raise ConfigError('There is nothing to look at in an empty text. Try "The dog runs."')
        read = text[: self.fitting(text)]
        passage = self.passage(read, self.write(read) if target is None else target)
        passage = passage._replace(left_out=len(text) - len(read))
        longest = self.model.longest
        if longest is not None and max(len(passage.source), len(passage.fed)) > longest:
            raise ConfigError(
                f"this model reads at most {longest:,} tokens at once; got "
                f"{max(len(passage.source), len(passage.fed)):,}. Give a shorter text."
            )
        return passage


def open_inspected(
    run: str | Path, *, device: Device = "auto", tag: str | None = None
) -> InspectedModel:
    """Open a run of a task that can be looked into; `tag` is one of the run's tags, if it has any.

    Raises RunError where there is none, or its task cannot be looked into.
    """
    inspected: InspectedModel = brought_by_run(run, "inspect")(Path(run), device, tag)
    return inspected


class DecodingInput(NamedTuple):
    """What is to be written, and what writes it."""

    decoder: StepDecoder
    source: Sequence[int]
    """What an encoder reads, the end marker included; nothing under a model of text alone."""
    special: SpecialIds
    limit: int
    """Tokens that it may have before its end marker."""
    device: torch.device

    def started(self) -> tuple[State, Int[Tensor, "1"]]:
        """The decoder's state before anything is written, and what is fed first."""
        source = torch.tensor([self.source], device=self.device) if self.source else None
        return self.decoder.start(source), self.row(self.special.decoder_begin)

    def row(self, token: int) -> Int[Tensor, "1"]:
        """A token to be fed."""
        return torch.tensor([token], device=self.device)

    def rules(self, settings: DecodingSettings) -> Rules:
        """What a search for it obeys, as a translation's does."""
        return Rules(settings, self.special.end, self.row(self.limit), self.special.unwritten)


def text_of(inspected: InspectedModel, ids: Sequence[int], names: Mapping[str, str]) -> str:
    """The text of ids, with codes in the place of what stands for them."""
    text: str = inspected.vocabulary.decode(ids)
    for placeholder, code in names.items():
        text = text.replace(placeholder, code)
    return text


def finite(value: float) -> float | None:
    """A number for a document, which knows no infinite ones: None stands for these."""
    return round(value, 6) if math.isfinite(value) else None
