"""Transformers for CTranslate2, an inference engine in C++ (https://github.com/OpenNMT/CTranslate2).

Built through `ctranslate2.specs`: CTranslate2's own description of a model, filled with weights.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from headway.core.attention import MultiHeadAttention
from headway.core.embedding import LearnedPositions, sinusoids
from headway.core.errors import ConfigError
from headway.core.layers import Layer, Residual, alignment_layer
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer, TransformerConfig
from headway.exchange.agreement import Ids

LEAST_POSITIONS = 2048
"""Rows of a table of positions, at least: CTranslate2 refuses longer texts, and cuts them at 1,024
unless it is told otherwise."""
BATCH: dict[str, Any] = {"max_batch_size": 1024, "batch_type": "tokens", "max_input_length": 0}
"""What a worker reads at a time; inputs are never cut."""
_ACTIVATIONS = {
    "relu": "RELU", "gelu": "GELU", "gelu_tanh": "GELUTanh", "swish": "SWISH", "swiglu": "SWISH"
}  # fmt: skip


def require() -> None:
    """Raise ConfigError where CTranslate2 is not installed."""
    try:
        import ctranslate2  # noqa: F401
    except ImportError:
        raise ConfigError(
            "a model for CTranslate2 is made and checked with CTranslate2, which is not "
            "installed. Try: pip install 'headway[export]'"
        ) from None


def version() -> str:
    """The installed one's."""
    import ctranslate2

    return str(ctranslate2.__version__)


def refuse_unheld(config: TransformerConfig) -> None:
    """Raise ConfigError for what CTranslate2 cannot hold."""
    if window := getattr(config, "window", 0):
        raise ConfigError(
            "CTranslate2's encoder sees every position; this model has restricted self-attention "
            f"(window {window}). Translate with headway, or train with --model.window 0."
        )
    if config.key_size != config.value_size:
        raise ConfigError(
            "CTranslate2's heads have keys and values of one size; this model's d_k is "
            f"{config.key_size}, its d_v {config.value_size}. Translate with headway, or train "
            "with equal ones."
        )


def n_positions_for(longest: int) -> int:
    """Rows of a table for texts of up to so many tokens, their markers, and longer translations."""
    return max(2 * longest, LEAST_POSITIONS)


def write_ctranslate2(
    model: Transformer, tokens: Sequence[str], special: SpecialIds, folder: Path, longest: int
) -> None:
    """Write model.bin, config.json and shared_vocabulary.json into a folder.

    `tokens` are the vocabulary's strings by id: what clients give and get. Texts have up to
    `longest` tokens without markers. Raises ConfigError for what cannot be held.
    """
    refuse_unheld(model.config)
    spec = specification(model, n_positions_for(longest))
    spec.register_source_vocabulary(list(tokens))
    spec.register_target_vocabulary(list(tokens))
    spec.config.unk_token = tokens[special.unknown]
    spec.config.bos_token = tokens[special.decoder_begin]
    spec.config.eos_token = tokens[special.end]
    spec.config.decoder_start_token = tokens[special.decoder_begin]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = model.config.layer_norm_epsilon
    spec.validate()
    spec.optimize()
    spec.save(str(folder))


def specification(model: Transformer, n_positions: int) -> Any:
    """A `TransformerSpec` with the weights of a model, in float32."""
    from ctranslate2.specs import common_spec, transformer_spec

    config = model.config
    shape: dict[str, Any] = {
        "pre_norm": config.norm == "pre",
        "activation": getattr(common_spec.Activation, _ACTIVATIONS[config.activation]),
        "ffn_glu": config.activation == "swiglu",
        "relative_position": config.positions == "relative",
        "rotary_dim": 0 if config.positions == "rotary" else None,  # 0: all of them
        "head_dim": config.key_size,
    }
    heads = config.heads
    encoder = transformer_spec.TransformerEncoderSpec(config.encoder_layers, heads, **shape)
    decoder = transformer_spec.TransformerDecoderSpec(
        config.decoder_layers,
        heads,
        alignment_layer=alignment_layer(config.decoder_layers),
        alignment_heads=heads,
        **shape,
    )
    encoder.embeddings[0].weight = _array(model.source_embedding.weight)
    decoder.embeddings.weight = _array(model.target_embedding.weight)
    decoder.projection.weight = _array(model.output_weight)
    if model.output_bias is not None:
        decoder.projection.bias = _array(model.output_bias)
    for side, positions, norm, layers in (
        (encoder, model.source_positions, model.encoder_norm, model.encoder),
        (decoder, model.target_positions, model.decoder_norm, model.decoder),
    ):
        if config.positions in ("sinusoidal", "learned", "none"):
            side.position_encodings.encodings = _positions(config, positions, n_positions)
        if config.norm == "pre":
            _fill_norm(side.layer_norm, norm)
        for spec, layer in zip(side.layer, layers, strict=True):
            _fill_layer(spec, layer)
    return transformer_spec.TransformerSpec(encoder, decoder)


