"""The beam tree as a part of a document, and why its winner won."""

from dataclasses import replace
from typing import Any

from headway.core.hypothesis import Hypothesis, penalty
from headway.inspection.beam_tree import Tree, search_tree
from headway.inspection.inspected_model import Writing, finite, text_of
from headway.inspection.passage_analysis import PassageAnalysis


def beams(analysis: PassageAnalysis) -> dict[str, Any]:
    """The tree of the run's beam search for the passage; where something is forced, of one
    that begins so.

    Columns of `nodes` are in the order of
    `headway.inspection.beam_tree.Tree.nodes`; a score is `total` over the depth's penalty.
    """
    inspected, passage = analysis.inspected, analysis.passage
    writing, tree = analysis.searches.writing, analysis.searches.shown
    settings = tree.rules.settings
    used = sorted({node.token for node in tree.nodes})
    deepest = max(node.depth for node in tree.nodes)
    spelled = zip(used, inspected.shown(used, passage.names), strict=True)

    def shown(hypothesis: Hypothesis) -> dict[str, Any]:
        divisor = penalty(len(hypothesis.ids) + 1, settings.length_penalty)
        return {
            "node": tree.along([*hypothesis.ids, inspected.special.end])[-1],
            "text": text_of(inspected, hypothesis.ids, passage.names),
            "n_tokens": len(hypothesis.ids) + 1,
            "log_prob": finite(hypothesis.log_prob),
            "penalty": finite(float(divisor)),
            "score": finite(hypothesis.log_prob / float(divisor)),
            "wins": hypothesis.ids == tree.found[0].ids,
        }

    return {
        "beam": settings.beam,
        "length_penalty": settings.length_penalty,
        "limit": writing.limit,
        "begin": list(analysis.begin),
        "pieces": {str(one): piece for one, piece in spelled},
        "penalties": [
            finite(float(penalty(depth, settings.length_penalty)))
            for depth in range(1, deepest + 1)
        ],
        "nodes": _columns(tree),
        "finished": tree.finished,
        "found": [shown(one) for one in tree.found],
        "rivals": {name: shown(one) for name, one in _rivals(writing, tree).items()},
    }


def _columns(tree: Tree) -> dict[str, Any]:
    return {
        "parent": [node.parent for node in tree.nodes],
        "token": [node.token for node in tree.nodes],
        "log_prob": [finite(node.log_prob) for node in tree.nodes],
        "total": [finite(node.total) for node in tree.nodes],
        "rank": [node.rank for node in tree.nodes],
        "fate": "".join(node.fate[0] for node in tree.nodes),
    }


def _rivals(writing: Writing, tree: Tree) -> dict[str, Hypothesis]:
    """What greedy search would have given, and the same beam without length penalty."""
    settings, forced = tree.rules.settings, tree.forced
    others = {
        "greedy": replace(settings, beam=1, n_best=1),
        "unpenalized": replace(settings, length_penalty=0.0, n_best=1),
    }
    return {name: search_tree(writing, one, forced).found[0] for name, one in others.items()}
