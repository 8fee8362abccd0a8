"""Decoding step by step: what is fed, what may come next, what is taken, where the model looks."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from headway.core.hypothesis import penalty
from headway.inspection.inspected_model import finite, text_of
from headway.inspection.packing import packed
from headway.inspection.passage_analysis import PassageAnalysis
from headway.inspection.searches import DecodingStep, decoding_steps_of


def parting(one: Sequence[DecodingStep], other: Sequence[DecodingStep]) -> int | None:
    """The first step at which they take different tokens; None where they are the same."""
    pairs = zip(one, other, strict=False)
    return next((step for step, (a, b) in enumerate(pairs) if a.taken != b.taken), None)


def steps(analysis: PassageAnalysis) -> dict[str, Any]:
    """The passage as greedy search writes it, as the run's beam does, and as it is when the target
    is fed (left out where that is just what the beam writes); where something is forced, as the
    beam goes on from it. Ids are spelled in `pieces`.
    """
    inspected, passage = analysis.inspected, analysis.passage
    writing, beam, greedy, forced = analysis.searches
    settings = beam.rules.settings
    outputs = {"greedy": greedy.found[0].ids, "beam": beam.found[0].ids}
    if passage.target_ids != outputs["beam"]:
        outputs["target"] = passage.target_ids
    if forced:
        outputs["forced"] = forced.found[0].ids
    courses = {name: decoding_steps_of(writing, ids) for name, ids in outputs.items()}
    every = [seen for course in courses.values() for seen in course]
    used = {token for seen in every for token, _ in seen.likeliest}
    used |= {token for seen in every for token in (seen.fed, seen.taken)}
    spelled = zip(sorted(used), inspected.shown(sorted(used), passage.names), strict=True)
    return {
        "vocabulary": len(inspected.vocabulary),
        "source": inspected.shown(passage.source, passage.names),
        "beam": settings.beam,
        "length_penalty": settings.length_penalty,
        "limit": writing.limit,
        "unwritten": list(inspected.special.unwritten),
        "begin": list(analysis.begin),
        "pieces": {str(token): piece for token, piece in spelled},
        "courses": {
            name: _columns(course, settings.length_penalty)
            | {"text": text_of(inspected, outputs[name], passage.names)}
            for name, course in courses.items()
        },
        "partings": [
            {"courses": [one, other], "step": parting(courses[one], courses[other])}
            for one, other in combinations(courses, 2)
        ],
    }


def _columns(course: Sequence[DecodingStep], alpha: float) -> dict[str, Any]:
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
        "attention": _maps(looks) if looks else None,
    }


def _maps(looks: Sequence[np.ndarray]) -> dict[str, Any]:
    """Weights of all steps in 255ths."""
    return packed(np.rint(255 * np.stack(looks)), "u8", deflate=True)
