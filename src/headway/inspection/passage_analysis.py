"""One text in one model, looked at once: its searches and its way step by step, which several parts
of a page are made from."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from headway.core.hypothesis import DecodingSettings, diverged, length_limits
from headway.inspection.beam_tree import Tree, search_tree
from headway.inspection.inspected_model import DecodingInput, InspectedModel, Passage


class Searches(NamedTuple):
    """Trees of the same passage, each of a search of its own."""

    writing: DecodingInput
    beam: Tree
    """As the run translates, with a beam whatever its method. Of as many hypotheses as the beam is
    wide, so that the winner's rivals are finished too; the winner is the same."""
    greedy: Tree


def writing_of(
    inspected: InspectedModel, passage: Passage
) -> tuple[DecodingInput, DecodingSettings]:
    """A passage that is yet to be written, and how the run searches, with a beam in any case."""
    settings: DecodingSettings = inspected.settings.decoding or DecodingSettings()
    read = torch.tensor([len(passage.source or passage.fed)])
    limit = int(length_limits(read, settings.max_extra_length, inspected.model.longest))
    writing = DecodingInput(
        inspected.model, passage.source, inspected.special, limit, inspected.device
    )
    return writing, replace(settings, method="beam")


N_LIKELIEST = 10


class DecodingStep(NamedTuple):
    """One step of an output."""

    fed: int
    """The begin marker at step 0, then what was taken at the step before."""
    taken: int
    """The output's next token; at the last step the end marker."""
    log_prob: float
    """Of what was taken, in nats."""
    rank: int
    """Of what was taken, from 1; among equals the lower id comes first."""
    entropy: float
    """Of the distribution over the whole vocabulary, in nats."""
    likeliest: list[tuple[int, float]]
    """Tokens of the whole vocabulary with their probabilities, likeliest first."""
    attention: Float[np.ndarray, " source"] | None
    """Weights on the source; None from a model that gives none."""


@torch.no_grad()
def decoding_steps_of(writing: DecodingInput, ids: Sequence[int]) -> list[DecodingStep]:
    """What the decoder makes of each step of an output (ids without markers) that is fed to it.

    An output that the model wrote by itself was fed to it in the same way: this is what search saw.
    Raises HeadwayError for a model that gives no numbers.
    """
    state, last = writing.started()
    found = []
    for token in [*ids, writing.special.end]:
        logits, state, attention = writing.decoder.step(state, last, want_attention=True)
        log_probs = logits[0].double().log_softmax(-1)
        if log_probs.isnan().any():
            raise diverged()
        # Rare words may have no logit of their own: they are foretold as the unknown one.
        foretold = token if token < len(log_probs) else writing.special.unknown
        order = log_probs.argsort(descending=True, stable=True)
        probabilities = log_probs.exp()
        top = order[:N_LIKELIEST]
        found.append(
            DecodingStep(
                fed=int(last),
                taken=token,
                log_prob=float(log_probs[foretold]),
                rank=1 + int((order == foretold).nonzero()),
                entropy=float(torch.special.entr(probabilities).sum()),
                likeliest=list(zip(top.tolist(), probabilities[top].tolist(), strict=True)),
                attention=None if attention is None else attention[0].float().cpu().numpy(),
            )
        )
        last = writing.row(token)
    return found


ROOM = 1_000_000
"""Bytes of exact numbers of one text on a page, before base64 makes them a third larger."""


def room_of_each(n_texts: int) -> int:
    """The same of each of several texts on one page, which together have room for three."""
    return min(ROOM, 3 * ROOM // n_texts)


class PassageAnalysis:
    """A passage on its way through a model."""

    def __init__(
        self,
        inspected: InspectedModel,
        passage: Passage,
        *,
        off: Sequence[str] = (),
        follows_target: bool = False,
        room: int | None = ROOM,
    ) -> None:
        """`off`: parts without which a reader would see the output too (`ablation.py`), of the
        target itself if it was given (`follows_target`). `room` is how many bytes of exact numbers
        are shown, None for all."""
        self.inspected, self.passage, self.room = inspected, passage, room
        self.off, self.follows_target = list(off), follows_target

    def shown(self, ids: Sequence[int]) -> list[str]:
        """Pieces as a reader would write them."""
        return self.inspected.shown(ids, self.passage.names)

    def spelled(self, ids: Iterable[int]) -> dict[str, str]:
        """The same by id, each once, as JSON has names."""
        used = sorted({*ids})
        return {str(one): piece for one, piece in zip(used, self.shown(used), strict=True)}

    @cached_property
    def course(self) -> list[DecodingStep]:
        """The target step by step, as the model writes: every model that generates has this."""
        return decoding_steps_of(
            writing_of(self.inspected, self.passage)[0], self.passage.target_ids
        )

    @cached_property
    def searches(self) -> Searches:
        """With the settings of the run; where its task has none, with those of a new translator.

        A model of text alone may write as much beyond the passage as a translator beyond its
        source.
        """
        writing, settings = writing_of(self.inspected, self.passage)
        wide = replace(settings, n_best=settings.beam)
        return Searches(
            writing,
            search_tree(writing, wide),
            search_tree(writing, replace(wide, beam=1, n_best=1)),
        )

    @cached_property
    def traced(self) -> Any:
        """One pass, looked at; see `headway.inspection.tracing`."""
        from headway.inspection.tracing import traced  # a side room: not every part asks for it

        return traced(self.inspected.model, self.passage.source, self.passage.fed)

    @property
    def trace(self) -> dict[str, np.ndarray]:
        """Every tensor of one pass by name. A model that counts has none."""
        return self.traced.tensors if [*self.inspected.model.parameters()] else {}
