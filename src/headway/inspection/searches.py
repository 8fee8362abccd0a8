"""The searches for one passage: what several parts of a document are made from."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch

from headway.core.hypothesis import length_limits
from headway.core.search_settings import DecodingSettings
from headway.inspection.beam_tree import Tree, grown
from headway.inspection.inspected_model import Passage, Subject, Writing


class Searches(NamedTuple):
    """Trees of the same passage, each of a search of its own."""

    writing: Writing
    beam: Tree
    """As the run translates, with a beam whatever its method. Of as many hypotheses as the beam is
    wide, so that the winner's rivals are finished too; the winner is the same."""
    greedy: Tree
    forced: Tree | None
    """As `beam`, of an output that is made to begin with some tokens; None where none are given."""

    @property
    def shown(self) -> Tree:
        """The one that a reader asked for."""
        return self.beam if self.forced is None else self.forced


def searches(subject: Subject, passage: Passage, begin: Sequence[int]) -> Searches:
    """Search with the settings of the run; where its task has none, with those of a new translator.

    A model of text alone may write as much beyond the passage as a translator beyond its source.
    """
    writing, settings = writing_of(subject, passage)
    wide = replace(settings, n_best=settings.beam)
    return Searches(
        writing,
        grown(writing, wide),
        grown(writing, replace(wide, beam=1, n_best=1)),
        grown(writing, wide, begin) if begin else None,
    )


def writing_of(subject: Subject, passage: Passage) -> tuple[Writing, DecodingSettings]:
    """A passage that is yet to be written, and how the run searches, with a beam in any case."""
    settings: DecodingSettings = subject.settings.decoding or DecodingSettings()
    read = torch.tensor([len(passage.source or passage.fed)])
    limit = int(length_limits(read, settings.max_extra_length, subject.model.longest))
    writing = Writing(subject.model, passage.source, subject.special, limit, subject.device)
    return writing, replace(settings, method="beam")
