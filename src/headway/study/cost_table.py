"""Parts, operations and memory of one model as one object and as a table for people."""

import re
from itertools import groupby
from typing import Any, NamedTuple

from headway.study.operation_counting import ModelPart, OperationCount

FLOAT = 4
"""Bytes of a number in float32."""


class Costs(NamedTuple):
    """What a model will cost."""

    name: str
    model_type: str
    vocabulary: int
    parts: list[ModelPart]
    counted: OperationCount
    length_of: str
    """What the lengths are of, such as "pairs of sentences"."""

    @property
    def parameters(self) -> int:
        """Each once."""
        return sum(part.parameters for part in self.parts)

    def memory(self) -> dict[str, int]:
        """Bytes while it learns, in float32, by what they are for."""
        return {
            "weights": FLOAT * self.parameters,
            "gradients": FLOAT * self.parameters,
            "adam_moments": 2 * FLOAT * self.parameters,
            "validation_copy": FLOAT * self.parameters,
            "activations": self.counted.activation_bytes,
        }

    def as_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        count, by_part = self.counted, dict(self.counted.by_part)
        of_tokens = sum(part.parameters for part in self.parts if of_words(part.name))
        parts = [
            {**part._asdict(), "forward_operations": by_part.pop(part.name, 0)}
            for part in self.parts
        ]
        others = [
            {"name": name, "parameters": 0, "same_as": "", "forward_operations": n}
            for name, n in by_part.items()
            if n
        ]
        return {
            "name": self.name,
            "type": self.model_type,
            "vocabulary": self.vocabulary,
            "parameters": self.parameters,
            "parameters_without_embeddings": self.parameters - of_tokens,
            "batch": count.lengths._asdict(),
            "operations": {
                "forward_per_token": count.forward / count.tokens,
                "training_per_token": count.training / count.tokens,
                "forward_per_batch": count.forward,
                "training_per_batch": count.training,
            },
            "memory_bytes": {**self.memory(), "all": sum(self.memory().values())},
            "parts": [*parts, *others],
        }

    def lines(self) -> list[str]:
        """For a terminal: layers that are alike stand in one line."""
        found = self.as_dict()
        rows = [("part", "parameters", "operations per token", "")]
        rows += [_row(group, self.counted.tokens) for group in folded(found["parts"])]
        each = found["operations"]
        rows.append(("all", f"{self.parameters:,}", f"{each['forward_per_token']:,.0f}", ""))
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        table = [
            f"{name:{widths[0]}}  {n:>{widths[1]}}  {done:>{widths[2]}}  {note}".rstrip()
            for name, n, done, note in rows
        ]
        without = found["parameters_without_embeddings"]
        batch, memory = self.counted.lengths, found["memory_bytes"]
        of = f"{batch.batch:,} {self.length_of} of {batch.target:,} tokens"
        return [
            f"{self.name}: {self.model_type}, {self.vocabulary:,} tokens in the vocabulary",
            *table,
            "",
            f"parameters without embeddings   {without:,}",
            f"operations forward              {amount(each['forward_per_token'])} a target token, "
            f"{amount(each['forward_per_batch'])} a batch of {of}",
            f"operations of training          {amount(each['training_per_token'])} a target token, "
            f"{amount(each['training_per_batch'])} a batch: "
            f"{each['training_per_batch'] / each['forward_per_batch']:.2f} times as many",
            f"memory while it learns          {size(memory['all'])} in float32: "
            + ", ".join(f"{name.replace('_', ' ')} {size(n)}" for name, n in self.memory().items()),
        ]


def folded(parts: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Parts of layers that follow one another and cost the same, together; in the order of the
    first of each."""

    def pattern(part: dict[str, Any]) -> tuple[str, int, int, str]:
        costs = (part["parameters"], part["forward_operations"])
        return (
            re.sub(r"(^|\.)\d+(?=\.|$)", r"\1#", part["name"], count=1),
            *costs,
            part["same_as"],
        )

    order = {key: n for n, key in reversed(list(enumerate(map(pattern, parts))))}
    by_place = sorted(parts, key=lambda part: order[pattern(part)])  # stable
    return [list(group) for _, group in groupby(by_place, key=pattern)]


def _row(alike: list[dict[str, Any]], tokens: int) -> tuple[str, str, str, str]:
    first, n = alike[0], len(alike)
    name = first["name"]
    if n > 1:
        numbers = [re.search(r"(?:^|\.)(\d+)(?=\.|$)", part["name"]) for part in alike]
        low, high = (number[1] for number in (numbers[0], numbers[-1]) if number)
        name = re.sub(rf"(^|\.){low}(?=\.|$)", rf"\g<1>{low}..{high}", name, count=1)
    done = n * first["forward_operations"] / tokens
    same = f"the same numbers as {first['same_as']}" if first["same_as"] else ""
    each = f"{n} x {first['parameters']:,}" if n > 1 else same
    return name, f"{n * first['parameters']:,}", f"{done:,.0f}", each


def of_words(name: str) -> bool:
    """Whether a part grows with the vocabulary."""
    return "embedding" in name.rpartition(".")[2] or name in ("output_weight", "output_bias")


def amount(operations: int | float) -> str:
    """A number of operations with three digits: 127 million, 99.3 trillion."""
    for power, word in ((12, "trillion"), (9, "billion"), (6, "million"), (3, "thousand")):
        if operations >= 10**power:
            return f"{operations / 10**power:.3g} {word}"
    return f"{operations:.3g}"


def size(n_bytes: int) -> str:
    """Bytes with their unit: 252 MB."""
    for power, unit in ((9, "GB"), (6, "MB"), (3, "kB")):
        if n_bytes >= 10**power:
            return f"{n_bytes / 10**power:.3g} {unit}"
    return f"{n_bytes} bytes"
