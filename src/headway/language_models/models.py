"""The models that are trained on text alone: a new one is a file, and a line in the table."""

from collections.abc import Callable
from functools import partial

from torch import nn

from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.language_models.ngram import Ngram, NgramConfig
from headway.language_models.nnlm import Nnlm, NnlmConfig
from headway.language_models.recurrent import RecurrentConfig, RecurrentLanguageModel

LANGUAGE_MODELS: dict[str, tuple[type, Callable[..., nn.Module]]] = {
    "ngram": (NgramConfig, Ngram),
    "transformer": (DecoderOnlyConfig, DecoderOnly),
    "nnlm": (NnlmConfig, Nnlm),
    "rnn": (RecurrentConfig, partial(RecurrentLanguageModel, recurrence="rnn")),
    "lstm": (RecurrentConfig, partial(RecurrentLanguageModel, recurrence="lstm")),
    "gru": (RecurrentConfig, partial(RecurrentLanguageModel, recurrence="gru")),
}
"""What `--model.type` calls it: n-grams learn by counting, the others by gradient."""
