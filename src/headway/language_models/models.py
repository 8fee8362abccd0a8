"""The models that are trained on text alone, their presets, and which preset suits a corpus.

A new model is a file, and a line in the first table.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from torch import nn

from headway.core.config import Sections
from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.language_models.elmo import Elmo, ElmoConfig
from headway.language_models.ngram import Ngram, NgramConfig
from headway.language_models.nnlm import Nnlm, NnlmConfig
from headway.language_models.recurrent import RecurrentConfig, RecurrentLanguageModel
from headway.runs.fitting import PresetLadder
from headway.runs.task_spec import Sizes

LANGUAGE_MODELS: dict[str, tuple[type, Callable[..., nn.Module]]] = {
    "ngram": (NgramConfig, Ngram),
    "transformer": (DecoderOnlyConfig, DecoderOnly),
    "nnlm": (NnlmConfig, Nnlm),
    "rnn": (RecurrentConfig, partial(RecurrentLanguageModel, recurrence="rnn")),
    "lstm": (RecurrentConfig, partial(RecurrentLanguageModel, recurrence="lstm")),
    "gru": (RecurrentConfig, partial(RecurrentLanguageModel, recurrence="gru")),
    "elmo": (ElmoConfig, Elmo),
}
"""What `--model.type` calls it: n-grams learn by counting, the others by gradient."""


def _transformer(
    layers: int, d_model: int, heads: int, batch_tokens: int, window: int, rate: float
) -> Sections:
    sizes = {"layers": layers, "d_model": d_model, "d_ff": 4 * d_model, "heads": heads}
    return {
        "model": {"type": "transformer", **sizes, "dropout": 0.1},
        "training": {"batch_tokens": batch_tokens, "window": window, "learning_rate": rate},
    }


def _words(rate: float, **model: Any) -> Sections:
    return {
        "model": model,
        "training": {"batch_tokens": 768, "window": 32, "learning_rate": rate},
    }


_RECURRENT = {
    "layers": 2, "d_model": 256, "dropout": 0.2, "embedding_scale": 1.0, "output_scale": 8.0,
}  # fmt: skip

PRESETS: dict[str, Sections] = {
    "tiny": _transformer(4, 128, 4, batch_tokens=4096, window=128, rate=3e-3),
    "small": _transformer(6, 256, 4, batch_tokens=4096, window=256, rate=1.5e-3),
    "base": _transformer(12, 768, 12, batch_tokens=16384, window=512, rate=6e-4),
    "rnn": _words(1e-3, type="rnn", **_RECURRENT),
    "lstm": _words(3e-3, type="lstm", **_RECURRENT),
    "gru": _words(3e-3, type="gru", **_RECURRENT),
    "nnlm": _words(3e-3, type="nnlm"),
    "elmo": {
        "model": {"type": "elmo"},
        "training": {
            "batch_tokens": 1024,
            "window": 32,
            "learning_rate": 3e-3,
            "valid_tokens": 20_000,
        },
    },
    "ngram": {"model": {"type": "ngram"}, "training": {"window": 64}},
}
"""Each is the lowest layer: a TOML file, then flags, go on top of it."""

LADDER = PresetLadder(
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
