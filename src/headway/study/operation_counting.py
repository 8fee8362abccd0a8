"""A model's parts, its operations and its memory, counted before anything of it is in memory.

The model is built on torch's meta device, where tensors have shapes but no numbers. One pass over
them under `torch.utils.flop_counter` counts every matrix product and convolution: a multiplication
and an addition are two operations, and what is done to single numbers (softmax, norms, gates) is
not counted. Of causal attention the whole square is counted, as it is computed.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils.flop_counter import FlopCounterMode

from headway.core.embedding import project
from headway.core.interfaces import Seq2Seq
from headway.language_models.interfaces import NeuralLanguageModel


class ModelPart(NamedTuple):
    """A brick, such as the attention of one layer, or a matrix that stands alone."""

    name: str
    parameters: int
    """Numbers that are learned; those that an earlier part has as well are counted there."""
    same_as: str
    """The parameter of an earlier part that this one is, if it is one; else empty."""


def parts_of(model: nn.Module) -> list[ModelPart]:
    """Every part, in the model's order: together they have each parameter once."""
    first_names: dict[nn.Parameter, str] = {}
    parts = []
    for name, parameters in named_parts(model):
        known = [first_names[p] for p in parameters.values() if p in first_names]
        new = {p: own for own, p in parameters.items() if p not in first_names}
        first_names |= new
        parts.append(ModelPart(name, sum(p.numel() for p in new), "" if new else ", ".join(known)))
    return parts


def named_parts(module: nn.Module, name: str = "") -> Iterator[tuple[str, dict[str, nn.Parameter]]]:
    """The parameters of each part by name. A module is a part if nothing below it has modules of
    its own: attention with its projections is one, a layer is not."""
    prefix = f"{name}." if name else ""
    if name and not any(True for child in module.children() for _ in child.children()):
        own = module.named_parameters(prefix=name, remove_duplicate=False)
        if parameters := dict(own):
            yield name, parameters
        return
    for key, child in module._modules.items():
        if child is not None:
            yield from named_parts(child, prefix + key)
    for key, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
        yield prefix + key, {prefix + key: parameter}


def part_of(name: str, parts: list[str]) -> str:
    """The part that a module belongs to; empty for one that holds several."""
    return next((part for part in parts if f"{name}.".startswith(f"{part}.")), "")


OUTPUT = "output_weight"
"""The matrix of the last product, whether it is a part of its own or another's too."""
ELSEWHERE = "elsewhere"
"""What no part does: products between parts."""


class Lengths(NamedTuple):
    """Of a batch without padding, in tokens."""

    batch: int
    source: int
    """Not read by a model of text alone."""
    target: int


class CountedPass(NamedTuple):
    """One pass of training, as a task has it."""

    features: Callable[[nn.Module, Lengths], Tensor]
    """Reads such a batch, up to the features."""
    rows: str
    """What a batch holds, in words."""


def ids(batch: int, length: int) -> Int[Tensor, "batch length"]:
    """Any token; on the meta device none."""
    return torch.ones(batch, length, dtype=torch.long)


def read_pairs(model: nn.Module, lengths: Lengths) -> Float[Tensor, "batch length d_model"]:
    """A model of pairs: source and target."""
    source, target = ids(lengths.batch, lengths.source), ids(lengths.batch, lengths.target)
    return cast(Seq2Seq, model).features(source, target)


def read_text(model: nn.Module, lengths: Lengths) -> Float[Tensor, "batch length d_model"]:
    """A model of text alone: the target."""
    return cast(NeuralLanguageModel, model).read(ids(lengths.batch, lengths.target)).features


PASS_OF_PAIRS = CountedPass(read_pairs, "pairs of sentences")
PASS_OF_TEXT = CountedPass(read_text, "stretches")


class OperationCount(NamedTuple):
    """What one batch costs."""

    lengths: Lengths
    by_part: dict[str, int]
    """Operations of the pass forward, by part, `OUTPUT` and `ELSEWHERE`."""
    backward: int
    """Operations of the gradients."""
    activation_bytes: int
    """What the pass keeps for the gradients, logits left out: training never holds all of them."""

    @property
    def forward(self) -> int:
        """Operations of the pass forward."""
        return sum(self.by_part.values())

    @property
    def training(self) -> int:
        """Forward and backward."""
        return self.forward + self.backward

    @property
    def tokens(self) -> int:
        """Target tokens."""
        return self.lengths.batch * self.lengths.target


def count(build: Callable[[], nn.Module], of: CountedPass, lengths: Lengths) -> OperationCount:
    """What a batch costs a model that `build` makes, in training mode."""
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        model = build().train()
        kept = _SavedTensors(model)
        operations, logits = _forward(model, of, lengths, counter, kept.watched())
        before = counter.get_total_flops()
        logits.float().sum().backward()
        backward = counter.get_total_flops() - before
    return OperationCount(lengths, operations, backward, kept.n_bytes)


def _forward(
    model: Any,
    of: CountedPass,
    lengths: Lengths,
    counter: FlopCounterMode,
    watched: AbstractContextManager[None],
) -> tuple[dict[str, int], Float[Tensor, "batch length vocabulary"]]:
    """Operations by part, and the logits; the features are computed while it is `watched`."""
    names = [name for name, _ in named_parts(model)]
    operations = dict.fromkeys((*names, OUTPUT, ELSEWHERE), 0)
    with _told_apart(model, names, counter, operations), watched:
        features = of.features(model, lengths)
    before = counter.get_total_flops()
    logits = project(features, model.output_weight, model.output_bias)
    forward = counter.get_total_flops()
    operations[OUTPUT] = forward - before
    operations[ELSEWHERE] = forward - sum(operations.values())
    return operations, logits


@contextmanager
def _told_apart(
    model: nn.Module, names: list[str], counter: FlopCounterMode, operations: dict[str, int]
) -> Iterator[None]:
    """While it is open, what is counted is added to the part that does it: the innermost one."""
    doing: list[str] = [ELSEWHERE]
    last = counter.get_total_flops()

    def settle() -> None:
        nonlocal last
        now = counter.get_total_flops()
        if doing[-1] != ELSEWHERE:
            operations[doing[-1]] += now - last
        last = now

    def enter(module: nn.Module, _given: object) -> None:
        settle()
        doing.append(owner[module] or doing[-1])

    def leave(_module: nn.Module, _given: object, _found: object) -> None:
        settle()
        doing.pop()

    owner = {module: part_of(name, names) for name, module in model.named_modules()}
    handles = [module.register_forward_pre_hook(enter) for module in owner]
    handles += [module.register_forward_hook(leave) for module in owner]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class _SavedTensors:
    """Memory that autograd holds on to, each piece once, without the parameters."""

    def __init__(self, model: nn.Module) -> None:
        self.known = {StorageWeakRef(p.untyped_storage()) for p in model.parameters()}
        self.n_bytes = 0

    def watched(self) -> saved_tensors_hooks:
        """While it is open, what is kept is added up."""
        return saved_tensors_hooks(self.add, lambda tensor: tensor)

    def add(self, tensor: Tensor) -> Tensor:
        """A tensor that is kept."""
        storage = StorageWeakRef(tensor.untyped_storage())
        if storage not in self.known:
            self.known.add(storage)
            self.n_bytes += tensor.untyped_storage().nbytes()
        return tensor
