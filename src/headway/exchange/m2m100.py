"""M2M-100 (Fan et al. 2021), and NLLB, which has its shape, as `transformers` keeps them.

Pre-norm Transformers, Marian's by the names of their weights. Their sinusoids have another spacing
than the paper's, first all sines, then all cosines, from position 2 on: here a table.
"""

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headway.core.transformer import TransformerConfig
from headway.exchange.checkpoints import naming, refuse_unlike
from headway.exchange.marian import StoredTranslatorConfig
from headway.exchange.marian_weights import from_theirs
from headway.nn.positioned import PositionedConfig

LANGUAGE_CODES = {
    "m2m100": "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga "
    "gd gl gu ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml "
    "mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn "
    "tr uk ur uz vi wo xh yi yo zh zu",
    "wmt21": "en ha is ja cs ru zh de",
}
"""In the order of their ids, by the name that tokenizer_config.json has for them."""
FIRST_POSITION = 2
"""Of a text's first token: those before are fairseq's own."""


@dataclass(frozen=True)
class M2m100Config(StoredTranslatorConfig):
    """Of an M2M-100 or NLLB; the defaults are those of `transformers`."""

    activation_function: str = "relu"
    attention_dropout: float = 0.1
    scale_embedding: bool = True
    pad_token_id: int = 1
    eos_token_id: int = 2
    decoder_start_token_id: int = 2

    model_type = "m2m_100"
    norm = "pre"
    positions = "learned"

    def rules(self) -> Mapping[str, tuple[Container[Any], str]]:
        """See `StoredTranslatorConfig`."""
        return {
            **super().rules(),
            "max_position_embeddings": (range(2, 1 << 16), "texts have from 2 to 2^16 tokens"),
            "d_model": (range(4, 1 << 16, 2), "its sinusoids need an even number from 4 on"),
            "decoder_start_token_id": ([self.eos_token_id], "its decoder is fed the end first"),
        }

    def as_transformer(self, path: Path, *, output_bias: bool = False) -> PositionedConfig:
        """See `StoredTranslatorConfig`."""
        found = super().as_transformer(path, output_bias=output_bias)
        with naming(path):
            return replace(found, max_length=self.max_position_embeddings)

    def from_theirs(
        self, tensors: Mapping[str, Tensor], config: TransformerConfig, path: Path
    ) -> dict[str, Tensor]:
        """What a model of `as_transformer` has, by name. Raises DataError where matrices that are
        to be one differ."""
        refuse_unlike(tensors, self.same(), path)
        found = from_theirs(tensors, config, scaled=self.scale_embedding, order=None)
        table = sinusoids_by_halves(self.max_position_embeddings, self.d_model)
        return found | {f"{side}_positions.table": table.clone() for side in ("source", "target")}


def sinusoids_by_halves(n_positions: int, d_model: int) -> Float[Tensor, "positions d_model"]:
    """Those of tensor2tensor, in float32 as there: sin(p r), then cos(p r), with the rates
    r = 10000^(-i / (d_model / 2 - 1)), for the positions p from `FIRST_POSITION` on."""
    half = d_model // 2
    rates = torch.exp(torch.arange(half).float() * -(math.log(10000) / (half - 1)))
    places = torch.arange(FIRST_POSITION, FIRST_POSITION + n_positions).float()
    angles = places[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)
