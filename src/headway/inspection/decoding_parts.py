"""What is written, as three parts of a document: its tokens on both sides, its decoding step by
step, and the beam tree with why its winner won."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from headway.core.hypothesis import Hypothesis, penalty
from headway.inspection.attention_maps import in_steps
from headway.inspection.beam_tree import Tree, search_tree
from headway.inspection.html_page import packed
from headway.inspection.inspected_model import InspectedModel, finite, text_of
from headway.inspection.passage_analysis import DecodingStep, PassageAnalysis, decoding_steps_of
from headway.inspection.word_merging import words_of

_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


def tokens(analysis: PassageAnalysis) -> dict[str, Any]:
    """Both sides token by token; of those that are written also their probabilities.

    `log_prob` is in nats, `rank` counts from 1, `entropy` (nats) is of the distribution from which
    the token was taken, over the whole vocabulary; `top` has its likeliest tokens.
    """
    inspected, passage = analysis.inspected, analysis.passage
    target = _tokens(inspected, [seen.taken for seen in analysis.course], passage.names)
    for token, seen in zip(target, analysis.course, strict=True):
        ids, probabilities = zip(*seen.likeliest, strict=True)
        pieces = analysis.shown(ids)
        token |= {"log_prob": round(seen.log_prob, 6), "rank": seen.rank}
        token["entropy"] = round(seen.entropy, 6)
        token["top"] = [
            {"id": one, "piece": piece, "prob": float(f"{probability:.6g}")}
            for one, piece, probability in zip(ids, pieces, probabilities, strict=True)
        ]
    return {
        "source": _tokens(inspected, passage.source, passage.names),
        "fed": _tokens(inspected, passage.fed[:1], {})[0],
        "target": target,
        "log_prob": round(sum(seen.log_prob for seen in analysis.course), 6),
        "vocabulary": len(inspected.vocabulary),
    }


def _tokens(
    inspected: InspectedModel, ids: Sequence[int], names: Mapping[str, str]
) -> list[dict[str, Any]]:
    pieces = inspected.pieces(ids)
    words = words_of(pieces)
    word = {i: number for number, group in enumerate(words.groups) for i in group}
    return [
        {
            "id": int(one),
            "piece": names.get(piece, piece),
            "kind": _kind(inspected, one, piece, names),
            "word": word[i],
        }
        for i, (one, piece) in enumerate(zip(ids, pieces, strict=True))
    ]


def _kind(inspected: InspectedModel, one: int, piece: str, names: Mapping[str, str]) -> str:
    special = inspected.special
    if one == special.unknown:
        return "unknown"
    if one in (special.padding, special.begin, special.end):
        return "marker"
    if piece in names:
        return "code"
    return "byte" if _BYTE.fullmatch(piece) else "word"


def parting(one: Sequence[DecodingStep], other: Sequence[DecodingStep]) -> int | None:
    """The first step at which they take different tokens; None where they are the same."""
    pairs = zip(one, other, strict=False)
    return next((step for step, (a, b) in enumerate(pairs) if a.taken != b.taken), None)


def steps(analysis: PassageAnalysis) -> dict[str, Any]:
    """The passage as greedy search writes it, as the run's beam does, and as it is when the target
    is fed (left out where that is just what the beam writes). Ids are spelled in `pieces`."""
    inspected, passage = analysis.inspected, analysis.passage
    writing, beam, greedy = analysis.searches
    settings = beam.rules.settings
    outputs = {"greedy": greedy.found[0].ids, "beam": beam.found[0].ids}
    if passage.target_ids != outputs["beam"]:
        outputs["target"] = passage.target_ids
    courses = {name: decoding_steps_of(writing, ids) for name, ids in outputs.items()}
    every = [seen for course in courses.values() for seen in course]
    used = {token for seen in every for token, _ in seen.likeliest}
    used |= {token for seen in every for token in (seen.fed, seen.taken)}
    return {
        "vocabulary": len(inspected.vocabulary),
        "source": analysis.shown(passage.source),
        "beam": settings.beam,
        "length_penalty": settings.length_penalty,
        "limit": writing.limit,
        "unwritten": list(inspected.special.unwritten),
        "pieces": analysis.spelled(used),
        "courses": {
            name: _step_columns(course, settings.length_penalty)
            | {"text": text_of(inspected, outputs[name], passage.names)}
            for name, course in courses.items()
        },
        "partings": [
            {"courses": [one, other], "step": parting(courses[one], courses[other])}
            for one, other in combinations(courses, 2)
        ],
    }


def _step_columns(course: Sequence[DecodingStep], alpha: float) -> dict[str, Any]:
    log_prob = sum(seen.log_prob for seen in course)
    divisor = float(penalty(len(course), alpha))
    looks = [seen.attention for seen in course if seen.attention is not None]
    return {
        "log_prob": finite(log_prob),
        "penalty": finite(divisor),
        "score": finite(log_prob / divisor),
        "fed": [seen.fed for seen in course],
        "taken": [seen.taken for seen in course],
        "log_probs": [finite(seen.log_prob) for seen in course],
        "ranks": [seen.rank for seen in course],
        "entropies": [finite(seen.entropy) for seen in course],
        "likeliest": [[token for token, _ in seen.likeliest] for seen in course],
        "probabilities": [[float(f"{p:.6g}") for _, p in seen.likeliest] for seen in course],
        "attention": packed(in_steps(np.stack(looks)), "u8", deflate=True) if looks else None,
    }


def beams(analysis: PassageAnalysis) -> dict[str, Any]:
    """The tree of the run's beam search for the passage.

    Columns of `nodes` are in the order of
    `headway.inspection.beam_tree.Tree.nodes`; a score is `total` over the depth's penalty.
    """
    inspected, passage = analysis.inspected, analysis.passage
    writing, tree, greedy = analysis.searches
    settings = tree.rules.settings
    unpenalized = search_tree(writing, replace(settings, length_penalty=0.0, n_best=1))
    deepest = max(node.depth for node in tree.nodes)

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
        "pieces": analysis.spelled(node.token for node in tree.nodes),
        "penalties": [
            finite(float(penalty(depth, settings.length_penalty)))
            for depth in range(1, deepest + 1)
        ],
        "nodes": _tree_columns(tree),
        "finished": tree.finished,
        "found": [shown(one) for one in tree.found],
        "rivals": {
            "greedy": shown(greedy.found[0]),
            "unpenalized": shown(unpenalized.found[0]),
        },
    }


def _tree_columns(tree: Tree) -> dict[str, Any]:
    return {
        "parent": [node.parent for node in tree.nodes],
        "token": [node.token for node in tree.nodes],
        "log_prob": [finite(node.log_prob) for node in tree.nodes],
        "total": [finite(node.total) for node in tree.nodes],
        "rank": [node.rank for node in tree.nodes],
        "fate": "".join(node.fate[0] for node in tree.nodes),
    }
