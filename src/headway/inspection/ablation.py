"""Parts of a Transformer switched off for a while: in one pass, and in decoding step by step.

    encoder.2.head.3 (or encoder.2.self.head.3)    one head: what it found is zero before W_O
    decoder.1.cross, cross.1                       one sub-layer: the stream passes it unchanged
    encoder.0.feed_forward
    encoder.1                                      one layer: all of its sub-layers
    encoder.1.self.residual                        what goes in is not added to what comes out

Everything is counted from 0. What is switched off goes on being computed, for those who look, and
goes nowhere. The model is as it was behind the context.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from difflib import SequenceMatcher, get_close_matches
from functools import partial
from typing import Any, cast

from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention
from headway.core.errors import ConfigError, command
from headway.core.layers import Layer, Residual
from headway.earlier_translators.variants import WithoutResidual
from headway.inspection.html_page import missing
from headway.inspection.inspected_model import InspectedModel, Passage, finite
from headway.inspection.passage_analysis import PassageAnalysis

_STACKS = {"encoder": "encoder", "decoder": "decoder", "stack": "decoder"}
_WRITTEN_OUT = (
    (re.compile(r"^cross\.(\d+)"), r"decoder.\1.cross"),
    (re.compile(r"^stack\b"), "decoder"),
    (re.compile(r"\b(self|cross)_attention\b"), r"\1"),
    (re.compile(r"^(encoder\.\d+)\.head\b"), r"\1.self.head"),
)


SwitchablePart = Callable[[], AbstractContextManager[None]]
"""Something that can be switched off: it is off while what this gives is open."""


@contextmanager
def switched(model: nn.Module, parts: Iterable[str]) -> Iterator[None]:
    """While it is open, the model runs without the `parts`; see the head of this file.

    It runs in torch, even with no parts: the compiled engine knows the weights only, and leaves a
    model alone that has a hook. Raises ConfigError for a part that the model has not got.
    """
    found = [part_of(model, name) for name in dict.fromkeys(parts)]
    with ExitStack() as stack:
        stack.enter_context(model.register_forward_hook(lambda *_: None))
        for part in found:
            stack.enter_context(part())
        yield


def part_of(model: nn.Module, name: str) -> SwitchablePart:
    """The part of this name, as a user writes it.

    Raises ConfigError where there is none, with the nearest that there is.
    """
    known = parts_of(model)
    written = name
    for short, full in _WRITTEN_OUT:
        written = short.sub(full, written)
    if written in known:
        return known[written]
    if not known:
        raise ConfigError(
            "parts can be switched off in models made of a Transformer's layers; this one has "
            f"none, got {name!r}. Take a run of another type."
        )
    abbreviated = (re.sub(r"^decoder\.(\d+)\.cross", r"cross.\1", each) for each in known)
    near = get_close_matches(name, [*known, *abbreviated], 1, 0.0)[0]
    raise ConfigError(
        f"a part is one that the model has, counted from 0; got {name!r}. "
        f"Did you mean {near!r}? The last of each kind: {', '.join(_examples(known))}."
    )


def parts_of(model: nn.Module) -> dict[str, SwitchablePart]:
    """All parts that can be switched off, by their full names."""
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
        for n, layer in getattr(stack, "layers", stack).named_children()
        if hasattr(layer, "around_self_attention")
    }


def _parts_of_layer(path: str, layer: Layer) -> Iterator[tuple[str, SwitchablePart]]:
    sublayers: dict[str, tuple[Residual | None, MultiHeadAttention | None]] = {
        "self": (layer.around_self_attention, layer.self_attention),
        "cross": (layer.around_cross_attention, layer.cross_attention),
        "feed_forward": (layer.around_feed_forward, None),
    }
    inside = [
        (name, around, attention)
        for name, (around, attention) in sublayers.items()
        if around is not None and hasattr(around, "norm")  # else there is nothing inside
    ]
    yield path, partial(_passed_by, [around for _, around, _ in inside])
    for name, around, attention in inside:
        yield f"{path}.{name}", partial(_passed_by, [around])
        yield f"{path}.{name}.residual", partial(_without_residual, around)
        if attention is not None:
            for head in range(attention.heads):
                yield f"{path}.{name}.head.{head}", partial(_silenced, attention, head)


def _examples(known: Iterable[str]) -> list[str]:
    """The last of each kind: of the last layer, the last head."""
    return list({re.sub(r"\d+", "0", name): name for name in known}.values())


# -- how each is switched off -----------------------------------------------------------------


@contextmanager
def _silenced(attention: MultiHeadAttention, head: int) -> Iterator[None]:
    """While it is open, what this head found is zero before W_O."""

    def zero(_: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor]:
        heads = given[0].unflatten(-1, (attention.heads, -1)).clone()  # [.., heads, d_v]
        heads[..., head, :] = 0
        return (heads.flatten(-2),)

    with attention.to_output.register_forward_pre_hook(zero):
        yield


@contextmanager
def _passed_by(arounds: Iterable[Residual]) -> Iterator[None]:
    """While it is open, the stream passes these sub-layers unchanged."""
    with ExitStack() as stack:
        for around in arounds:
            stack.enter_context(around.register_forward_hook(lambda _, given, output: given[0]))
        yield


@contextmanager
def _without_residual(around: Residual) -> Iterator[None]:
    around.forward = WithoutResidual(around).forward  # type: ignore[method-assign]
    try:
        yield
    finally:
        vars(around).pop("forward", None)


# -- the page's part: both outputs side by side ------------------------------------------------


def changes(analysis: PassageAnalysis) -> dict[str, Any]:
    """The output as it is, what it becomes without `off`, and under the changed model the
    original's own tokens; log-probabilities in nats. A target that was given is followed by the
    changed model too. `same` says which tokens both outputs have, in their order."""
    inspected, passage, off = analysis.inspected, analysis.passage, analysis.off
    parts = parts_of(inspected.model)
    if not parts:
        return missing(
            "Parts are switched off in models made of a Transformer's layers; this is another.",
            "只有由 Transformer 层组成的模型才能关掉部件；这个模型不是。",
        )
    original = _output(inspected, passage)
    found: dict[str, Any] = {
        "off": off, "original": original, "changed": None, "parts": list(parts),
        "try": command("inspect", inspected.run, passage.text[:200], "--off", list(parts)[-1]),
    }  # fmt: skip
    if off:
        with switched(inspected.model, off):
            after = passage if analysis.follows_target else inspected.passage_of(passage.text)
            changed = _output(inspected, after)
            original["without"] = _output(inspected, passage)["log_probs"]
        changed["with_all"] = _output(inspected, after)["log_probs"]
        original["same"], changed["same"] = common(passage.target_ids, after.target_ids)
        found["changed"] = changed
    return found


def _output(inspected: InspectedModel, passage: Passage) -> dict[str, Any]:
    """A passage as the model is now."""
    log_probs = [seen.log_prob for seen in PassageAnalysis(inspected, passage).course]
    return {
        "translation": passage.target,
        "pieces": inspected.shown([*passage.target_ids, inspected.special.end], passage.names),
        "log_probs": [finite(value) for value in log_probs],
        "log_prob": finite(sum(log_probs)),
    }


def common(one: Sequence[int], other: Sequence[int]) -> tuple[list[bool], list[bool]]:
    """Which tokens of each stand in both, in the same order; the end markers always do."""
    same = [False] * len(one), [False] * len(other)
    for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        for i in range(block.size):
            same[0][block.a + i] = same[1][block.b + i] = True
    return [*same[0], True], [*same[1], True]
