"""Named settings for language models, and which of them suits a corpus, a budget and a machine."""

from collections.abc import Sequence

from headway.core.config import Sections
from headway.runs.fitting import Ladder
from headway.runs.task_spec import Sizes

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
            "heads": 4,
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
            "model": {
                "type": cell,
                "layers": 2,
                "d_model": 256,
                "dropout": 0.2,
                "embedding_scale": 1.0,
                "output_scale": 8.0,
            },
            "training": {"batch_tokens": 768, "window": 32, "learning_rate": rate},
        }
        for cell, rate in (("rnn", 1e-3), ("lstm", 3e-3), ("gru", 3e-3))
    },
    "nnlm": {
        "model": {"type": "nnlm"},
        "training": {"batch_tokens": 768, "window": 32, "learning_rate": 3e-3},
    },
    "ngram": {"model": {"type": "ngram"}, "training": {"window": 64}},
}
"""Each is the lowest layer: a TOML file, then flags, go on top of it."""

LADDER = Ladder(
    names=("tiny", "small", "base"),
    up_to=(10_000_000, 300_000_000),
    cpu_speed={"tiny": 16_000, "small": 4_000, "base": 500},
    least_epochs=3,
    unit="tokens",
)

LONG_PASSES, LEAST_DISTINCT = 6, 500_000
"""A budget is long for a corpus of so many tokens if `small`, too, sees it so often."""


def choose(
    sizes: Sizes, budget_s: float | None, on_gpu: bool, allowed: Sequence[str]
) -> tuple[str, str]:
    """The ladder's choice; or `small` for a small corpus, where the budget is long for it.

    `tiny` has learned what it can of a million characters by then. Of a corpus smaller still,
    `small` would soon know the sentences instead of the language.
    """
    name, why = LADDER.choose(sizes, budget_s, on_gpu, allowed)
    if name != "tiny" or "small" not in allowed or budget_s is None:
        return name, why
    passes = budget_s * LADDER.cpu_speed["small"] / sizes.per_pass
    if sizes.distinct < LEAST_DISTINCT or (passes < LONG_PASSES and not on_gpu):
        return name, why
    return "small", (
        f"{sizes.distinct:,} tokens, and a budget in which this one too sees them "
        f"{LONG_PASSES} times or more"
    )
