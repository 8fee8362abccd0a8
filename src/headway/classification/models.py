"""What may classify texts: an encoder, and how one vector is made of its places."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from headway.labelling.encoders import ENCODERS, BagConfig, CnnConfig, LstmConfig
from headway.labelling.labeller import Labeller
from headway.labelling.pooling import Pooling, PoolingHead
from headway.labelling.vocabulary import LabelledVocabulary
from headway.nn.encoder import EncoderConfig
from headway.runs.settings import Settings


@dataclass(frozen=True)
class TransformerClassifier(EncoderConfig):
    """Self-attention; small, as labelled texts are few."""

    layers: int = 2
    dropout: float = 0.3
    pooling: Pooling = "max"
    """One vector of those of a text's places: their mean, the largest of each number, or the first
    one, which is the begin marker's."""


@dataclass(frozen=True)
class LstmClassifier(LstmConfig):
    """Reads both ways."""

    pooling: Pooling = "max"
    """As of transformer."""


@dataclass(frozen=True)
class CnnClassifier(CnnConfig):
    """Kim 2014: filters, the largest over all places, dropout."""

    pooling: Pooling = "max"
    """As of transformer."""


@dataclass(frozen=True)
class BagClassifier(BagConfig):
    """The mean of embeddings."""

    pooling: Pooling = "mean"
    """As of transformer."""


CONFIGS = {
    "transformer": TransformerClassifier,
    "lstm": LstmClassifier,
    "cnn": CnnClassifier,
    "bag": BagClassifier,
}
MODELS: dict[str, tuple[type, Callable[..., nn.Module]]] = {
    name: (config, ENCODERS[name][1]) for name, config in CONFIGS.items()
}
"""The dataclass of [model], and its encoder."""


def build(settings: Settings, vocabulary: LabelledVocabulary) -> nn.Module:
    """An encoder and a head."""
    model, (_, encoder) = settings.model, MODELS[settings.model_type]
    trunk = encoder(model, vocabulary_size=len(vocabulary), padding=vocabulary.special.padding)
    n_labels, d_output = len(vocabulary.labels), getattr(trunk, "d_output")  # noqa: B009
    head = PoolingHead(d_output, n_labels, pooling=model.pooling, dropout=model.dropout)
    return Labeller(trunk, head)
