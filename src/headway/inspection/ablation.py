"""Parts of a Transformer switched off for a while: in one pass, and in decoding step by step.

    encoder.2.head.3 (or encoder.2.self.head.3)    one head: what it found is zero before W_O
    decoder.1.cross, cross.1                       one sub-layer: the stream passes it unchanged
    encoder.0.feed_forward
    encoder.1                                      one layer: all of its sub-layers
    encoder.1.self.residual                        what goes in is not added to what comes out
    decoder.0.self.mask                            the decoder sees what it has yet to write
    encoder.1.head.2.row.5=3                       query 5 of that head looks at key 3 alone
    encoder.1.head.2.row.5=uniform                 .. at all that it may see, equally

Everything is counted from 0. What is switched off goes on being computed, for those who look, and
goes nowhere. The model is as it was behind the context.

Without its mask, and with a row that is set, a decoder reads all that it has written again at every
step: no token's vector is final before the last one is written.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from difflib import get_close_matches
from functools import partial
from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention, ReadyMask
from headway.core.errors import ConfigError
from headway.core.layers import Layer, Residual
from headway.earlier_translators.variants import WithoutResidual
from headway.inspection.patching import patched
from headway.inspection.tracing import visible_to
from headway.inspection.uncached_decoding import rereading

UNIFORM = "uniform"
_ROW = re.compile(rf"(.+\.head\.\d+)\.row\.(\d+)=(\d+|{UNIFORM})")
_STACKS = {"encoder": "encoder", "decoder": "decoder", "stack": "decoder"}
_WRITTEN_OUT = (
    (re.compile(r"^cross\.(\d+)"), r"decoder.\1.cross"),
    (re.compile(r"^stack\b"), "decoder"),
    (re.compile(r"\b(self|cross)_attention\b"), r"\1"),
    (re.compile(r"^(encoder\.\d+)\.head\b"), r"\1.self.head"),
)


class SwitchablePart(NamedTuple):
    """Something that can be switched off."""

    off: Callable[[], AbstractContextManager[None]]
    """It is off while this is open."""
    rereads: bool = False
    """With it off, the cache of decoding does not hold."""


class Sublayer(NamedTuple):
    """A part of a layer, and the connection around it."""

    name: str
    around: Residual
    attention: MultiHeadAttention | None


@contextmanager
def switched(model: nn.Module, parts: Iterable[str]) -> Iterator[None]:
    """While it is open, the model runs without the `parts`; see the head of this file.

    It runs in torch, even with no parts: the compiled engine knows the weights only, and leaves a
    model alone that has a hook. Raises ConfigError for a part that the model has not got, and once
    a row is to look at a key that its query cannot see.
    """
    found = [part_of(model, name) for name in dict.fromkeys(parts)]
    with ExitStack() as stack:
        stack.enter_context(_removed(model.register_forward_hook(lambda *_: None)))
        for part in found:
            stack.enter_context(part.off())
        if any(part.rereads for part in found):
            stack.enter_context(rereading(model))
        yield


def part_of(model: nn.Module, name: str) -> SwitchablePart:
    """The part of this name, as a user writes it.

    Raises ConfigError where there is none, with the nearest that there is.
    """
    known = parts_of(model)
    written = name
    for short, full in _WRITTEN_OUT:
        written = short.sub(full, written)
    row = _ROW.fullmatch(written)
    if written in known:
        return known[written]
    if row and row[1] in known:
        return _row(model, *row.groups())
    if not known:
        raise ConfigError(
            "parts can be switched off in models made of a Transformer's layers; this one has "
            f"none, got {name!r}. Take a run of another type."
        )
    if ".row." in written:
        raise ConfigError(
            "a row of attention is set by HEAD.row.QUERY=KEY or =uniform, such as "
            f"encoder.0.head.0.row.5=3; got {name!r}. Count from 0."
        )
    abbreviated = (re.sub(r"^decoder\.(\d+)\.cross", r"cross.\1", each) for each in known)
    near = get_close_matches(name, [*known, *abbreviated], 1, 0.0)[0]
    raise ConfigError(
        f"a part is one that the model has, counted from 0; got {name!r}. "
        f"Did you mean {near!r}? Others are {', '.join(_examples(known))}."
    )


def parts_of(model: nn.Module) -> dict[str, SwitchablePart]:
    """All parts that can be switched off, by their full names, but for rows of attention."""
    return {
        name: part
        for path, layer in layers_of(model).items()
        for name, part in _parts_of_layer(path, layer)
    }


def layers_of(model: nn.Module) -> dict[str, Layer]:
    """A Transformer's layers by name, such as `encoder.0`; none of a model that has none."""
    return {
        f"{_STACKS[name]}.{n}": cast(Layer, layer)
        for name, stack in model.named_children()
        if name in _STACKS
        for n, layer in stack.named_children()
        if hasattr(layer, "around_self_attention")
    }


def sublayers(layer: Layer) -> list[Sublayer]:
    """Those that a layer has, in their order."""
    found = [
        Sublayer("self", layer.around_self_attention, layer.self_attention),
        Sublayer("feed_forward", layer.around_feed_forward, None),
    ]
    if layer.around_cross_attention is not None:
        found.insert(1, Sublayer("cross", layer.around_cross_attention, layer.cross_attention))
    return [one for one in found if hasattr(one.around, "norm")]  # else there is nothing inside