def _array(tensor: torch.Tensor) -> np.ndarray:
    """A copy: CTranslate2 may write into what it is given."""
    return tensor.detach().float().cpu().numpy().copy()


def _positions(config: TransformerConfig, positions: nn.Module, n_positions: int) -> np.ndarray:
    """A table to be added to the embeddings; without one CTranslate2 would add sinusoids of its
    own, in another order and beginning at 1."""
    if config.positions == "learned":
        table: LearnedPositions = positions  # type: ignore[assignment]
        return _array(table.table)
    if str(config.positions) == "none":
        return np.zeros((n_positions, config.d_model), np.float32)
    return _array(sinusoids(n_positions, config.d_model))


def _fill_layer(spec: Any, layer: Layer) -> None:
    _fill_attention(spec.self_attention, layer.self_attention, layer.around_self_attention)
    across, around = layer.cross_attention, layer.around_cross_attention
    if across is not None and around is not None:
        _fill_attention(spec.attention, across, around, crosses=True)
    feed_forward = layer.feed_forward
    _fill_linear(spec.ffn.linear_0, feed_forward.to_inner)
    if feed_forward.to_gate is not None:
        _fill_linear(spec.ffn.linear_0_noact, feed_forward.to_gate)
    _fill_linear(spec.ffn.linear_1, feed_forward.to_output)
    _fill_norm(spec.ffn.layer_norm, layer.around_feed_forward.norm)


def _fill_attention(
    spec: Any, attention: MultiHeadAttention, around: Residual, *, crosses: bool = False
) -> None:
    """Queries, keys and values are one product, or across two: queries apart."""
    query, key, value = attention.to_query, attention.to_key, attention.to_value
    groups = ([query], [key, value]) if crosses else ([query, key, value],)
    for linear, group in zip(spec.linear, (*groups, [attention.to_output]), strict=True):
        _fill_linear(linear, *group)
    _fill_norm(spec.layer_norm, around.norm)
    relative = getattr(attention, "relative", None)
    if relative is not None:
        keys = _array(relative.keys)
        spec.relative_position_keys = keys
        spec.relative_position_values = np.zeros_like(keys)  # ours has none, see RelativePositions


def _fill_linear(spec: Any, *linears: nn.Linear) -> None:
    """One product out of several with the same input."""
    spec.weight = _array(torch.cat([linear.weight for linear in linears]))
    spec.bias = _array(torch.cat([linear.bias for linear in linears]))


def _fill_norm(spec: Any, norm: nn.Module) -> None:
    spec.gamma, spec.beta = (_array(getattr(norm, name)) for name in ("weight", "bias"))


class InCTranslate2:
    """A model in such a folder: a `headway.exchange.agreement.ForeignModel`."""

    def __init__(self, folder: Path, tokens: Sequence[str], special: SpecialIds) -> None:
        import ctranslate2

        self.name = f"CTranslate2 {version()}"
        self._tokens, self._special = tokens, special
        self._ids = {token: i for i, token in enumerate(tokens)}
        self._translator: ctranslate2.Translator = ctranslate2.Translator(
            str(folder),
            device="cpu",
            compute_type="float32",
            inter_threads=1,
            intra_threads=torch.get_num_threads(),
        )

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[list[float]]:
        """See `ForeignModel`."""
        results = self._translator.score_batch(
            self._spelled(sources),
            self._spelled(targets),
            **BATCH,
        )
        return [result.log_probs for result in results]

    def written(self, sources: Sequence[Ids], limit: int) -> list[Ids]:
        """See `ForeignModel`."""
        results = self._translator.translate_batch(
            self._spelled(sources),
            beam_size=1,
            max_decoding_length=limit,
            min_decoding_length=0,
            suppress_sequences=[[self._tokens[i]] for i in self._special.unwritten],
            **BATCH,
        )
        return [[self._ids[token] for token in result.hypotheses[0]] for result in results]

    def _spelled(self, rows: Sequence[Ids]) -> list[list[str]]:
        return [[self._tokens[i] for i in row] for row in rows]
