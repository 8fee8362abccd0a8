"""The tree of a beam search: every hypothesis that was kept, pruned or finished.

It is the search that translates, which is told by `choose` what to keep: just what it would keep.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from headway.core.beam import Chosen, beam_search
from headway.core.hypothesis import DecodingSettings, Hypothesis, Rules, diverged, penalty
from headway.decoding.ranking import chunked_best
from headway.inspection.inspected_model import DecodingInput

Fate = Literal["kept", "pruned", "finished", "open"]
"""`kept`: in the beam, and continued. `pruned`: considered, and never in the beam. `finished`: it
ends in the end marker. `open`: in the beam when the search ended, as it could not be among the best
any more."""

ROOT = -1
MOST_PRUNED = 10
"""So many of a step's continuations that were not kept are noted, or as many as the beam keeps."""


class Node(NamedTuple):
    """A hypothesis: its parent's tokens, and one more."""

    parent: int
    """Its place in the tree's list; `ROOT` for nothing written."""
    depth: int
    """Its tokens, the end marker included."""
    token: int
    log_prob: float
    """Of this token, given those before it, in nats."""
    total: float
    """Of all its tokens."""
    rank: int
    """Among all continuations of its step by `total`, from 1."""
    fate: Fate


@dataclass(frozen=True)
class Tree:
    """All that a search for one text looked at."""

    nodes: list[Node]
    """In the order of the steps, and in each step the best first."""
    found: list[Hypothesis]
    """What the search gave: its `n_best`."""
    finished: list[int]
    """Every finished node, best score first; those of `found` lead."""
    rules: Rules

    def score(self, node: Node) -> float:
        """Log-probability over length penalty; of an unfinished one, if it ended here."""
        return float(node.total / penalty(node.depth, self.rules.settings.length_penalty))

    def path(self, place: int) -> list[int]:
        """The places of a hypothesis's nodes, first token first."""
        return path_of(self.nodes, place)

    def ids(self, place: int) -> list[int]:
        """A hypothesis's tokens, without the end marker."""
        tokens = [self.nodes[one].token for one in self.path(place)]
        return tokens[:-1] if tokens[-1:] == [self.rules.end] else tokens

    def along(self, tokens: Sequence[int]) -> list[int]:
        """The places of the nodes on the way of these tokens, as far as the search saw it."""
        below = {(node.parent, node.token): place for place, node in enumerate(self.nodes)}
        places: list[int] = []
        for token in tokens:
            place = below.get((places[-1] if places else ROOT, token))
            if place is None:
                break
            places.append(place)
        return places


def path_of(nodes: Sequence[Node], place: int) -> list[int]:
    """The places of a hypothesis's nodes, first token first."""
    places = []
    while place != ROOT:
        places.append(place)
        place = nodes[place].parent
    return places[::-1]


@torch.no_grad()
def search_tree(writing: DecodingInput, settings: DecodingSettings) -> Tree:
    """The tree of the search that `settings` ask for, as a beam whatever their method.

    Raises HeadwayError for a model that gives no numbers.
    """
    rules = writing.rules(settings)
    notes = _Notes(rules)
    found = beam_search(writing.decoder, *writing.started(), rules, notes.choose)[0]
    if not found:
        raise diverged()
    nodes = notes.read()
    ended = [place for place, node in enumerate(nodes) if node.fate == "finished"]
    tree = Tree(nodes, found, ended, rules)
    lead = [tree.along([*one.ids, rules.end])[-1] for one in found]
    rest = sorted(set(ended) - set(lead), key=lambda place: -tree.score(nodes[place]))
    return replace(tree, finished=lead + rest)


class _Notes:
    """Chooses as beam search does, and notes what it had to choose from; for one text."""

    def __init__(self, rules: Rules) -> None:
        self.end = rules.end
        self.nodes: list[Node] = []
        self.beam = [ROOT]
        """For each row of the search the node that it continues."""
        self.n_steps = 0

    def choose(
        self,
        scores: Float[Tensor, "rows tokens"],
        before: Float[Tensor, "1 rows"],
        count: int,
    ) -> Chosen:
        """As `headway.core.beam.best`."""
        chosen = chunked_best(scores, before, count)
        considered = (
            chunked_best(scores, before, count + min(count, MOST_PRUNED))[1].flatten().tolist()
        )
        kept = chosen[1].flatten().tolist()
        sums = (before.view(-1, 1) + scores).flatten()
        self.n_steps += 1
        beam = [self._noted(scores, sums, at, "kept") for at in kept]
        for at in considered:
            if at not in kept:
                self._noted(scores, sums, at, "pruned")
        self.beam = beam
        return chosen

    def _noted(
        self,
        scores: Float[Tensor, "rows tokens"],
        sums: Float[Tensor, " places"],
        at: int,
        fate: Fate,
    ) -> int:
        """The place of a continuation among the nodes; `ROOT` for one that cannot be written."""
        if sums[at] == -torch.inf:
            return ROOT
        row, token = divmod(at, scores.shape[1])
        parent, log_prob = self.beam[row], scores[row, token].item()
        rank = 1 + int((sums > sums[at]).sum() + (sums[:at] == sums[at]).sum())
        total = log_prob + (self.nodes[parent].total if parent != ROOT else 0.0)
        if fate == "kept" and token == self.end:
            before = [self.nodes[one].log_prob for one in path_of(self.nodes, parent)]
            fate, total = "finished", sum([*before, log_prob])  # as search adds
        self.nodes.append(Node(parent, self.n_steps, token, log_prob, total, rank, fate))
        return len(self.nodes) - 1

    def read(self) -> list[Node]:
        """All nodes, once the search has ended: what it last kept is then open."""
        return [
            node._replace(fate="open")
            if node.fate == "kept" and node.depth == self.n_steps
            else node
            for node in self.nodes
        ]
