"""Every type of model and every kind of brick, small, with weights that leave nothing unseen."""

import torch

from headway.core.transformer import Transformer
from headway.earlier_translators.ablated import Ablated, AblatedConfig
from headway.earlier_translators.bytenet import ByteNet, ByteNetConfig
from headway.earlier_translators.convolutional import Convolutional, ConvolutionalConfig
from headway.earlier_translators.recurrent import RecurrentTranslator, RecurrentTranslatorConfig
from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.language_models.nnlm import Nnlm, NnlmConfig
from headway.language_models.recurrent import RecurrentConfig, RecurrentLanguageModel
from headway.nn.positioned import PositionedConfig

SOURCE, FED = [4, 5, 6, 7, 8, 9, 3], [2, 7, 8, 9, 4]
SMALL = {"d_model": 12, "d_ff": 20, "heads": 3, "dropout": 0.1}
TWO = {"encoder_layers": 2, "decoder_layers": 2}


def transformer(**settings):
    return Transformer(PositionedConfig(**SMALL, **TWO, **settings), vocabulary_size=13)


def ablated(**settings):
    return Ablated(AblatedConfig(**SMALL, **TWO, **settings), vocabulary_size=13)


def decoder_only(**settings):
    return DecoderOnly(DecoderOnlyConfig(**SMALL, layers=2, **settings), vocabulary_size=13)


def recurrent(**settings):
    config = RecurrentTranslatorConfig(d_model=8, d_embedding=6, **TWO, **settings)
    return RecurrentTranslator(config, vocabulary_size=13)


def language_model(recurrence, **settings):
    config = RecurrentConfig(d_model=8, **settings)
    return RecurrentLanguageModel(config, recurrence=recurrence, vocabulary_size=13)


STANDARD = {
    "post": transformer,
    "pre": lambda: transformer(norm="pre"),
    "sizes": lambda: transformer(d_k=5, d_v=6, tied=False, output_bias=True),
    "learned": lambda: transformer(positions="learned"),
    "relative": lambda: transformer(positions="relative", norm="pre"),
    "rotary": lambda: transformer(positions="rotary"),
    "none": lambda: transformer(positions="none", activation="gelu"),
    "window": lambda: transformer(window=2, positions="relative"),
    "swiglu": lambda: transformer(activation="swiglu"),
    "swish": lambda: transformer(activation="swish"),
    "gelu_tanh": lambda: transformer(activation="gelu_tanh"),
    "unscaled": lambda: ablated(scale=False),
    "one matrix": lambda: ablated(query_is_key=True, positions="rotary"),
    "not causal": lambda: ablated(causal=False),
}
"""With attention by the product of queries and keys, and residual connections."""

OTHERS = {
    "additive heads": lambda: ablated(score="additive"),
    "one vector": lambda: ablated(cross="mean"),
    "no source": lambda: ablated(cross="none"),
    "no residual": lambda: ablated(residual=False),
    "no feed-forward": lambda: ablated(feed_forward="none"),
    "batch norm": lambda: ablated(normalize="batch"),
    "additive": recurrent,
    "dot": lambda: recurrent(attention="dot", recurrence="lstm"),
    "dot, not fed": lambda: recurrent(attention="dot", input_feeding=False),
    "one fixed vector": lambda: recurrent(attention="none", recurrence="rnn"),
    "convolutional": lambda: Convolutional(
        ConvolutionalConfig(d_model=8, **TWO), vocabulary_size=13
    ),
    "bytenet": lambda: ByteNet(ByteNetConfig(d_model=8, **TWO), vocabulary_size=13),
}

OF_TEXT = {
    "decoder only": decoder_only,
    "as gpt-2": lambda: decoder_only(positions="learned"),
    "nnlm": lambda: Nnlm(NnlmConfig(d_model=8), vocabulary_size=13),
    "rnn": lambda: language_model("rnn"),
    "lstm": lambda: language_model("lstm"),
    "gru": lambda: language_model("gru"),
}


def built(make):
    """Not in training mode, and no bias or norm that could be left out unseen."""
    model = make().eval()
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter, mean=float("norm.weight" in name), std=0.3)
    return model
