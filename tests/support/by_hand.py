"""The paper's Transformer once more, written from its sections and from weights by name alone.

Nothing of headway is used: no mask, no table of positions, no norm, no kernel. What agrees with it
follows the paper in every number, in the order of sub-layers, and in where dropout falls.
"""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

PADDING = 0


def angle(position: int, column: int, d_model: int) -> float:
    """Columns 2i and 2i + 1 share the exponent 2i / d_model (section 3.5)."""
    return position / 10000 ** (2 * (column // 2) / d_model)


def position_table(length: int, d_model: int) -> Tensor:
    """Sine in even columns, cosine in odd ones, number by number."""
    rows = [
        [
            math.cos(angle(position, column, d_model))
            if column % 2
            else math.sin(angle(position, column, d_model))
            for column in range(d_model)
        ]
        for position in range(length)
    ]
    return torch.tensor(rows)


class ByHand:
    """One pass of a model whose three embedding matrices are one.

    `values` keeps what each step of the first layer gave, and of the whole stacks, by name;
    `looked` keeps the attention weights of every layer.
    """

    def __init__(
        self,
        weights: Mapping[str, Tensor],
        *,
        heads: int,
        norm: str = "post",
        table: Callable[[int, int], Tensor] = position_table,
        dropout: Callable[[Tensor], Tensor] = lambda x: x,
    ) -> None:
        self.weights, self.heads, self.norm_first = weights, heads, norm == "pre"
        self.table, self.dropout = table, dropout
        self.values: dict[str, Tensor] = {}
        self.looked: dict[str, list[Tensor]] = {"encoder": [], "decoder": [], "cross": []}

    def keep(self, name: str, value: Tensor) -> Tensor:
        """The first value of this name is kept: that of the first layer."""
        self.values.setdefault(name, value)
        return value

    def linear(self, x: Tensor, name: str) -> Tensor:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def layer_norm(self, x: Tensor, name: str) -> Tensor:
        """Over the numbers of one position, and over nothing else."""
        mean = x.mean(-1, keepdim=True)
        variance = (x - mean).square().mean(-1, keepdim=True)
        normal = (x - mean) / (variance + 1e-5).sqrt()
        return normal * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def add_and_norm(self, x: Tensor, name: str, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.norm_first:
            return x + self.dropout(sublayer(self.layer_norm(x, f"{name}.norm")))
        return self.layer_norm(x + self.dropout(sublayer(x)), f"{name}.norm")

    def attend(self, x: Tensor, memory: Tensor, name: str, hidden: Tensor, kind: str) -> Tensor:
        """`hidden[b, i, j]` is True where query i may not look at key j."""
        query, key, value = (
            self.keep(f"{kind} {part}", self.split(self.linear(of, f"{name}.to_{part}")))
            for part, of in (("query", x), ("key", memory), ("value", memory))
        )
        scores = torch.einsum("bhid,bhjd->bhij", query, key) / math.sqrt(query.shape[-1])
        weights = scores.masked_fill(hidden[:, None], -math.inf).softmax(-1)
        self.looked[kind].append(self.keep(f"{kind} weights", weights))
        context = torch.einsum("bhij,bhjd->bihd", weights, value).flatten(2)
        self.keep(f"{kind} context", context)
        return self.linear(context, f"{name}.to_output")

    def split(self, x: Tensor) -> Tensor:
        """After the projection each head takes its own part of the long vector."""
        return torch.stack(x.chunk(self.heads, dim=-1), dim=1)

    def feed_forward(self, x: Tensor, name: str) -> Tensor:
        inner = self.keep("inner", self.linear(x, f"{name}.to_inner").clamp(min=0))
        return self.linear(inner, f"{name}.to_output")

    def embed(self, ids: Tensor, side: str) -> Tensor:
        d_model = self.weights["target_embedding.weight"].shape[1]
        words = self.weights["target_embedding.weight"][ids] * math.sqrt(d_model)
        self.keep(f"{side} embedding", words)
        return self.dropout(self.keep(f"{side} input", words + self.table(ids.shape[1], d_model)))

    def encode(self, source: Tensor) -> Tensor:
        """Section 3.1, left half of figure 1."""
        hidden = (source == PADDING)[:, None].expand(-1, source.shape[1], -1)
        x = self.embed(source, "source")
        for i in range(self.depth("encoder")):
            name = f"encoder.{i}"
            x = self.add_and_norm(
                x,
                f"{name}.around_self_attention",
                lambda y, name=name: self.attend(y, y, f"{name}.self_attention", hidden, "encoder"),
            )
            self.keep("after attention", x)
            x = self.add_and_norm(
                x,
                f"{name}.around_feed_forward",
                lambda y, name=name: self.feed_forward(y, f"{name}.feed_forward"),
            )
        if self.norm_first:
            x = self.layer_norm(x, "encoder_norm")
        return self.keep("encoded", x)

    def logits(self, source: Tensor, target: Tensor) -> Tensor:
        """Section 3.1, both halves; the last matrix is the embedding's (section 3.4)."""
        encoded = self.encode(source)
        n_target = target.shape[1]
        future = torch.tensor([[j > i for j in range(n_target)] for i in range(n_target)])[None]
        no_source = (source == PADDING)[:, None].expand(-1, n_target, -1)
        x = self.embed(target, "target")
        for i in range(self.depth("decoder")):
            name = f"decoder.{i}"
            x = self.add_and_norm(
                x,
                f"{name}.around_self_attention",
                lambda y, name=name: self.attend(y, y, f"{name}.self_attention", future, "decoder"),
            )
            x = self.add_and_norm(
                x,
                f"{name}.around_cross_attention",
                lambda y, name=name: self.attend(
                    y, encoded, f"{name}.cross_attention", no_source, "cross"
                ),
            )
            x = self.add_and_norm(
                x,
                f"{name}.around_feed_forward",
                lambda y, name=name: self.feed_forward(y, f"{name}.feed_forward"),
            )
        if self.norm_first:
            x = self.layer_norm(x, "decoder_norm")
        self.keep("decoded", x)
        return self.keep("logits", x @ self.weights["target_embedding.weight"].T)

    def depth(self, stack: str) -> int:
        return len({name.split(".")[1] for name in self.weights if name.startswith(f"{stack}.")})
