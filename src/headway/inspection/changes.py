"""What changes where parts of the model are switched off: its output beside the original."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from headway.inspection.ablation import parts_of, switched
from headway.inspection.html_page import missing
from headway.inspection.inspected_model import InspectedModel, Passage, finite
from headway.inspection.passage_analysis import PassageAnalysis


def changes(analysis: PassageAnalysis) -> dict[str, Any]:
    """The output as it is, what it becomes without `off`, and under the changed model the
    original's own tokens; log-probabilities in nats. A target that was given is followed by the
    changed model too. `same` says which tokens both outputs have, in their order."""
    inspected, passage, change = analysis.inspected, analysis.passage, analysis.change
    parts = parts_of(inspected.model)
    if not parts:
        return missing(
            "Parts are switched off in models made of a Transformer's layers; this is another.",
            "只有由 Transformer 层组成的模型才能关掉部件；这个模型不是。",
        )
    original = _output(inspected, passage)
    found: dict[str, Any] = {
        "off": list(change.off), "original": original, "changed": None, "parts": list(parts),
    }  # fmt: skip
    if change.off:
        with switched(inspected.model, change.off):
            after = passage if change.follows_target else inspected.passage_of(passage.text)
            changed = _output(inspected, after)
            original["without"] = _output(inspected, passage)["log_probs"]
        changed["with_all"] = _output(inspected, after)["log_probs"]
        original["same"], changed["same"] = common(passage.target_ids, after.target_ids)
        found["changed"] = changed
    return found


def _output(inspected: InspectedModel, passage: Passage) -> dict[str, Any]:
    """A passage as the model is now."""
    log_probs = [seen.log_prob for seen in PassageAnalysis(inspected, passage).course]
    return {
        "translation": passage.target,
        "pieces": inspected.shown([*passage.target_ids, inspected.special.end], passage.names),
        "log_probs": [finite(value) for value in log_probs],
        "log_prob": finite(sum(log_probs)),
    }


def common(one: Sequence[int], other: Sequence[int]) -> tuple[list[bool], list[bool]]:
    """Which tokens of each stand in both, in the same order; the end markers always do."""
    same = [False] * len(one), [False] * len(other)
    for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        for i in range(block.size):
            same[0][block.a + i] = same[1][block.b + i] = True
    return [*same[0], True], [*same[1], True]
