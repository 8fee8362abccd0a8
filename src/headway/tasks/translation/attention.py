"""Where a model looks while it writes a translation, as arrays."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from headway.errors import ConfigError
from headway.tasks.translation.texts import TextTranslator


class Attention(NamedTuple):
    """The weights of every layer and head for one sentence pair, as arrays."""

    source_tokens: list[str]
    """The end marker included."""
    target_tokens: list[str]
    """What was fed: the begin marker, then the target."""
    encoder: Float[np.ndarray, "layers heads source source"]
    decoder: Float[np.ndarray, "layers heads target target"]
    cross: Float[np.ndarray, "layers heads target source"]


def refuse_blind(model: object, model_type: str) -> None:
    """Raise ConfigError for a model without attention to be looked at."""
    if not hasattr(model, "look"):
        raise ConfigError(
            "attention is there in a model that has a method `look`, such as a transformer; "
            f"the run's is of type {model_type!r}. Take another run."
        )


def attention(
    plain: TextTranslator, source: str, target: str, names: Mapping[str, str]
) -> Attention:
    """Where every layer and head looks while `target` is written; `names` are shown for pieces."""
    subwords, special = plain.subwords, plain.subwords.special
    read = [*subwords.encode(source), special.end]
    fed = [special.decoder_begin, *subwords.encode(target)]
    weights = plain.model.look(  # type: ignore[attr-defined]  # see `refuse_blind`
        torch.tensor([read], device=plain.device), torch.tensor([fed], device=plain.device)
    )
    source_tokens, target_tokens = (
        [names.get(piece, piece) for piece in subwords.pieces(ids)] for ids in (read, fed)
    )
    arrays = [layer[:, 0].float().cpu().numpy() for layer in weights]
    return Attention(source_tokens, target_tokens, *arrays)
