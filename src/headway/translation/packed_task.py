"""Learning from pairs that stand side by side in rows of a fixed length (`training.pack_length`):
the loss of padded ones, in batches that all have one shape."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.attention import causal_mask
from headway.core.batching import BatchStream
from headway.core.loss import projected_label_smoothed
from headway.core.rows import SIDES, Indices
from headway.core.training_interfaces import Batch
from headway.core.transformer import Transformer
from headway.core.translation_task import Rows
from headway.corpora.prepared import Prepared
from headway.translation.corpus_task import CorpusTask, PackedTraining
from headway.translation.packed_rows import Layout, RowBatches


class PackedSide(NamedTuple):
    """Sources, or targets, in rows: `[rows, length]` each."""

    ids: Int[Tensor, "rows length"]
    sentence: Int[Tensor, "rows length"]
    """Which pair of the batch a token belongs to, from 1; 0 is padding."""
    place: Int[Tensor, "rows length"]
    """Where in its sentence it stands, from 0."""


class PackedTask(CorpusTask):
    """A `CorpusTask` that learns from packed pairs; it validates on padded ones."""

    def __init__(self, prepared: Prepared, training: PackedTraining, **how: Any) -> None:
        super().__init__(prepared, training, **how)
        self.packed = RowBatches(
            [*self.train.lengths.values()],
            row_length=training.pack_length,
            batch_tokens=training.batch_tokens,
            seed=self.stream.batches.seed,
            rounds=prepared.rounds,
        )
        self.stream = BatchStream(self.packed)

    def next_batch(self) -> Batch:
        """See `headway.core.training_interfaces.Task`."""
        return self.rows_of(self.train, self.stream.next(), self.packed.n_rows)

    def rows_of(self, store: Rows, pairs: Indices, n_rows: int) -> Batch:
        """Some pairs that fit into so many rows."""
        batch = self.batch(store, pairs)
        return batch._replace(rows=(store, pairs, n_rows))

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        """See `headway.core.training_interfaces.Task`; between packed rows, of equal shape."""
        store, pairs, n_rows = batch.rows
        parts = np.array_split(self.row_ends(store, pairs), n)
        cuts = [int(part[-1]) for part in parts if len(part)]
        return [self.rows_of(store, one, -(-n_rows // n)) for one in np.split(pairs, cuts[:-1])]

    def row_ends(self, store: Rows, pairs: Indices) -> list[int]:
        """Where in `pairs` each row ends."""
        return self.packed.row_ends([side[pairs] + 1 for side in store.lengths.values()])

    def tensors(self, store: Rows, pairs: Indices, n_rows: int = 0) -> Any:
        """See `TranslationTask`; in so many rows, where that is said: then source and what is fed
        are `PackedSide`."""
        if not n_rows:
            return super().tensors(store, pairs)
        special, ends = self.special, self.row_ends(store, pairs)
        source, target = (
            Layout.of(store.lengths[side][pairs] + 1, ends, (n_rows, length))
            for side, length in zip(SIDES, self.packed.row_lengths, strict=True)
        )
        sources, targets = ([store[side][int(i)] for i in pairs] for side in SIDES)
        arrays = (
            source.ids(sources, special.padding, end=special.end),
            source.grid(source.sentence),
            source.grid(source.place),
            target.ids(targets, special.padding, begin=special.decoder_begin),
            target.grid(target.sentence),
            target.grid(target.place),
            target.ids(targets, special.padding, end=special.end),
        )
        tensors = [torch.from_numpy(one).to(self.device, non_blocking=True) for one in arrays]
        return PackedSide(*tensors[:3]), PackedSide(*tensors[3:6]), tensors[6]

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """See `headway.core.training_interfaces.Task`."""
        source, fed, expected = self.tensors(*batch.rows)
        return self.loss_of(model, (*source, *fed, expected))

    def loss_of(self, model: nn.Module, tensors: Sequence[Tensor]) -> Tensor:
        """Of what `tensors` gives, one after the other: may be recorded and replayed."""
        transformer = cast(Transformer, model)
        return projected_label_smoothed(
            packed_features(transformer, PackedSide(*tensors[:3]), PackedSide(*tensors[3:6])),
            transformer.output_weight,
            tensors[6],
            output_bias=transformer.output_bias,
            smoothing=self.label_smoothing,
            padding=self.special.padding,
            one_shape=tensors[6].is_cuda,
        ).smoothed


def packed_features(
    model: Transformer, source: PackedSide, target: PackedSide
) -> Float[Tensor, "rows target d_model"]:
    """`Transformer.features` of packed pairs: positions begin anew in each, and no token sees one
    of another pair."""

    def embedded(embedding: nn.Module, positions: nn.Module, side: PackedSide) -> Tensor:
        x = embedding(side.ids)
        table = positions(torch.zeros_like(x[:1]))[0]  # what each place adds
        return model.ready(x + table[side.place])

    x = embedded(model.source_embedding, model.source_positions, source)
    encoded = model.encoder_norm(model.encoder(x, within(source, source)))
    x = embedded(model.target_embedding, model.target_positions, target)
    past = within(target, target) & causal_mask(x.shape[1], x.device)
    return model.decoder_norm(model.decoder(x, past, encoded, within(target, source)))


def within(query: PackedSide, key: PackedSide) -> Bool[Tensor, "rows 1 query key"]:
    """Who sees whom: tokens of one pair."""
    same = query.sentence[:, :, None] == key.sentence[:, None]
    return (same & (key.sentence > 0)[:, None])[:, None]
