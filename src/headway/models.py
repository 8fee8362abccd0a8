"""The models that are trained on pairs: a new one is a file, and a line in `MODELS`."""

from collections.abc import Callable

from torch import nn

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
