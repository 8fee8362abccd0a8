"""The training step of a Transformer, compiled: loss and gradients of a batch, a call a thread."""

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from headway.core.dropout import Dropout
from headway.core.errors import UserError
from headway.core.hypothesis import Ids
from headway.core.interfaces import StepDecoder
from headway.core.runtime import ProductPrecision
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.engine.engine import unsupported
from headway.engine.learner import LearnedModel, PairsStruct, training_library
from headway.engine.packing import aligned, zeros
from headway.engine.translating import begins, refuse_other_ids

CHUNK_TOKENS = 1024
"""Source and target tokens that a thread has in work, about: so few that they stay near."""
LEAST_TOKENS = 256
"""Of a thread; with fewer it would not pay for gradients of its own, as large as the model."""
KINDS_OF_DROPOUT = {
    "self_attention": "attention_dropout",
    "cross_attention": "attention_dropout",
    "feed_forward": "activation_dropout",
}
"""By the part that it is in; elsewhere it is `dropout`."""


class NativeStep:
    """Losses of batches of a model whose gradients are made in C; torch defines what they are."""

    def __init__(
        self, model: Transformer, precision: ProductPrecision = "fp32", threads: int = 1
    ) -> None:
        """`precision` is that of matrix products, fp32 or bf16; weights and gradients are float32.

        Raises `NoEngineError` where it cannot be compiled, and ValueError for what
        `unsupported_training` names.
        """
        reason = unsupported_training(model, next(model.parameters()).device)
        if reason or precision == "int8":
            raise ValueError(reason or "int8 is for translating alone")
        self.model, self.precision, self.threads = model, precision, threads
        library = training_library()
        self.library, self.learned = library.library, LearnedModel(model, library, precision)
        self.rooms = [aligned(0) for _ in range(threads)]
        self.gradients = [zeros(0) for _ in range(threads)]
        self.panels = [zeros(library.panel * self.learned.most_inputs) for _ in range(threads)]
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.n_losses = 0
        self.n_learning = 1  # threads that had sentences of the newest loss

    def loss(
        self,
        sources: Sequence[Ids],
        targets: Sequence[Ids],
        special: SpecialIds,
        smoothing: float,
    ) -> Tensor:
        """The label-smoothed cross-entropy, summed over all target tokens with their end markers,
        in nats; its `backward()` adds to the parameters' gradients. Pairs are ids without markers.

        Only the newest loss can be gone back from: gradients lie in one place. Where torch records
        no gradients, none are made. Dropout is drawn from torch's generator, one number a call.

        Raises:
            ValueError: ids that the model does not have, or that are padding.
            UserError: a text is longer than learned positions are.
        """
        batch = PairedBatch(self.model, sources, targets, special)
        batch.structure.smoothing = smoothing
        batch.structure.wants_gradients = torch.is_grad_enabled()
        self.n_losses += 1
        self.learned.refresh(batch.longest)
        pack, model = self.library.headway_training_pack, self.learned.structure
        rows = [one.ctypes.data for one in self.panels]
        self._together(lambda thread: pack(model, thread, self.threads, rows[thread]))
        self.n_learning = min(self.threads, max(1, batch.n_tokens // LEAST_TOKENS))
        losses = self._together(lambda thread: self._learn(thread, batch))
        total = torch.tensor(sum(losses), dtype=torch.float32)
        if not torch.is_grad_enabled():
            return total
        found: Tensor = _NativeLoss.apply(torch.zeros((), requires_grad=True), total, self)
        return found

    def add_gradients(self, number: int, factor: float) -> None:
        """Add those of loss `number`, times a factor, to the model's. Raises RuntimeError where
        another loss was asked for since."""
        if number != self.n_losses:
            raise RuntimeError("only the newest loss of a NativeStep has gradients")
        self.learned.point_at_gradients()
        places, n = [one.ctypes.data for one in self.gradients], self.n_learning
        array, model = np.array(places, dtype=np.uintp), self.learned.structure
        add, threads = self.library.headway_training_sum, self.threads
        self._together(lambda thread: add(model, array.ctypes.data, n, factor, thread, threads))

    def _together(self, work: Callable[[int], Any]) -> list[Any]:
        """What each thread gives. Where one fails the others end first: arrays are used again."""
        if self.pool is None:
            return [work(0)]
        working = [self.pool.submit(work, thread) for thread in range(self.threads)]
        wait(working)
        return [one.result() for one in working]

    def _learn(self, thread: int, batch: "PairedBatch") -> float:
        """The loss of a thread's share of the sentences."""
        if thread >= self.n_learning:
            return 0.0
        library, model, pairs = self.library, self.learned.structure, batch.structure
        chunks = batch.chunks(thread, self.n_learning)
        needed = [library.headway_training_room(model, pairs, *chunk) for chunk in chunks]
        n_bytes = max(needed, default=0)
        if self.rooms[thread].nbytes < n_bytes:
            self.rooms[thread] = aligned(n_bytes)
        if pairs.wants_gradients:
            if not self.gradients[thread].size:
                self.gradients[thread] = zeros(self.learned.n_numbers)
            ctypes.memset(self.gradients[thread].ctypes.data, 0, self.gradients[thread].nbytes)
        places = self.rooms[thread].ctypes.data, self.gradients[thread].ctypes.data
        return sum(library.headway_training_learn(model, pairs, *one, *places) for one in chunks)


class _NativeLoss(torch.autograd.Function):
    """A loss whose gradients are there already."""

    @staticmethod
    def forward(ctx: Any, _: Tensor, total: Tensor, step: NativeStep) -> Tensor:
        ctx.step, ctx.number = step, step.n_losses
        return total.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None, None]:
        ctx.step.add_gradients(ctx.number, gradients[0].item())
        return None, None, None


class PairedBatch:
    """Pairs of sentences as the C code reads them, checked."""

    def __init__(
        self,
        model: Transformer,
        sources: Sequence[Ids],
        targets: Sequence[Ids],
        special: SpecialIds,
    ) -> None:
        self.source_first, read = joined(sources, special.end)
        self.target_first, expected = joined(targets, special.end)
        fed = np.empty_like(expected)
        fed[1:] = expected[:-1]
        fed[self.target_first[:-1]] = special.decoder_begin
        refuse_other_ids(len(model.output_weight), read, expected, fed[:1])
        if model.padding in read or model.padding in expected:
            raise ValueError(f"a sentence holds no padding, which is {model.padding}")
        self.n_tokens = len(read) + len(expected)
        firsts = self.source_first, self.target_first
        self.longest = int(max(np.diff(one).max(initial=0) for one in firsts))
        if model.longest is not None and self.longest > model.longest:
            raise UserError(
                f"Learned positions end at {model.longest} tokens; got {self.longest}. Shorten the "
                "text, or train with a larger --model.max-length, or with sinusoidal positions."
            )
        self.arrays = {
            "read": read, "fed": fed, "expected": expected, "source_first": self.source_first,
            "target_first": self.target_first, "numbers": np.arange(len(sources)),
        }  # fmt: skip
        dropped = strengths(model)
        self.structure = PairsStruct(**dropped)
        for name, array in self.arrays.items():
            setattr(self.structure, name, array.ctypes.data)
        if any(dropped.values()):
            self.structure.seed = int(torch.randint(2**63 - 1, ()))

    def chunks(self, thread: int, threads: int) -> list[tuple[int, int]]:
        """The first sentence, and the one behind the last, of all that a thread has at a time."""
        tokens = self.source_first + self.target_first
        first, last = cuts(tokens, threads)[thread : thread + 2]
        n_chunks = -(-(tokens[last] - tokens[first]) // CHUNK_TOKENS)
        ends = cuts(tokens[first : last + 1] - tokens[first], max(n_chunks, 1))
        return [(first + a, first + b) for a, b in pairwise(ends) if b > a]


def joined(sentences: Sequence[Ids], end: int) -> tuple[Any, Any]:
    """Where each begins, and where all end; and all one behind another, each with its end."""
    arrays = [np.append(np.asarray(one, dtype=np.int64), end) for one in sentences]
    first = begins([len(one) for one in arrays])
    return first, np.concatenate(arrays).astype(np.int32)


def cuts(first: Any, n: int) -> list[int]:
    """Where to cut sentences into `n` parts of about as many tokens; `first` as in `begins`."""
    wanted = first[-1] * np.arange(1, n) / n
    after = np.searchsorted(first, wanted)
    nearer = after - (wanted - first[after - 1] < first[after] - wanted)
    return [0, *nearer.tolist(), len(first) - 1]


def strengths(model: Transformer) -> dict[str, float]:
    """The dropout in effect, by kind; none outside training."""
    layer = next(iter(model.encoder))
    kinds = {
        "dropout": model.dropout,
        "attention_dropout": layer.self_attention.dropout,
        "activation_dropout": layer.feed_forward.dropout,
    }
    return {name: one.strength if model.training else 0.0 for name, one in kinds.items()}


def unsupported_training(model: nn.Module, device: torch.device) -> str:
    """Why the engine cannot train this model; nothing if it can."""
    if reason := unsupported(cast(StepDecoder, model), device, training=True):
        return reason
    learned = [one.requires_grad and not one._backward_hooks for one in model.parameters()]
    if not all(learned) or not all(one.is_contiguous() for one in model.parameters()):
        return "some of its parameters do not learn, or something looks into their gradients"
    config = cast(Transformer, model).config
    for name, part in model.named_modules():
        if isinstance(part, Dropout):
            kind = KINDS_OF_DROPOUT.get(name.split(".")[-2:][0], "dropout")
            if part.probability != getattr(config, kind):
                return "its dropout is not the same everywhere"
    return ""
