"""Teacher forcing on pairs of id sequences; validation by loss and BLEU."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor, nn

from headway.core.batching import BatchStream, Rounds, TokenBatches
from headway.core.bleu import SentenceStatistics, bleu_statistics
from headway.core.errors import refuse_below
from headway.core.hypothesis import Decode, DecodingSettings, Hypothesis, SearchRequest
from headway.core.interfaces import Seq2Seq, StepDecoder
from headway.core.loss import Loss, projected_label_smoothed
from headway.core.rows import SIDES, Indices, pad
from headway.core.search import decode_all
from headway.core.subwords import Subwords
from headway.core.training_interfaces import ALONE, Batch, TaskState, Validation
from headway.core.training_settings import TrainingSettings


@runtime_checkable
class Rows(Protocol):
    """Pairs as ids, without markers: `rows["source"][i]` are the source ids of row i: [length]."""

    @property
    def lengths(self) -> Mapping[str, NDArray[Any]]:
        """Of `source` and `target`, in ids: [rows]."""

    def __getitem__(self, side: str, /) -> Any: ...


@runtime_checkable
class PairedData(Protocol):
    """What is learned from: a `headway.core.dataset.Dataset`, or more."""

    @property
    def train(self) -> Rows: ...
    @property
    def valid(self) -> Rows: ...
    @property
    def valid_texts(self) -> Sequence[tuple[str, str]]: ...
    @property
    def subwords(self) -> Subwords: ...


@dataclass(frozen=True)
class TranslationTraining(TrainingSettings):
    """Section [training]."""

    valid_sentences: int = 1000
    """How many validation sentences are translated at each checkpoint."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_below(self, {"valid_sentences": 1})


