"""M2M-100 (Fan et al. 2021), and NLLB, which has its shape, as `transformers` keeps them.

Pre-norm Transformers, Marian's by the names of their weights. Their sinusoids have another spacing
than the paper's, first all sines, then all cosines, from position 2 on: here a table.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from headway.core.errors import ConfigError, DataError
from headway.core.transformer import TransformerConfig
from headway.exchange.checkpoints import (
    ACTIVATIONS,
    COUNTED,
    Shapes,
    other_weights,
    read_config,
    refuse_other_shapes,
)
from headway.exchange.marian_weights import HEAD, SHARED, SOURCE, TARGET, embeddings, places
from headway.nn.multilingual import MultilingualTransformer
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
class M2m100Config:
    """Of a config.json what the model computes with; the defaults are those of `transformers`."""

    vocab_size: int = 128112
    max_position_embeddings: int = 1024
    d_model: int = 1024
    encoder_layers: int = 12
    decoder_layers: int = 12
    encoder_attention_heads: int = 16
    decoder_attention_heads: int = 16
    encoder_ffn_dim: int = 4096
    decoder_ffn_dim: int = 4096
    activation_function: str = "relu"
    dropout: float = 0.1
    attention_dropout: float = 0.1
    activation_dropout: float = 0.0
    scale_embedding: bool = True
    tie_word_embeddings: bool = True
    pad_token_id: int = 1
    eos_token_id: int = 2
    decoder_start_token_id: int = 2

    @classmethod
    def read(cls, path: Path) -> "M2m100Config":
        """See `headway.exchange.checkpoints.read_config`; raises ConfigError, too, for what cannot
        be held."""
        found = read_config(cls, path, model_type="m2m_100")
        if why := found._not_held():
            raise ConfigError(f"{path} is of a model that headway cannot hold: {why} Take another.")
        return found

    def _not_held(self) -> str:
        for name in ("attention_heads", "ffn_dim"):
            encoder, decoder = getattr(self, f"encoder_{name}"), getattr(self, f"decoder_{name}")
            if encoder != decoder:
                return f"encoder_{name} is {encoder}, decoder_{name} {decoder}; here both are one."
        for name, held, why in (
            ("activation_function", [*ACTIVATIONS], f"it is one of {', '.join(ACTIVATIONS)}"),
            ("max_position_embeddings", range(2, 1 << 16), "texts have from 2 to 2^16 tokens"),
            ("d_model", range(4, 1 << 16, 2), "its sinusoids need an even number from 4 on"),
            ("decoder_start_token_id", [self.eos_token_id], "its decoder is fed the end first"),
        ):
            if (value := getattr(self, name)) not in held:
                return f"{name} is {value!r}; {why}."
        return ""

    @property
    def tied(self) -> bool:
        """Whether its one matrix stays one: it does not where embeddings are not scaled."""
        return self.tie_word_embeddings and self.scale_embedding

    def as_transformer(self, path: Path) -> TransformerConfig:
        """The same here; `path` names the file in errors. Raises ConfigError for sizes that are
        none."""
        try:
            return PositionedConfig(
                d_model=self.d_model,
                d_ff=self.encoder_ffn_dim,
                heads=self.encoder_attention_heads,
                encoder_layers=self.encoder_layers,
                decoder_layers=self.decoder_layers,
                dropout=self.dropout,
                attention_dropout=self.attention_dropout,
                activation_dropout=self.activation_dropout,
                activation=ACTIVATIONS[self.activation_function],
                norm="pre",
                positions="learned",
                tied=self.tied,
                max_length=self.max_position_embeddings,
            )
        except ConfigError as error:
            raise ConfigError(f"in {path}: {error}") from None

    def refuse_other_tensors(self, found: Shapes, config: TransformerConfig, path: Path) -> None:
        """Raise DataError where a file has not the tensors of this model, or others."""
        n_layers = config.encoder_layers + config.decoder_layers
        if n_layers >= len(found):  # it is not even built
            raise other_weights(f"{path} has {len(found)} tensors where {n_layers} layers belong")
        with torch.device("meta"):  # none of it in memory
            model = MultilingualTransformer(config, vocabulary_size=self.vocab_size)
        own = dict(model.named_parameters())
        matrix = self.vocab_size, self.d_model
        wanted = {
            **{place.name: tuple(own[name].shape) for name, place in places(config).items()},
            **dict.fromkeys((SHARED, SOURCE, TARGET, HEAD), matrix),
        }
        kept = {name: shape for name, shape in found.items() if not name.endswith(COUNTED)}
        optional = {SOURCE, TARGET, HEAD}
        if not self.tie_word_embeddings:
            optional = {SHARED} if {SOURCE, TARGET} <= {*kept} else {SOURCE, TARGET}
        refuse_other_shapes(kept, wanted, optional, path)

    def from_theirs(
        self, tensors: Mapping[str, Tensor], config: TransformerConfig, path: Path
    ) -> dict[str, Tensor]:
        """What a model of `as_transformer` has, by name. Raises DataError where matrices that are
        to be one differ."""
        for name in (SOURCE, TARGET, HEAD) if self.tie_word_embeddings else ():
            if name in tensors and not torch.equal(tensors[name], tensors[SHARED]):
                raise DataError(
                    f"config.json says that {name} is {SHARED}; in {path} they differ. Take both "
                    "files from a copy."
                )
        found = {name: tensors[place.name] for name, place in places(config).items()}
        source, target, output = embeddings(tensors)
        found["output_weight"] = output  # of a tied model the name of all three
        if not config.tied:
            scale = 1.0 if self.scale_embedding else math.sqrt(self.d_model)
            found["source_embedding.weight"] = source / scale
            found["target_embedding.weight"] = target / scale
        table = sinusoids_by_halves(self.max_position_embeddings, self.d_model)
        found |= {f"{side}_positions.table": table.clone() for side in ("source", "target")}
        return {name: tensor.float().contiguous() for name, tensor in found.items()}


def sinusoids_by_halves(n_positions: int, d_model: int) -> Float[Tensor, "positions d_model"]:
    """Those of tensor2tensor, in float32 as there: sin(p r), then cos(p r), with the rates
    r = 10000^(-i / (d_model / 2 - 1)), for the positions p from `FIRST_POSITION` on."""
    half = d_model // 2
    rates = torch.exp(torch.arange(half).float() * -(math.log(10000) / (half - 1)))
    places = torch.arange(FIRST_POSITION, FIRST_POSITION + n_positions).float()
    angles = places[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)
