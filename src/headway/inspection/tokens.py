"""The sentence: its tokens on both sides, how likely each was, and what was likely instead."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from headway.inspection.inspected_model import InspectedModel
from headway.inspection.passage_analysis import PassageAnalysis
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
        pieces = inspected.shown(ids, passage.names)
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