def _parts_of_layer(path: str, layer: Layer) -> Iterator[tuple[str, SwitchablePart]]:
    inside = sublayers(layer)
    yield path, SwitchablePart(partial(_all_off, [one.around for one in inside]))
    for name, around, attention in inside:
        yield f"{path}.{name}", SwitchablePart(partial(_all_off, [around]))
        yield f"{path}.{name}.residual", SwitchablePart(partial(_without_residual, around))
        if attention is None:
            continue
        if name == "self" and path.startswith("decoder") and not getattr(attention, "window", 0):
            yield (
                f"{path}.{name}.mask",
                SwitchablePart(partial(_without_mask, attention), rereads=True),
            )
        for head in range(attention.heads):
            off = torch.arange(attention.heads)[None] == head
            yield f"{path}.{name}.head.{head}", SwitchablePart(partial(silenced, attention, off))


def _examples(known: Iterable[str]) -> list[str]:
    """One of each kind in a layer, of the last layer that has it."""
    kinds = {re.sub(r"\d+", "0", name.partition(".")[2]): name for name in known}
    return list(kinds.values())


# -- how each is switched off -----------------------------------------------------------------


@contextmanager
def silenced(attention: MultiHeadAttention, off: Bool[Tensor, "#rows heads"]) -> Iterator[None]:
    """While it is open, what these heads found is zero before W_O: row by row of a batch, or, where
    there is one row, in all."""

    def zero(_: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor]:
        heads = given[0].unflatten(-1, (off.shape[1], -1))  # [rows, (query,) heads, d_v]
        shape = (len(off), *[1] * (heads.dim() - 3), off.shape[1], 1)
        hidden = off.view(shape).to(heads.device)
        return (heads.masked_fill(hidden, 0).flatten(-2),)

    with _removed(attention.to_output.register_forward_pre_hook(zero)):
        yield


@contextmanager
def passed_by(around: Residual, off: Bool[Tensor, " rows"]) -> Iterator[None]:
    """While it is open, the stream passes this sub-layer unchanged: in these rows of a batch, or,
    where there is one, in all."""

    def pass_by(_: nn.Module, given: tuple[Any, ...], output: Tensor) -> Tensor:
        x: Tensor = given[0]
        return torch.where(off.view(-1, *[1] * (x.dim() - 1)).to(x.device), x, output)

    with _removed(around.register_forward_hook(pass_by)):
        yield


@contextmanager
def _all_off(arounds: Iterable[Residual]) -> Iterator[None]:
    with ExitStack() as stack:
        for around in arounds:
            stack.enter_context(passed_by(around, torch.tensor([True])))
        yield


def _without_residual(around: Residual) -> AbstractContextManager[None]:
    return patched(around, "forward", WithoutResidual(around).forward)


@contextmanager
def _without_mask(attention: MultiHeadAttention) -> Iterator[None]:
    def unmask(_: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return given[:2]

    with _removed(attention.register_forward_pre_hook(unmask)):
        yield


@contextmanager
def _removed(hook: Any) -> Iterator[None]:
    try:
        yield
    finally:
        hook.remove()


def _row(model: nn.Module, of_head: str, query: str, key: str) -> SwitchablePart:
    side, number, sublayer, _, head = of_head.split(".")
    layer = layers_of(model)[f"{side}.{number}"]
    [attention] = [one.attention for one in sublayers(layer) if one.name == sublayer]
    looks_at = None if key == UNIFORM else int(key)
    off = partial(_with_row, cast(MultiHeadAttention, attention), int(head), int(query), looks_at)
    return SwitchablePart(off, rereads=side == "decoder")


@contextmanager
def _with_row(
    attention: MultiHeadAttention, head: int, query: int, key: int | None
) -> Iterator[None]:
    """One row of weights set by hand, in every row of the batch that is long enough."""
    own = attention.weights

    def weights(
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch heads query key"]:
        found = own(x, memory, mask).clone()
        if query < found.shape[2]:
            seen = visible_to(attention, x, memory, mask)[:, 0, query]  # [batch, key]
            found[:, head, query] = _looking(seen, query, key).to(found.dtype)
        return found

    def forward(
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        value = attention.split(attention.to_value(memory))
        context = attention.weights(x, memory, mask) @ value
        return attention.to_output(context.transpose(1, 2).flatten(2))

    with patched(attention, "weights", weights), patched(attention, "forward", forward):
        yield


def _looking(
    seen: Bool[Tensor, "batch key"], query: int, key: int | None
) -> Float[Tensor, "batch key"]:
    """At one key, or equally at all that are seen."""
    if key is None:
        return seen / seen.sum(-1, keepdim=True).clamp(min=1)
    if key >= seen.shape[1] or not seen[:, key].all():
        raise ConfigError(
            f"a row of attention looks at what its query may see; query {query} does not see "
            f"{key}, of {seen.shape[1]} keys. Choose another key, counted from 0."
        )
    return (torch.arange(seen.shape[1], device=seen.device) == key).expand_as(seen).float()
