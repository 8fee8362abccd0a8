"""The task of a run: sources with codes, or of several sentences, are read as `translate` reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray
from torch import nn

from headway.core.bleu import SentenceStatistics
from headway.core.errors import refuse_below, refuse_beyond
from headway.core.hypothesis import DecodingSettings, Hypothesis
from headway.core.translation_task import TranslationTask, TranslationTraining
from headway.corpora.prepared import Prepared
from headway.localization.checks.output_checks import ModelEvidence
from headway.localization.placeholders.may_hold import may_hold_sentences
from headway.metrics.corpus_scores import bleu_by_language
from headway.translation.detailed import attended


@dataclass(frozen=True)
class PackedTraining(TranslationTraining):
    """Section [training] of a translator that may learn from packed pairs."""

    pack_length: int = 0
    """Pairs stand side by side in rows of so many tokens, in batches of one shape; 0: they are
    padded, in batches of like length (docs/scale.md)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_below(self, {"pack_length": 0})
        refuse_beyond(self, {"pack_length": 1 << 20})


class CorpusTask(TranslationTask):
    """A `TranslationTask` on a corpus of any kind: weighted, of several languages, with codes."""

    def __init__(self, prepared: Prepared, training: TranslationTraining, **how: Any) -> None:
        super().__init__(prepared, training, rounds=prepared.rounds, **how)
        self.prepared = prepared
        self.valid_languages = [prepared.valid_uses[row].target_language for row in self.valid_rows]

    def bleu(self, model: nn.Module, settings: DecodingSettings) -> SentenceStatistics:
        """Counts for BLEU under this search, each reference in its language."""
        written = self.translate(model, settings)
        return bleu_by_language(written, self.valid_texts, self.valid_languages)

    def groups(self) -> list[str]:
        """What the scores of each validation pair are told under: its target language."""
        return [language or "language not known" for language in self.valid_languages]

    def before_words(self, hypotheses: Sequence[str]) -> str:
        """For the card: what was before the first update, beside what is; nothing to be told."""
        return ""

    @cached_property
    def portions(self) -> Any:
        """The `ValidationPortions` where there are codes, or sources that `translate` cuts."""
        if self.prepared.codes != "mask" and not any(map(may_hold_sentences, self.valid_sources)):
            return None
        from headway.translation.portions import cut_sources

        return cut_sources(self.prepared, self.valid_rows)

    @property
    def sources(self) -> Sequence[NDArray[Any]]:
        """The validation sources as they are read, in portions where there are some."""
        return self.portions.ids if self.portions else super().sources

    def written(self, found: Sequence[Sequence[Hypothesis]]) -> list[str]:
        """The texts of the best ones, with the codes of the sources put back."""
        written = super().written(found)
        return self.portions.joined(written) if self.portions else written

    def readings(self, found: Sequence[Sequence[Hypothesis]]) -> list[list[ModelEvidence]]:
        """What was said of each validation source, or of its portions, in a search for evidence."""
        subwords = self.prepared.subwords
        each = [
            ModelEvidence(
                subwords.pieces(ids.tolist()), one.token_log_probs, attended(one, len(ids))
            )
            for ids, (one, *_) in zip(self.sources, found, strict=True)
        ]
        return self.portions.of_rows(each) if self.portions else [[one] for one in each]
