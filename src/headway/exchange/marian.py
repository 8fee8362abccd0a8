"""What a Marian model of Hugging Face's `transformers` is, by its config.json, and what of it can
be held here. OPUS-MT's models are such; Marian itself (Junczys-Dowmunt et al. 2018) is in C++."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from headway.core.embedding import sinusoids
from headway.core.errors import ConfigError, DataError
from headway.core.transformer import Transformer, TransformerConfig
from headway.exchange.checkpoints import (
    ACTIVATIONS,
    other_weights,
    read_config,
    refuse_other_shapes,
)
from headway.exchange.marian_weights import (
    BIAS,
    HEAD,
    POSITIONS,
    SHARED,
    SOURCE,
    TARGET,
    places,
    sines_first,
)
from headway.nn.positioned import PositionedConfig

_POSITIONS = range(2, (1 << 20) + 1)
_ROUNDED = 2e-3  # sinusoids in float16
Shape = tuple[int, ...]


@dataclass(frozen=True)
class MarianConfig:
    """Of a config.json what the model computes with; the defaults are those of `transformers`."""

    vocab_size: int
    d_model: int
    encoder_layers: int
    decoder_layers: int
    encoder_attention_heads: int
    decoder_attention_heads: int
    encoder_ffn_dim: int
    decoder_ffn_dim: int
    pad_token_id: int
    eos_token_id: int
    decoder_start_token_id: int
    decoder_vocab_size: int | None = None
    max_position_embeddings: int = 1024
    activation_function: str = "gelu"
    dropout: float = 0.1
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0
    scale_embedding: bool = False
    share_encoder_decoder_embeddings: bool = True
    tie_word_embeddings: bool = True
    normalize_before: bool = False
    normalize_embedding: bool = False
    add_final_layer_norm: bool = False
    static_position_embeddings: bool = True

    @classmethod
    def read(cls, path: Path) -> "MarianConfig":
        """Read a config.json; keys that change nothing of what is computed are passed over.

        Raises:
            DataError: it is missing, or no JSON of such a model.
            ConfigError: a value is of another type.
        """
        return read_config(cls, path, model_type="marian")

    @property
    def all_one(self) -> bool:
        """Whether the embeddings of both sides and the output's are one."""
        return self.share_encoder_decoder_embeddings and self.tie_word_embeddings

    def as_transformer(self, path: Path, *, output_bias: bool) -> TransformerConfig:
        """The same here, with a bias of the output or without; `path` names the file in errors.

        Without `scale_embedding` a matrix that is both an embedding and the output's becomes two.

        Raises:
            ConfigError: the model has something that cannot be held.
        """
        if why := self._not_held():
            raise ConfigError(f"{path} is of a model that headway cannot hold: {why} Take another.")
        try:
            return PositionedConfig(  # which knows what is far too large
                d_model=self.d_model,
                d_ff=self.encoder_ffn_dim,
                heads=self.encoder_attention_heads,
                encoder_layers=self.encoder_layers,
                decoder_layers=self.decoder_layers,
                dropout=self.dropout,
                attention_dropout=self.attention_dropout,
                activation_dropout=self.activation_dropout,
                activation=ACTIVATIONS[self.activation_function],
                norm="post",
                positions="sinusoidal",
                tied=self.all_one and self.scale_embedding,
                output_bias=output_bias,
            )
        except ConfigError as error:
            raise ConfigError(f"in {path}: {error}") from None

    def _not_held(self) -> str:
        """What cannot be held, in words; nothing if all can."""
        for name in ("attention_heads", "ffn_dim"):
            encoder, decoder = getattr(self, f"encoder_{name}"), getattr(self, f"decoder_{name}")
            if encoder != decoder:
                return f"encoder_{name} is {encoder}, decoder_{name} {decoder}; here both are one."
        for name, held, why in (
            (
                "decoder_vocab_size",
                (None, self.vocab_size),
                "source and target have vocabularies of their own, and here share one",
            ),
            ("max_position_embeddings", _POSITIONS, "texts have from 2 to 2^20 tokens"),
            ("activation_function", ACTIVATIONS, f"it is one of {', '.join(ACTIVATIONS)}"),
            (
                "decoder_start_token_id",
                [self.pad_token_id],
                "Marian's decoder is fed padding first",
            ),
            ("normalize_before", [False], "`transformers` itself passes over that"),
            ("normalize_embedding", [False], "`transformers` itself passes over that"),
            ("add_final_layer_norm", [False], "`transformers` itself passes over that"),
            ("static_position_embeddings", [True], "Marian's positions are sinusoids"),
        ):
            if (value := getattr(self, name)) not in held:
                return f"{name} is {value!r}; {why}."
        return ""

    def refuse_other_tensors(
        self, found: Mapping[str, Shape], config: TransformerConfig, path: Path
    ) -> None:
        """Raise DataError where a file has not the tensors of this model, or others."""
        n_layers = config.encoder_layers + config.decoder_layers
        if n_layers >= len(found):  # it is not even built
            raise other_weights(f"{path} has {len(found)} tensors where {n_layers} layers belong")
        refuse_other_shapes(found, self._shapes(config), self._optional(found), path)

    def _shapes(self, config: TransformerConfig) -> dict[str, Shape]:
        """The shape of each tensor that there must or may be."""
        with torch.device("meta"):  # none of it in memory
            model = Transformer(config, vocabulary_size=self.vocab_size)
        own = dict(model.named_parameters())
        matrix = self.vocab_size, self.d_model
        table = self.max_position_embeddings, self.d_model
        return {
            **{place.name: tuple(own[name].shape) for name, place in places(config).items()},
            **dict.fromkeys((SHARED, SOURCE, TARGET, HEAD), matrix),
            BIAS: (1, self.vocab_size),
            **dict.fromkeys(POSITIONS, table),
        }

    def _optional(self, found: Collection[str]) -> set[str]:
        """What a file may leave out: it is another tensor's, or is known."""
        known = {BIAS, *POSITIONS}
        if self.all_one:
            return known | {SOURCE, TARGET, HEAD}
        if not self.share_encoder_decoder_embeddings:
            return known | {SHARED} | ({HEAD} if self.tie_word_embeddings else set())
        return known | ({SHARED} if {SOURCE, TARGET} & set(found) else {SOURCE, TARGET})

    def refuse_other_values(self, tensors: Mapping[str, Tensor], path: Path) -> None:
        """Raise DataError where a weight is not what it must be the same as."""
        same = dict.fromkeys((SOURCE, TARGET, HEAD), SHARED) if self.all_one else {}
        if not self.share_encoder_decoder_embeddings and self.tie_word_embeddings:
            same = {HEAD: TARGET}
        for name, tensor in tensors.items():
            other = tensors.get(same.get(name, ""))
            if other is not None and not torch.equal(tensor, other):
                raise DataError(
                    f"config.json says that {name} is {same[name]}; in {path} they differ. Take "
                    "both files from a copy."
                )
        order, table = sines_first(self.d_model), self.max_position_embeddings
        for name in POSITIONS:
            if name in tensors:
                expected = sinusoids(table, self.d_model)[:, order]
                if not torch.allclose(tensors[name].float(), expected, rtol=0, atol=_ROUNDED):
                    raise DataError(
                        f"Marian's positions are sinusoids; {name} of {path} has others, which "
                        "headway cannot hold. Take another model."
                    )
