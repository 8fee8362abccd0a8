"""The sentence: its tokens on both sides, how likely each was, and what was likely instead."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from headway.inspection.inspected_model import Subject
from headway.inspection.passage_analysis import PassageAnalysis
from headway.inspection.word_merging import words_of

N_ALTERNATIVES = 10
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


def tokens(analysis: PassageAnalysis) -> dict[str, Any]:
    """Both sides token by token; of those that are written also their probabilities.

    `log_prob` is in nats, `rank` counts from 1, `entropy` (nats) is of the distribution from which
    the token was taken, over the whole vocabulary; `top` has its likeliest tokens.
    """
    subject, passage = analysis.subject, analysis.passage
    written = [*passage.target_ids, subject.special.end]
    log_probs = analysis.following  # [target, vocabulary]
    target = _tokens(subject, written, passage.names)
    rows = torch.arange(len(written))
    taken = log_probs[rows, written]
    ranks = (log_probs > taken[:, None]).sum(1) + 1
    entropies = -(log_probs.exp() * log_probs.clamp(min=-1e4)).sum(1)
    values, ids = log_probs.topk(min(N_ALTERNATIVES, log_probs.shape[1]), dim=1)
    for i, token in enumerate(target):
        pieces = subject.shown(ids[i].tolist(), passage.names)
        token["log_prob"] = round(float(taken[i]), 6)
        token["rank"] = int(ranks[i])
        token["entropy"] = round(float(entropies[i]), 6)
        token["top"] = [
            {"id": int(one), "piece": piece, "prob": float(f"{float(value.exp()):.6g}")}
            for one, piece, value in zip(ids[i].tolist(), pieces, values[i], strict=True)
        ]
    return {
        "source": _tokens(subject, passage.source, passage.names),
        "fed": _tokens(subject, passage.fed[:1], {})[0],
        "target": target,
        "log_prob": round(float(taken.sum()), 6),
        "vocabulary": log_probs.shape[1],
    }


def _tokens(subject: Subject, ids: Sequence[int], names: Mapping[str, str]) -> list[dict[str, Any]]:
    pieces = subject.pieces(ids)
    words = words_of(pieces)
    word = {i: number for number, group in enumerate(words.groups) for i in group}
    return [
        {
            "id": int(one),
            "piece": names.get(piece, piece),
            "kind": _kind(subject, one, piece, names),
            "word": word[i],
        }
        for i, (one, piece) in enumerate(zip(ids, pieces, strict=True))
    ]


def _kind(subject: Subject, one: int, piece: str, names: Mapping[str, str]) -> str:
    special = subject.special
    if one == special.unknown:
        return "unknown"
    if one in (special.padding, special.begin, special.end):
        return "marker"
    if piece in names:
        return "code"
    return "byte" if _BYTE.fullmatch(piece) else "word"
