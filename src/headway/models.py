"""The models that are trained on pairs, and named settings of each: a new one is a file, and a line
in `MODELS`."""

from collections.abc import Callable

from torch import nn

from headway.core.config import Sections
from headway.core.presets import PRESETS as OF_TRANSFORMER
from headway.core.transformer import Transformer, TransformerConfig
from headway.earlier_translators.ablated import Ablated, AblatedConfig
from headway.earlier_translators.bytenet import ByteNet, ByteNetConfig
from headway.earlier_translators.convolutional import Convolutional, ConvolutionalConfig
from headway.earlier_translators.recurrent import RecurrentTranslator, RecurrentTranslatorConfig
from headway.nn.positioned import PositionedConfig

__all__ = ["MODELS", "Transformer", "TransformerConfig"]

MODELS: dict[str, tuple[type, Callable[..., nn.Module]]] = {
    "transformer": (PositionedConfig, Transformer),
    "recurrent": (RecurrentTranslatorConfig, RecurrentTranslator),
    "ablated": (AblatedConfig, Ablated),
    "convolutional": (ConvolutionalConfig, Convolutional),
    "bytenet": (ByteNetConfig, ByteNet),
}
"""What `--model.type` calls it: the dataclass of its section, and its class."""


# -- named settings ---------------------------------------------------------------------------


PRESETS: dict[str, Sections] = {
    **OF_TRANSFORMER,
    "recurrent": {
        "model": {
            "type": "recurrent",
            "recurrence": "gru",
            "encoder_layers": 2,
            "decoder_layers": 1,
            "d_embedding": 128,
            "d_model": 256,
            "dropout": 0.2,
        },
        "training": {"batch_tokens": 2048, "learning_rate": 2e-3},
    },
    "convolutional": {
        "model": {
            "type": "convolutional",
            "encoder_layers": 5,
            "decoder_layers": 4,
            "d_model": 128,
            "dropout": 0.2,
        },
        "training": {"batch_tokens": 2048, "learning_rate": 2e-3},
    },
    "bytenet": {
        "model": {
            "type": "bytenet",
            "encoder_layers": 5,
            "decoder_layers": 5,
            "d_model": 128,
            "d_inner": 168,
            "extra": 5,
            "dropout": 0.2,
        },
        "training": {"batch_tokens": 2048, "learning_rate": 2e-3},
    },
    "ablated": {
        **OF_TRANSFORMER["tiny"],
        "model": {**OF_TRANSFORMER["tiny"]["model"], "type": "ablated"},
    },
}
"""The sizes of `ablated` are those of `tiny`: what is taken out is then all that differs."""
