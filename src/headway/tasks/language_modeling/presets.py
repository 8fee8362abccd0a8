"""Named settings for language models, and which of them suits a corpus, a budget and a machine."""

from collections.abc import Sequence

from headway.config import Sections
from headway.runs.kind import Sizes

PRESETS: dict[str, Sections] = {
    "tiny": {
        "model": {
            "type": "transformer",
            "layers": 4,
            "d_model": 128,
            "d_ff": 512,
            "heads": 4,
            "dropout": 0.1,
        },
        "training": {"batch_tokens": 4096, "window": 128, "learning_rate": 3e-3},
    },
    "small": {
        "model": {
            "type": "transformer",
            "layers": 6,
            "d_model": 256,
            "d_ff": 1024,
            "heads": 8,
            "dropout": 0.1,
        },
        "training": {"batch_tokens": 4096, "window": 256, "learning_rate": 1.5e-3},
    },
    "base": {
        "model": {
            "type": "transformer",
            "layers": 12,
            "d_model": 768,
            "d_ff": 3072,
            "heads": 12,
            "dropout": 0.1,
        },
        "training": {"batch_tokens": 16384, "window": 512, "learning_rate": 6e-4},
    },
    **{
        cell: {
            "model": {"type": cell, "layers": 2, "d_model": 256, "dropout": 0.2},
            "training": {"batch_tokens": 768, "window": 32, "learning_rate": rate},
        }
        for cell, rate in (("rnn", 1e-3), ("lstm", 3e-3), ("gru", 3e-3))
    },
    "nnlm": {
        "model": {"type": "nnlm"},
        "training": {"batch_tokens": 2048, "window": 64, "learning_rate": 1e-3},
    },
    "ngram": {"model": {"type": "ngram"}, "training": {"window": 64}},
}
"""Each is the lowest layer: a TOML file, then flags, go on top of it."""

SMALL_CORPUS, MIDDLE_CORPUS = 10_000_000, 300_000_000
"""Tokens up to which `tiny`, and then `small`, is large enough to learn the corpus."""
BY_SIZE = ["tiny", "small", "base"]
CPU_SPEED = {"tiny": 16_000, "small": 4_000, "base": 500}
"""Rough tokens/s of two CPU cores; only the choice of a preset rests on it."""
LEAST_EPOCHS = 3
"""A larger model that sees the corpus less often than this learns less than a smaller one."""


def choose_preset(
    sizes: Sizes, budget_s: float | None, on_gpu: bool, allowed: Sequence[str]
) -> tuple[str, str]:
    """The name of one of the `allowed` presets, and why."""
    if len(allowed) == 1:
        return allowed[0], "made for this type of model"
    tokens = sizes.distinct
    largest = 0 if tokens < SMALL_CORPUS else 1 if tokens < MIDDLE_CORPUS else 2
    reason = f"{tokens:,} tokens"
    if not on_gpu and budget_s is not None:
        while largest and budget_s * CPU_SPEED[BY_SIZE[largest]] < LEAST_EPOCHS * sizes.per_pass:
            largest -= 1
            reason = f"in the budget a larger one would see the corpus under {LEAST_EPOCHS} times"
    elif not on_gpu and largest == 2:
        largest, reason = 1, "a CPU without a budget"
    if BY_SIZE[largest] in allowed:
        return BY_SIZE[largest], reason
    nearest = [*reversed(BY_SIZE[:largest]), *BY_SIZE[largest:], *allowed]
    name = next(name for name in nearest if name in allowed)
    return name, f"{BY_SIZE[largest]} does not go with what was set"
