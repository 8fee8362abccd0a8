"""One file per paper. A new model is one file here and one line in a table below."""

from collections.abc import Callable
from functools import partial

from torch import nn

from headway.models.ablated import Ablated, AblatedConfig
from headway.models.bytenet import ByteNet, ByteNetConfig
from headway.models.convolutional import Convolutional, ConvolutionalConfig
from headway.models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.models.ngram import Ngram, NgramConfig
from headway.models.nnlm import Nnlm, NnlmConfig
from headway.models.positioned import PositionedConfig
from headway.models.recurrent import RecurrentTranslator, RecurrentTranslatorConfig
from headway.models.recurrent_lm import RecurrentConfig, RecurrentLanguageModel
from headway.models.transformer import Transformer, TransformerConfig

MODELS: dict[str, tuple[type, Callable[..., nn.Module]]] = {
    "transformer": (PositionedConfig, Transformer),
    "recurrent": (RecurrentTranslatorConfig, RecurrentTranslator),
    "ablated": (AblatedConfig, Ablated),
    "convolutional": (ConvolutionalConfig, Convolutional),
    "bytenet": (ByteNetConfig, ByteNet),
}
"""Trained on pairs."""

LANGUAGE_MODELS: dict[str, tuple[type, Callable[..., nn.Module]]] = {
    "ngram": (NgramConfig, Ngram),
    "transformer": (DecoderOnlyConfig, DecoderOnly),
    "nnlm": (NnlmConfig, Nnlm),
    "rnn": (RecurrentConfig, partial(RecurrentLanguageModel, recurrence="rnn")),
    "lstm": (RecurrentConfig, partial(RecurrentLanguageModel, recurrence="lstm")),
    "gru": (RecurrentConfig, partial(RecurrentLanguageModel, recurrence="gru")),
}
"""Trained on text alone: n-grams by counting, the others by gradient."""

__all__ = [
    "LANGUAGE_MODELS",
    "MODELS",
    "Ablated",
    "AblatedConfig",
    "ByteNet",
    "ByteNetConfig",
    "Convolutional",
    "ConvolutionalConfig",
    "DecoderOnly",
    "DecoderOnlyConfig",
    "Ngram",
    "NgramConfig",
    "Nnlm",
    "NnlmConfig",
    "PositionedConfig",
    "RecurrentConfig",
    "RecurrentLanguageModel",
    "RecurrentTranslator",
    "RecurrentTranslatorConfig",
    "Transformer",
    "TransformerConfig",
]
