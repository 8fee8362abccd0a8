"""One text in one model, looked at once: what the parts of a page share is computed once."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from headway.inspection.inspected_model import InspectedModel, Passage
from headway.inspection.searches import (
    DecodingStep,
    Searches,
    decoding_steps_of,
    searches,
    writing_of,
)

ROOM = 1_000_000
"""Bytes of exact numbers of one text on a page, before base64 makes them a third larger."""


def room_of_each(n_texts: int) -> int:
    """The same of each of several texts on one page, which together have room for three."""
    return min(ROOM, 3 * ROOM // n_texts)


class Intervention(NamedTuple):
    """What a reader would have otherwise."""

    off: Sequence[str] = ()
    """Parts of the model that are switched off; see `headway.inspection.ablation`."""
    force: Sequence[str] = ()
    """Words that are written; see `headway.inspection.forced_decoding`."""
    follows_target: bool = False
    """Whether the target was given, and is followed without these parts too."""


class PassageAnalysis:
    """A passage on its way through a model."""

    def __init__(
        self,
        inspected: InspectedModel,
        passage: Passage,
        begin: Sequence[int] = (),
        change: Intervention = Intervention(),  # noqa: B008  # it cannot change
        room: int | None = ROOM,
    ) -> None:
        """`begin`: ids that an output is to begin with, beside what is written freely; `change` is
        for the part that shows one; `room` is how many bytes of exact numbers are shown, None for
        all."""
        self.inspected, self.passage, self.begin, self.change = inspected, passage, begin, change
        self.room = room

    @cached_property
    def course(self) -> list[DecodingStep]:
        """The target step by step, as the model writes: every model that generates has this."""
        return decoding_steps_of(
            writing_of(self.inspected, self.passage)[0], self.passage.target_ids
        )

    @cached_property
    def searches(self) -> Searches:
        """What is searched for the passage."""
        return searches(self.inspected, self.passage, self.begin)

    @cached_property
    def traced(self) -> Any:
        """One pass, looked at; see `headway.inspection.tracing`."""
        from headway.inspection.tracing import traced  # a side room: not every part asks for it

        return traced(self.inspected.model, self.passage.source, self.passage.fed)

    @property
    def trace(self) -> dict[str, np.ndarray]:
        """Every tensor of one pass by name. A model that counts has none."""
        return self.traced.tensors if [*self.inspected.model.parameters()] else {}
