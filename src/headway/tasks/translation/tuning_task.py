"""Learning new pairs beside old ones: both are scored, and what is kept is chosen by both."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from headway.decoding.settings import DecodingSettings
from headway.metrics.translation import SentenceStatistics, bleu_by_language
from headway.runs.settings import Settings
from headway.runtime import EngineName
from headway.tasks.translation.task import TranslationTask
from headway.tasks.translation.tuning_data import TunedPairs
from headway.training.interfaces import Position, Validation

TIE = 1e-3
"""Of the parent's score, added to the new one: of two equal ones the less forgetful is better."""


class TuningTask(TranslationTask):
    """A `TranslationTask` whose first `n_new` validation pairs are new, the others the parent's.

    `before` has the scores of the weights that training began with, new and old: by greedy search,
    and by the run's own; and how many of the new ones it wrote just so. They are measured once, in
    the first validation, and stand in every checkpoint.
    """

    def __init__(
        self,
        *args: Any,
        n_new: int,
        learned: bool,
        decoding: DecodingSettings,
        forget_at_most: float,
        **kwargs: Any,
    ) -> None:
        """`learned`: the new ones are learned from, too, as they are too few to be split."""
        super().__init__(*args, **kwargs)
        self.n_new, self.decoding, self.forget_at_most = n_new, decoding, forget_at_most
        self.learned = learned
        rows = np.arange(len(self.valid_rows))
        self.parts = rows[:n_new], rows[n_new:]
        self.before: dict[str, list[float]] = {}

    def validate(self, model: nn.Module) -> Validation:
        """The first that is validated is what training began with."""
        greedy = DecodingSettings(method="greedy")
        if not self.before:
            searched = self.translate(model, self.decoding)
            self.before = {
                "greedy": self.both(model, greedy),
                "searched": self._scores(searched),
                "as_wanted": [self.n_as_wanted(searched)],
            }
        return self.measured(model, greedy)

    def measured(self, model: nn.Module, settings: DecodingSettings) -> Validation:
        """Loss and BLEU of both; of what forgets too much neither noise nor loss is looked at."""
        hypotheses = self.translate(model, settings)
        new, old = (self._statistics(hypotheses, part) for part in self.parts)
        loss, old_loss = (
            self.validation_loss(model, self.batches_of(self.valid_rows[part]))
            for part in self.parts
        )
        others = {"old_valid_loss": round(old_loss, 5), "old_bleu": round(old.score(), 3)}
        before = self.before["greedy" if settings.method == "greedy" else "searched"]
        rank = self.rank_of(new.score(), old.score(), before)
        noise = new.noise() if rank >= 0 else 0.0
        return Validation(loss, new.score(), "bleu", rank, others, noise)

    def rank_of(self, new: float, old: float, before: list[float]) -> float:
        """The new score, if the old one fell by no more than is allowed; else less than nothing."""
        fell = before[1] - old
        return new + TIE * old if fell <= self.forget_at_most else self.forget_at_most - fell

    def both(self, model: nn.Module, decoding: DecodingSettings) -> list[float]:
        """BLEU of the new and of the parent's validation pairs."""
        return self._scores(self.translate(model, decoding))

    def n_as_wanted(self, hypotheses: Sequence[str]) -> int:
        """How many of the new pairs are translated just as their references are."""
        return sum(hypotheses[i] == self.valid_texts[i] for i in self.parts[0])

    def _scores(self, hypotheses: list[str]) -> list[float]:
        return [self._statistics(hypotheses, part).score() for part in self.parts]

    def _statistics(self, hypotheses: list[str], part: Any) -> SentenceStatistics:
        texts, languages = self.valid_texts, self.valid_languages
        return bleu_by_language(
            [hypotheses[i] for i in part], [texts[i] for i in part], [languages[i] for i in part]
        )

    def groups(self) -> list[str]:
        """Which of both each validation pair is, and its language, where there are several."""
        new = "new pairs, learned from" if self.learned else "new pairs"
        names = [new] * self.n_new + ["the parent's pairs"] * len(self.parts[1])
        languages = super().groups()
        several = len(set(languages)) > 1
        both = zip(names, languages, strict=True)
        return [f"{name}, {language}" if several else name for name, language in both]

    def before_words(self, hypotheses: Sequence[str]) -> str:
        """See `TranslationTask.before_words`."""
        new, old = self.before["searched"]
        told = (
            f"Before the first update BLEU was {new:.2f} on the new pairs and {old:.2f} on the "
            f"parent's,\nof which at most {self.forget_at_most:g} might be lost.\n"
        )
        return told + self.as_wanted_words(hypotheses) if self.learned else told

    def as_wanted_words(self, hypotheses: Sequence[str]) -> str:
        """What was measured of new pairs that are too few to be split, and what was not."""
        n_before = f"{self.before['as_wanted'][0]:.0f}"
        return (
            f"The {self.n_new:,} new pairs are too few for some to be held out: their scores say "
            f"how far they were taken in\n({self.n_as_wanted(hypotheses):,} are translated just as "
            f"they say, {n_before} before), and nothing of sentences like them.\n"
        )

    def position(self) -> Position:
        """See `headway.training.interfaces.Task`."""
        found = super().position()
        return found._replace(countable={**found.countable, "before": self.before})

    def go_to(self, position: Position) -> None:
        """See `headway.training.interfaces.Task`."""
        super().go_to(position)
        self.before = position.countable["before"] or self.before


def tuning_task(
    settings: Settings, data: TunedPairs, device: torch.device, engine: EngineName
) -> TuningTask:
    """What the training loop asks for, where the parent's data are mixed in."""
    return TuningTask(
        data.prepared,
        settings.training,
        valid_rows=data.valid_rows(),
        seed=settings.runtime.seed,
        device=device,
        n_new=data.n_new_valid,
        learned=data.learned,
        decoding=settings.decoding,
        forget_at_most=settings.training.forget_at_most,
        engine=engine,
    )
