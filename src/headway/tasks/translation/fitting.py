"""Which preset suits a corpus, a budget and a machine; what else only the corpus tells."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headway.config import Sections
from headway.runs.kind import Sizes
from headway.runs.settings import Settings
from headway.tasks.translation.reading import Pairs
from headway.tasks.translation.settings import TranslationData
from headway.text.corpora import languages

SMALL_CORPUS, MIDDLE_CORPUS = 3_000_000, 30_000_000
"""Target tokens up to which `tiny`, and then `small`, is large enough to learn the corpus."""
BY_SIZE = ["tiny", "small", "paper-base"]
CPU_SPEED = {"tiny": 8000, "small": 2500, "paper-base": 1200}
"""Rough target tokens/s of two CPU cores; only the choice of a preset rests on it."""
LEAST_EPOCHS = 5
"""A larger model that sees the corpus less often than this learns less than a smaller one."""
TUNED_RATE = 1 / 3
"""Of the peak that the other run was trained with."""
CLOSING = 15
"""Validations' worth of time for choosing weights and length penalty, and for the model card: about
eight searches with a beam of 5, each of which takes nearly two greedy ones."""


def choose_preset(
    sizes: Sizes, budget_s: float | None, on_gpu: bool, allowed: Sequence[str]
) -> tuple[str, str]:
    """The name of one of the `allowed` presets, and why."""
    tokens = sizes.distinct
    largest = 0 if tokens < SMALL_CORPUS else 1 if tokens < MIDDLE_CORPUS else 2
    reason = f"{tokens:,} target tokens"
    if not on_gpu and budget_s is not None:
        least = LEAST_EPOCHS * sizes.per_pass
        while largest and budget_s * CPU_SPEED[BY_SIZE[largest]] < least:
            largest -= 1
            reason = f"in the budget a larger one would see the corpus under {LEAST_EPOCHS} times"
    elif not on_gpu and largest == 2:
        largest, reason = 1, "a CPU without a budget"
    if BY_SIZE[largest] in allowed:
        return BY_SIZE[largest], reason
    smaller = [name for name in BY_SIZE[:largest] if name in allowed]
    name = smaller[-1] if smaller else allowed[0]
    return name, f"{BY_SIZE[largest]} does not go with what was set"


def sizes(data: Pairs) -> Sizes:
    """Target tokens, end markers included."""
    lengths, weights = data.prepared.train.lengths["target"] + 1, data.prepared.weights
    seen = lengths.sum() if weights is None else lengths @ weights
    return Sizes(distinct=int(lengths.sum()), per_pass=round(float(seen)))


def complete(given: Sections, settings: Settings, data: Pairs) -> Sections:
    """What is stored as it was found; see `headway.runs.kind.Kind.complete`."""
    prepared, own = data.prepared, settings.data
    source, target = languages(own.corpus(), own.source_language, own.target_language)
    known = {"source_language": source, "target_language": target, "tags": data.tags_read(own.tags)}
    found: Sections = {
        "text": {"vocabulary_size": len(prepared.subwords), "codes": prepared.codes},
        "data": absolute(own) | known,
    }
    if "length_penalty" in given.get("decoding", {}):
        found["training"] = {"tune_length_penalty": False}
    return found


def absolute(data: TranslationData) -> dict[str, Any]:
    """The data settings, with files that are found from any folder."""
    stored = asdict(data)
    for key in ("source", "target", "valid_source", "valid_target"):
        stored[key] = [Path(path).absolute() for path in stored[key]]
    if data.pairs or data.valid_pairs:
        from headway.text.mixing import absolute_pairs_files

        stored["pairs"] = absolute_pairs_files(data.pairs)
        stored["valid_pairs"] = absolute_pairs_files(data.valid_pairs)
    return stored
