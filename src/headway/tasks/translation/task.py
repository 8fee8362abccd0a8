"""Teacher forcing on pairs of id sequences; validation by loss and BLEU."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from headway.data.batching import BatchStream, Indices, RowWeights, TokenBatches, pad
from headway.data.store import Store
from headway.decoding.search import decode_all
from headway.decoding.settings import DecodingSettings
from headway.metrics.translation import SentenceStatistics, bleu_by_language
from headway.models.interfaces import Seq2Seq, StepDecoder
from headway.objectives import Loss, projected_label_smoothed
from headway.text.subwords import Subwords
from headway.training.interfaces import Batch, Position, Validation

Ids = np.ndarray[Any, np.dtype[Any]]


class TranslationTask:
    """Teacher forcing on pairs of ids; validation by loss and by greedy BLEU.

    `valid_texts` are the reference translations as the user wrote them: BLEU is scored on text,
    each in its own of the `valid_languages`. They belong to `valid_rows` of `valid` (None: to the
    first ones).
    `weights` say how often each training pair is seen in a pass (None: once).
    `valid_codes` says what the placeholders of each validation pair stand for, if it has any.
    """

    unit = "target tokens"
    counted = ("source_tokens", "target_tokens")

    def __init__(
        self,
        train: Store,
        valid: Store,
        valid_texts: Sequence[str],
        subwords: Subwords,
        *,
        batch_tokens: int,
        weights: RowWeights | None = None,
        valid_rows: Indices | None = None,
        label_smoothing: float,
        seed: int,
        device: torch.device,
        valid_languages: Sequence[str | None],
        valid_codes: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.train, self.valid, self.valid_texts = train, valid, list(valid_texts)
        self.subwords, self.special = subwords, subwords.special
        self.label_smoothing = label_smoothing
        self.device = device
        self.valid_languages = list(valid_languages)
        batches = TokenBatches(
            list(train.lengths.values()),
            batch_tokens=batch_tokens,
            seed=seed,
            weights=weights,
        )
        self.stream = BatchStream(batches)
        self.valid_codes = list(valid_codes) or [{} for _ in valid_texts]
        self.valid_rows = np.arange(len(self.valid_texts)) if valid_rows is None else valid_rows
        valid_batches = TokenBatches(
            [lengths[self.valid_rows] for lengths in valid.lengths.values()],
            batch_tokens=batch_tokens,
            seed=seed,
        )
        self.valid_batches = [self.valid_rows[batch] for batch in valid_batches.epoch(0)]

    def tensors(
        self, store: Store, indices: Ids
    ) -> tuple[
        Int[Tensor, "batch source"], Int[Tensor, "batch target"], Int[Tensor, "batch target"]
    ]:
        """Source with its end marker; `<s> y1 .. yn` to feed; `y1 .. yn </s>` to expect."""
        special = self.special
        targets = [store["target"][int(i)] for i in indices]
        arrays = (
            pad([store["source"][int(i)] for i in indices], special.padding, end=special.end),
            pad(targets, special.padding, begin=special.decoder_begin),
            pad(targets, special.padding, end=special.end),
        )
        source, fed, expected = (
            torch.from_numpy(array).to(self.device, non_blocking=True) for array in arrays
        )
        return source, fed, expected

    def batch(self, store: Store, rows: Ids) -> Batch:
        """Some pairs, and how many tokens they have with their end markers."""
        n_source = int(store.lengths["source"][rows].sum()) + len(rows)
        n_target = int(store.lengths["target"][rows].sum()) + len(rows)
        counts = {"source_tokens": n_source, "target_tokens": n_target}
        return Batch((store, rows), n_target, counts)

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
        """See `headway.training.interfaces.Task`."""
        return self.batch(self.train, self.stream.next())

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """See `headway.training.interfaces.Task`."""
        return self.cross_entropy(model, batch, self.label_smoothing).smoothed

    def validation_loss(self, model: nn.Module) -> float:
        """Nats per target token of the validation pairs, not smoothed."""
        nats, n_tokens = 0.0, 0
        for rows in self.valid_batches:
            batch = self.batch(self.valid, rows)
            nats += self.cross_entropy(model, batch, 0.0).likelihood.item()
            n_tokens += batch.units
        return nats / n_tokens

    def validate(self, model: nn.Module) -> Validation:
        """Loss on the validation pairs, BLEU of their greedy translations."""
        score = self.bleu(model, DecodingSettings(method="greedy")).score()
        return Validation(self.validation_loss(model), score, "bleu")

    def bleu(self, model: nn.Module, settings: DecodingSettings) -> SentenceStatistics:
        """Counts for BLEU of the validation sentences under this search."""
        hypotheses = self.translate(model, settings)
        return bleu_by_language(hypotheses, self.valid_texts, self.valid_languages)

    def translate(self, model: nn.Module, settings: DecodingSettings) -> list[str]:
        """The validation sources, translated, with their codes put back."""
        sources = [self.valid["source"][int(row)] for row in self.valid_rows]
        found = decode_all(
            cast(StepDecoder, model),
            sources,
            self.special,
            settings,
            device=self.device,
            want_scores=False,
        )
        written = self.subwords.decode_batch([hypotheses[0].ids for hypotheses in found])
        if not any(self.valid_codes):
            return written
        from headway.text.codes import unmask

        both = zip(written, self.valid_codes, strict=True)
        return [unmask(text, codes).text if codes else text for text, codes in both]

    def position(self) -> Position:
        """See `headway.training.interfaces.Task`."""
        return Position(self.stream.state(), {})

    def go_to(self, position: Position) -> None:
        """See `headway.training.interfaces.Task`."""
        self.stream.restore(position.countable)