class TranslationTask:
    """Teacher forcing on pairs of ids; validation of `valid_rows` by loss, and by BLEU of texts."""

    unit = "target tokens"
    counted: tuple[str, ...] = ("source_tokens", "target_tokens")
    world = ALONE

    def __init__(
        self,
        data: PairedData,
        training: TranslationTraining,
        *,
        valid_rows: Indices,
        seed: int,
        device: torch.device,
        language: str | None = None,
        rounds: Rounds | None = None,
        decode: Decode = decode_all,
    ) -> None:
        """`language` is the targets'; `rounds` says which rows a pass has; `decode` searches."""
        self.subwords, self.special, self.device = data.subwords, data.subwords.special, device
        self.decode = decode
        self.train, self.valid, self.valid_rows = data.train, data.valid, valid_rows
        self.label_smoothing = training.label_smoothing
        self.valid_sources = [data.valid_texts[row][0] for row in valid_rows]
        self.valid_texts = [data.valid_texts[row][1] for row in valid_rows]
        self.language = language
        lengths, size = [*self.train.lengths.values()], training.batch_tokens
        batches = TokenBatches(lengths, batch_tokens=size, seed=seed, rounds=rounds)
        self.stream = BatchStream(batches)
        self.valid_batches = self.batches_of(valid_rows)

    def batches_of(self, rows: Indices) -> list[Indices]:
        """Some validation pairs in batches."""
        lengths, like = [side[rows] for side in self.valid.lengths.values()], self.stream.batches
        some = TokenBatches(lengths, batch_tokens=like.batch_tokens, seed=like.seed)
        return [rows[batch] for batch in some.epoch(0)]

    def tensors(
        self, store: Rows, indices: Indices
    ) -> tuple[
        Int[Tensor, "batch source"], Int[Tensor, "batch target"], Int[Tensor, "batch target"]
    ]:
        """Source with its end marker; `<s> y1 .. yn` to feed; `y1 .. yn </s>` to expect."""
        special = self.special
        sources, targets = ([store[side][int(i)] for i in indices] for side in SIDES)
        arrays = (
            pad(sources, special.padding, end=special.end),
            pad(targets, special.padding, begin=special.decoder_begin),
            pad(targets, special.padding, end=special.end),
        )
        on_device = (torch.from_numpy(one).to(self.device, non_blocking=True) for one in arrays)
        source, fed, expected = on_device
        return source, fed, expected

    def batch(self, store: Rows, rows: Indices) -> Batch:
        """Some pairs, and how many tokens they have with their end markers."""
        counts = {
            f"{side}_tokens": int(store.lengths[side][rows].sum()) + len(rows) for side in SIDES
        }
        return Batch((store, rows), counts["target_tokens"], counts)

    def cross_entropy(self, model: nn.Module, batch: Batch, smoothing: float) -> Loss:
        """The objective summed over one batch."""
        source, fed, expected = self.tensors(*batch.rows)
        seq2seq = cast(Seq2Seq, model)
        return projected_label_smoothed(
            seq2seq.features(source, fed),
            seq2seq.output_weight,
            expected,
            output_bias=seq2seq.output_bias,
            smoothing=smoothing,
            padding=self.special.padding,
        )

    def next_batch(self) -> Batch:
        """See `headway.core.training_interfaces.Task`."""
        return self.batch(self.train, self.stream.next())

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """See `headway.core.training_interfaces.Task`."""
        return self.cross_entropy(model, batch, self.label_smoothing).smoothed

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        """See `headway.core.training_interfaces.Task`."""
        store, rows = batch.rows
        return [self.batch(store, part) for part in np.array_split(rows, n) if len(part)]

    def validation_loss(self, model: nn.Module, batches: list[Indices] | None = None) -> float:
        """Nats per target token of the validation pairs (or some of them), not smoothed."""

        def nats(some: Sequence[Indices]) -> list[float]:
            found = (self.batch(self.valid, rows) for rows in some)
            return [self.cross_entropy(model, batch, 0.0).nll.item() for batch in found]

        chosen = self.valid_batches if batches is None else batches
        n_tokens = sum(self.batch(self.valid, rows).units for rows in chosen)
        return sum(self.world.divided(nats, chosen)) / n_tokens

    def validate(self, model: nn.Module) -> Validation:
        """By greedy search, which is the fastest."""
        return self.measured(model, DecodingSettings(method="greedy"))

    def measured(self, model: nn.Module, settings: DecodingSettings) -> Validation:
        """Loss, and BLEU under this search."""
        bleu = self.bleu(model, settings)
        return Validation(self.validation_loss(model), bleu.score(), "bleu", noise=bleu.noise())

    def bleu(self, model: nn.Module, settings: DecodingSettings) -> SentenceStatistics:
        """Counts for BLEU under this search, against the references as they were written."""
        written = self.translate(model, settings)
        return bleu_statistics(written, self.valid_texts, target_language=self.language)

    def translate(self, model: nn.Module, settings: DecodingSettings) -> list[str]:
        """The validation sources, translated."""
        return self.written(self.search(model, settings))

    def search(
        self, model: nn.Module, settings: DecodingSettings, *, evidence: bool = False
    ) -> list[list[Hypothesis]]:
        """Hypotheses for the validation sources; with scores and attention as `evidence`."""
        request = SearchRequest(
            self.special, settings, self.device, want_scores=evidence, want_attention=evidence
        )
        decoder = cast(StepDecoder, model)
        found = self.world.divided(lambda some: self.decode(decoder, some, request), self.sources)
        return list(found)

    def written(self, found: Sequence[Sequence[Hypothesis]]) -> list[str]:
        """The texts of the best ones."""
        return self.subwords.decode_batch([one[0].ids for one in found])

    @property
    def sources(self) -> Sequence[NDArray[Any]]:
        """The validation sources as they are read."""
        whole = self.valid["source"]
        return [whole[int(i)] for i in self.valid_rows]

    def state_dict(self) -> TaskState:
        """See `headway.core.training_interfaces.Task`."""
        return TaskState(self.stream.state_dict(), {})

    def load_state_dict(self, state: TaskState) -> None:
        """See `headway.core.training_interfaces.Task`."""
        self.stream.load_state_dict(state.countable)
