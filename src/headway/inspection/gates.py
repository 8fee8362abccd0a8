"""What recurrent and convolutional models let pass: how far every gate is open at every token."""

import re
from collections.abc import Sequence
from typing import Any

from headway.inspection.attention_maps import fed_pieces, source_pieces
from headway.inspection.packing import missing
from headway.inspection.passage_analysis import PassageAnalysis

_GATES = re.compile(
    r"(encoder|decoder)\.(\d+)\.(?:from_(left|right)\.)?(?:(\w+)_)?gate"
)  # names as in headway.inspection.tracing_recurrent


def gates(analysis: PassageAnalysis) -> dict[str, Any]:
    """For each gate of each layer how far it is open at each token: its mean over the units, from
    0 (nothing passes) to 1 (everything does)."""
    matches = [match for match in map(_GATES.fullmatch, analysis.trace) if match]
    if not matches:
        return missing(
            "This model has no gates that decide how much is kept.",
            "这个模型没有决定保留多少的门。",
        )
    pieces = {"encoder": source_pieces(analysis), "decoder": fed_pieces(analysis)}
    return {
        "stacks": [
            {"stack": stack, "pieces": pieces[stack], "rows": sorted(rows, key=_place)}
            for stack in pieces
            if (rows := [_row(analysis, match) for match in matches if match[1] == stack])
        ]
    }


def _place(row: dict[str, Any]) -> tuple[int, str]:
    """By layer, what reads from the left first."""
    return row["layer"], row["way"] or ""


def _row(analysis: PassageAnalysis, match: re.Match[str]) -> dict[str, Any]:
    """One gate of one layer; `way` is the end from which it reads, `gate` what it decides."""
    opened: Sequence[float] = analysis.trace[match[0]].mean(axis=-1).tolist()
    return {
        "layer": int(match[2]),
        "way": match[3],
        "gate": match[4] or "gate",
        "open": [round(share, 4) for share in opened],
    }
