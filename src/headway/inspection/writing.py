"""One text to be written by one model: what the views of decoding share."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from headway.decoding.hypothesis import Rules
from headway.decoding.settings import DecodingSettings
from headway.inspection.subject import Subject
from headway.models.interfaces import State, StepDecoder
from headway.text.subwords import SpecialIds


class Writing(NamedTuple):
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


def text_of(subject: Subject, ids: Sequence[int], names: Mapping[str, str]) -> str:
    """The text of ids, with codes in the place of what stands for them."""
    text: str = subject.vocabulary.decode(ids)
    for placeholder, code in names.items():
        text = text.replace(placeholder, code)
    return text


def finite(value: float) -> float | None:
    """A number for a document, which knows no infinite ones: None stands for these."""
    return round(value, 6) if math.isfinite(value) else None
