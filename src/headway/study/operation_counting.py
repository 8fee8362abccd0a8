"""Operations and memory of a model, counted before anything of it is in memory.

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
from headway.study.model_parts import named_parts, part_of

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
        kept = _Kept(model)
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


def operations_per_target_token(
    build: Callable[[], nn.Module], *, source_length: int, target_length: int
) -> float:
    """Operations forward of a translator for each token of the target, the source's reading shared
    among them."""
    found = count(build, PASS_OF_PAIRS, Lengths(1, source_length, target_length))
    return found.forward / found.tokens


def operations_per_token(build: Callable[[], nn.Module], *, length: int) -> float:
    """Operations forward of a language model for each token of texts of this length."""
    found = count(build, PASS_OF_TEXT, Lengths(1, 0, length))
    return found.forward / found.tokens


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


class _Kept:
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
