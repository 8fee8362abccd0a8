"""Teacher forcing on pairs of id sequences; validation by loss and BLEU."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from headway.core.batching import BatchStream, Indices, TokenBatches, pad
from headway.core.bleu import SentenceStatistics, bleu_by_language
from headway.core.errors import ConfigError
from headway.core.hypothesis import Hypothesis
from headway.core.interfaces import Seq2Seq, StepDecoder
from headway.core.loss import Loss, projected_label_smoothed
from headway.core.search import Decode, SearchRequest, decode_all
from headway.core.search_settings import DecodingSettings
from headway.core.store import Store
from headway.core.training_interfaces import Batch, Position, Validation
from headway.core.training_settings import TrainingSettings
from headway.core.translate import attended
from headway.corpora.prepared import Prepared
from headway.languages.sentences import may_hold_sentences
from headway.localization.checks.output_checks import Reading


@dataclass(frozen=True)
class TranslationTraining(TrainingSettings):
    """Section [training]."""

    tune_length_penalty: bool = True
    """Whether decoding.length_penalty is chosen on validation sentences at the end; never where it
    was set."""
    valid_sentences: int = 1000
    """How many validation sentences are translated at each checkpoint."""
    forget_at_most: float = 0.5
    """BLEU that a run which goes on from another's weights may lose on that one's validation pairs,
    where its text files are still there."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.valid_sentences < 1:
            raise ConfigError(f"valid_sentences must be at least 1; got {self.valid_sentences}.")
        if not 0 <= self.forget_at_most <= 100:
            raise ConfigError(
                "forget_at_most is BLEU that may be lost, from 0 to 100; got "
                f"{self.forget_at_most:g}. Try 0.5."
            )


class TranslationTask:
    """Teacher forcing on pairs of ids; validation of `valid_rows` by loss, and by BLEU of texts."""

    unit = "target tokens"
    counted = ("source_tokens", "target_tokens")

    def __init__(
        self,
        prepared: Prepared,
        training: TranslationTraining,
        *,
        valid_rows: Indices,
        seed: int,
        device: torch.device,
        decode: Decode = decode_all,
    ) -> None:
        self.prepared, self.special, self.device = prepared, prepared.subwords.special, device
        self.decode = decode
        self.train, self.valid, self.valid_rows = prepared.train, prepared.valid, valid_rows
        self.label_smoothing = training.label_smoothing
        self.valid_sources = [prepared.valid_texts[row][0] for row in valid_rows]
        self.valid_texts = [prepared.valid_texts[row][1] for row in valid_rows]
        self.valid_languages = [prepared.valid_uses[row].target_language for row in valid_rows]
        batches = TokenBatches(
            list(self.train.lengths.values()),
            batch_tokens=training.batch_tokens,
            seed=seed,
            rounds=prepared.rounds,
        )
        self.stream = BatchStream(batches)
        self.valid_batches = self.batches_of(valid_rows)

    def batches_of(self, rows: Indices) -> list[Indices]:
        """Some validation pairs in batches."""
        batches, lengths = self.stream.batches, self.valid.lengths.values()
        size, seed = batches.batch_tokens, batches.seed
        some = TokenBatches([side[rows] for side in lengths], batch_tokens=size, seed=seed)
        return [rows[batch] for batch in some.epoch(0)]

    def tensors(
        self, store: Store, indices: Indices
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

    def batch(self, store: Store, rows: Indices) -> Batch:
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
        """See `headway.core.training_interfaces.Task`."""
        return self.batch(self.train, self.stream.next())

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """See `headway.core.training_interfaces.Task`."""
        return self.cross_entropy(model, batch, self.label_smoothing).smoothed

    def split_batch(self, batch: Batch) -> list[Batch]:
        """See `headway.core.training_interfaces.Task`."""
        store, rows = batch.rows
        return [self.batch(store, half) for half in np.array_split(rows, 2) if len(half)]

    def groups(self) -> list[str]:
        """What the scores of each validation pair are told under: its target language."""
        return [language or "language not known" for language in self.valid_languages]

    def before_words(self, hypotheses: Sequence[str]) -> str:
        """For the card: what was before the first update, beside what is; nothing to be told."""
        return ""

    def validation_loss(self, model: nn.Module, batches: list[Indices] | None = None) -> float:
        """Nats per target token of the validation pairs (or some of them), not smoothed."""
        nats, n_tokens = 0.0, 0
        for rows in self.valid_batches if batches is None else batches:
            batch = self.batch(self.valid, rows)
            nats += self.cross_entropy(model, batch, 0.0).likelihood.item()
            n_tokens += batch.units
        return nats / n_tokens

    def validate(self, model: nn.Module) -> Validation:
        """Loss on the validation pairs, BLEU of their greedy translations."""
        return self.measured(model, DecodingSettings(method="greedy"))

    def measured(self, model: nn.Module, settings: DecodingSettings) -> Validation:
        """Loss, and BLEU under this search."""
        bleu = self.bleu(model, settings)
        return Validation(self.validation_loss(model), bleu.score(), "bleu", noise=bleu.noise())

    def bleu(self, model: nn.Module, settings: DecodingSettings) -> SentenceStatistics:
        """Counts for BLEU under this search, each reference as it was written, in its language."""
        hypotheses = self.translate(model, settings)
        return bleu_by_language(hypotheses, self.valid_texts, self.valid_languages)

    def translate(self, model: nn.Module, settings: DecodingSettings) -> list[str]:
        """The validation sources, translated, with their codes put back."""
        return self.written(self.search(model, settings))

    def search(
        self, model: nn.Module, settings: DecodingSettings, *, evidence: bool = False
    ) -> list[list[Hypothesis]]:
        """Hypotheses for the validation sources; with scores and attention as `evidence`."""
        request = SearchRequest(self.special, settings, self.device, evidence, evidence)
        return self.decode(cast(StepDecoder, model), self.sources, request)

    def written(self, found: Sequence[Sequence[Hypothesis]]) -> list[str]:
        """The texts of the best ones, with the codes of the sources put back."""
        written = self.prepared.subwords.decode_batch([one[0].ids for one in found])
        return self.portions.joined(written) if self.portions else written

    @cached_property
    def portions(self) -> Any:
        """The `ValidationPortions` where there are codes, or sources that `translate` cuts."""
        if self.prepared.codes != "mask" and not any(map(may_hold_sentences, self.valid_sources)):
            return None
        from headway.translation.validation_portions import cut

        return cut(self.prepared, self.valid_rows)

    @property
    def sources(self) -> Sequence[np.ndarray[Any, np.dtype[Any]]]:
        """The validation sources as they are read, in portions where there are some."""
        whole = self.valid["source"]
        return self.portions.ids if self.portions else [whole[int(i)] for i in self.valid_rows]

    def readings(self, found: Sequence[Sequence[Hypothesis]]) -> list[list[Reading]]:
        """What was said of each validation source, or of its portions, in a search for evidence."""
        subwords = self.prepared.subwords
        each = [
            Reading(subwords.pieces(ids.tolist()), one.token_log_probs, attended(one, len(ids)))
            for ids, (one, *_) in zip(self.sources, found, strict=True)
        ]
        return self.portions.of_rows(each) if self.portions else [[one] for one in each]

    def position(self) -> Position:
        """See `headway.core.training_interfaces.Task`."""
        return Position(self.stream.state(), {})

    def go_to(self, position: Position) -> None:
        """See `headway.core.training_interfaces.Task`."""
        self.stream.restore(position.countable)
