"""GPT-2 (Radford et al. 2019) as `transformers` keeps it, and what of it can be held here.

It is a decoder alone, normalized before each sub-layer, with learned positions. Its linear maps are
stored transposed, and queries, keys and values as one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from torch import Tensor

from headway.exchange.checkpoints import (
    ACTIVATIONS,
    KNOWN_ACTIVATIONS,
    Shapes,
    read_config,
    refuse_few,
    refuse_other_shapes,
    refuse_unheld,
    refuse_unlike,
)

EMBEDDING, POSITIONS, HEAD = "wte.weight", "wpe.weight", "lm_head.weight"
_ATTENTION = ("to_query", "to_key", "to_value")


@dataclass(frozen=True)
class Gpt2Config:
    """Of a config.json what the model computes with; the defaults are those of `transformers`."""

    vocab_size: int = 50257
    n_positions: int = 1024
    n_embd: int = 768
    n_layer: int = 12
    n_head: int = 12
    n_inner: int = 0
    """0: four times n_embd."""
    activation_function: str = "gelu_new"
    resid_pdrop: float = 0.1
    attn_pdrop: float = 0.1
    layer_norm_epsilon: float = 1e-5
    scale_attn_weights: bool = True
    scale_attn_by_inverse_layer_idx: bool = False
    add_cross_attention: bool = False
    tie_word_embeddings: bool = True

    @classmethod
    def read(cls, path: Path) -> "Gpt2Config":
        """See `headway.exchange.checkpoints.read_config`; raises ConfigError, too, for what cannot
        be held."""
        found = read_config(cls, path, model_type="gpt2")
        rules: dict[str, Any] = {
            "add_cross_attention": ([False], "a language model has no source"),
            "activation_function": KNOWN_ACTIVATIONS,
        }
        refuse_unheld(found, path, rules)
        return found

    def section(self) -> dict[str, Any]:
        """The same in [model]. Embeddings are not scaled there, so the one matrix becomes two."""
        return {
            "type": "transformer",
            "layers": self.n_layer,
            "d_model": self.n_embd,
            "d_ff": self.n_inner or 4 * self.n_embd,
            "heads": self.n_head,
            "dropout": self.resid_pdrop,
            "attention_dropout": self.attn_pdrop,
            "norm": "pre",
            "positions": "learned",
            "activation": ACTIVATIONS[self.activation_function],
            "tied": False,
            "max_length": self.n_positions,
            "layer_norm_epsilon": self.layer_norm_epsilon,
        }

    def refuse_other_tensors(self, found: Shapes, path: Path) -> None:
        """Raise DataError where a file has not the tensors of this model, or others."""
        refuse_few(found, self.n_layer, path)
        own = {plain(name): shape for name, shape in found.items()}
        d, inner = self.n_embd, self.n_inner or 4 * self.n_embd
        table = self.vocab_size, d
        wanted: dict[str, tuple[int, ...]] = {
            EMBEDDING: table,
            POSITIONS: (self.n_positions, d),
            HEAD: table,
        }
        sizes = {
            "attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d),
            "mlp.c_fc": (d, inner), "mlp.c_proj": (inner, d),
        }  # fmt: skip
        for i in range(self.n_layer):
            for name, shape in sizes.items():
                wanted[f"h.{i}.{name}.weight"], wanted[f"h.{i}.{name}.bias"] = shape, shape[1:]
        norms = [f"h.{i}.ln_{which}" for i in range(self.n_layer) for which in (1, 2)]
        for norm in [*norms, "ln_f"]:
            wanted[f"{norm}.weight"] = wanted[f"{norm}.bias"] = (d,)
        refuse_other_shapes(own, wanted, {HEAD} if self.tie_word_embeddings else (), path)

    def from_theirs(self, stored: Mapping[str, Tensor], path: Path) -> dict[str, Tensor]:
        """What a `DecoderOnly` of this config has, by name. Raises DataError where the output is to
        be the embedding, and is another."""
        tensors = {plain(name): tensor for name, tensor in stored.items()}
        refuse_unlike(tensors, {HEAD: EMBEDDING} if self.tie_word_embeddings else {}, path)
        embedding = tensors[EMBEDDING].float()
        output = tensors.get(HEAD, embedding).float()
        found = {
            "embedding.weight": embedding / sqrt(self.n_embd),
            "output_weight": output,
            "positions.table": tensors[POSITIONS].float(),
            **{f"norm.{kind}": tensors[f"ln_f.{kind}"].float() for kind in ("weight", "bias")},
        }
        for i in range(self.n_layer):
            found |= {f"stack.{i}.{name}": t for name, t in self._layer(tensors, i)}
        return {name: tensor.contiguous() for name, tensor in found.items()}

    def _layer(self, tensors: Mapping[str, Tensor], i: int) -> Iterator[tuple[str, Tensor]]:
        for kind in ("weight", "bias"):
            there = {
                name: tensors[f"h.{i}.{name}.{kind}"].float()
                for name in ("ln_1", "ln_2", "attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")
            }
            yield f"around_self_attention.norm.{kind}", there["ln_1"]
            yield f"around_feed_forward.norm.{kind}", there["ln_2"]
            parts = there["attn.c_attn"].chunk(3, -1)
            for name, part in zip(_ATTENTION, parts, strict=True):
                share = self._query_scale(i) if name == "to_query" else 1.0
                yield f"self_attention.{name}.{kind}", turned(part) * share
            yield f"self_attention.to_output.{kind}", turned(there["attn.c_proj"])
            yield f"feed_forward.to_inner.{kind}", turned(there["mlp.c_fc"])
            yield f"feed_forward.to_output.{kind}", turned(there["mlp.c_proj"])

    def _query_scale(self, i: int) -> float:
        """What the scores of layer i are times those of equation 1; queries take it up."""
        scale = 1.0 if self.scale_attn_weights else sqrt(self.n_embd / self.n_head)
        return scale / (i + 1) if self.scale_attn_by_inverse_layer_idx else scale


def plain(name: str) -> str:
    """A tensor's name as of the model without its head."""
    return name.removeprefix("transformer.")


def turned(tensor: Tensor) -> Tensor:
    """A matrix transposed, as linear maps have it here; a bias as it is."""
    return tensor.T if tensor.ndim > 1 else tensor
