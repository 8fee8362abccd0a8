"""What may read a text that is labelled, by the name that `--model.type` calls it: a new one is a
file, and a line here."""

from collections.abc import Callable

from torch import nn

from headway.nn.encoder import Encoder, EncoderConfig

ENCODERS: dict[str, tuple[type, Callable[..., nn.Module]]] = {
    "transformer": (EncoderConfig, Encoder),
}
"""The dataclass of [model], and a `headway.nn.encoder.TextEncoder` that is built from it with
`vocabulary_size` and `padding`."""
