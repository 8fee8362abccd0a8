"""One file per paper. A new model is one file here and one line in `MODELS`."""

from headway.models.transformer import Transformer, TransformerConfig

MODELS = {"transformer": (TransformerConfig, Transformer)}

__all__ = ["MODELS", "Transformer", "TransformerConfig"]
