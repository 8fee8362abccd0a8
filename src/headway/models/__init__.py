"""One file per paper. A new model is one file here and one line in a table below."""

from collections.abc import Callable
from functools import partial

from torch import nn

from headway.core.transformer import Transformer, TransformerConfig
from headway.earlier_translators.ablated import Ablated, AblatedConfig
from headway.earlier_translators.bytenet import ByteNet, ByteNetConfig
from headway.earlier_translators.convolutional import Convolutional, ConvolutionalConfig
from headway.earlier_translators.recurrent import RecurrentTranslator, RecurrentTranslatorConfig
from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.language_models.ngram import Ngram, NgramConfig
from headway.language_models.nnlm import Nnlm, NnlmConfig
from headway.language_models.recurrent import RecurrentConfig, RecurrentLanguageModel
from headway.nn.positioned import PositionedConfig

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
