"""A run that goes on from another's weights: its settings, and its task, in which new pairs are
learned beside old ones, both are scored, and what is kept is chosen by both."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from headway.core.bleu import SentenceStatistics
from headway.core.cleaning import LEAST_PAIRS
from headway.core.config import Sections, merge
from headway.core.errors import ConfigError
from headway.core.hypothesis import Decode, DecodingSettings
from headway.core.training_interfaces import TaskState, Validation
from headway.corpora.cache_place import silent
from headway.corpora.corpus import languages
from headway.languages.codes import same_language
from headway.metrics.corpus_scores import bleu_by_language
from headway.runs.parent import (
    FREE_OF_MODEL,
    Parent,
    refuse_contradictions,
    refuse_other_type,
    tuned_rate,
)
from headway.runs.settings import Settings
from headway.runs.task_spec import Say, TaskSpec
from headway.translation import tuning_data
from headway.translation.corpus_task import CorpusTask
from headway.translation.pairs import TranslationData
from headway.translation.replacements import Correction, replaced, taken_up
from headway.translation.run_data import missing
from headway.translation.tuning_data import TunedPairs

HELD_BACK = 0.3
"""Of `headway.runs.parent.tuned_rate`, where nothing of what the other run learned from can be seen
again, or where new pairs are few: with the whole rate 8 cost the demo's translator 0.8 BLEU, more
than may be lost."""
FREE = {"text": {"sample_lines", "own_codes"}, "model": FREE_OF_MODEL}
"""What another run's weights do not depend on."""
INHERITED_TRAINING = ("batch_tokens", "label_smoothing", "clip_norm", "average", "valid_sentences")


def inherited(spec: TaskSpec, parent: Parent, given: Sections, say: Say = silent) -> Sections:
    """What the user gave, on top of what the parent has.

    Vocabulary, text settings and shape are the parent's, and so are how it searches and the size of
    its batches. The learning rate is a third of the parent's, or the same if that was tuned itself;
    it falls in a straight line. The parent's data are seen again (`tuning_data.with_old_pairs`);
    where they are gone, the rate is lower still, and that is said. So it is for few new pairs.

    Raises:
        ConfigError: what was given contradicts the vocabulary, text settings or shape, or asks for
            data that are not there.
    """
    before = Settings.of_run(parent.folder, spec)
    stored = before.sections()
    training = {key: stored["training"][key] for key in INHERITED_TRAINING}
    training["learning_rate"] = tuned_rate(before)
    now = Settings.of(given, spec)
    refuse_other_type(parent, before, given)
    why_not, gone = nothing_to_mix_in(parent, before, now)
    if why_not:
        if now.data.old_share:
            raise ConfigError(
                f"--old-share mixes in the training pairs of {parent.folder.path}; {why_not}. "
                "Change that, or leave --old-share out."
            )
        say(
            f"nothing of what {parent.folder.path} learned from is mixed in, nor is it compared "
            f"with what this run is validated on: {why_not}"
        )
    held_back = gone or (not why_not and tuning_data.are_few(now.data))
    if held_back and "learning_rate" not in given.get("training", {}):
        training |= {"learning_rate": HELD_BACK * tuned_rate(before), "held_back": HELD_BACK}
    if gone:
        if now.data.validation() is None and tuning_data.are_few(now.data):
            raise ConfigError(
                f"fewer than {2 * LEAST_PAIRS} new pairs are learned together with the "
                f"training pairs of {parent.folder.path}; {why_not}. Put those files back where "
                f"they were, or give {2 * LEAST_PAIRS} new pairs or more."
            )
        say(
            "WARNING: what the model forgets can be neither held nor measured. The learning rate "
            "is lower; a test set of your own tells more: headway evaluate"
        )
    decoding = dict(stored["decoding"])
    if before.training.tune_length_penalty:
        del decoding["length_penalty"]  # it is found again, on the new text
    # The share that is wanted: of the one that comes out, other weights would come on --resume.
    old: dict[str, Any] = {"old_run": str(parent.folder.path), "old_share": tuning_data.OLD_SHARE}
    base = {
        "text": stored["text"],
        "data": {
            "max_length": before.data.max_length,
            "tags": before.data.tags or ("",),
            **direction(before.data, now.data),
            **({"glossary": (parent.folder.glossary,)} if before.data.glossary else {}),
            **({"old_share": 0.0} if why_not else old),
        },
        "model": stored["model"],
        "training": training,
        "decoding": decoding,
    }
    sections = merge(base, given)
    refuse_contradictions(parent, stored, Settings.of(sections, spec).sections(), FREE)
    return sections


def nothing_to_mix_in(parent: Parent, before: Settings, now: Settings) -> tuple[str, bool]:
    """Why nothing of the parent's data is seen again, if so, in words; and whether it is gone."""
    if now.training.reinit:
        return "parts of the model are drawn anew (--reinit)", False
    given = now.data.corpus()
    codes = languages(given) if given.parts else (None, None)
    known = before.data.source_language, before.data.target_language
    for code, own in zip(codes, known, strict=True):
        if code and own and not same_language(code, own):
            return f"it translates {known[0]} -> {known[1]}, this {codes[0]} -> {codes[1]}", False
    why = missing(parent.folder)
    return why, bool(why)


def direction(before: TranslationData, now: TranslationData) -> dict[str, str | None]:
    """The parent's languages for files that hold both sides, unless they hold other languages."""
    if now.source or now.source_language or now.target_language or not now.pairs:
        return {}
    known = (before.source_language, before.target_language)
    for code in languages(now.corpus()):
        if code is not None and not any(same_language(code, wanted) for wanted in known):
            return {}
    return {"source_language": known[0], "target_language": known[1]}


# -- the task ----------------------------------------------------------------------------------


TIE = 1e-3
"""Of the parent's score, added to the new one: of two equal ones the less forgetful is better."""


class CorrectionUptake(NamedTuple):
    """How many translations have what a reviewer wanted, and not what stood there before."""

    corrected: int
    n_corrected: int
    """Sentences that were corrected, and learned from."""
    like: int
    n_like: int
    """Sentences that nobody corrected, of which the parent wrote what is replaced."""

    @property
    def share(self) -> float:
        """Of both kinds alike, if there are both."""
        counts = ((self.corrected, self.n_corrected), (self.like, self.n_like))
        shares = [some / of for some, of in counts if of]
        return sum(shares) / len(shares) if shares else 0.0

    def words(self, before: "CorrectionUptake") -> str:
        """For people, beside what it was before the first update."""
        told = (
            f"Taken up: {self.corrected:,} of {self.n_corrected:,} corrections "
            f"({before.corrected:,} before); "
        )
        if not self.n_like:
            return f"{told}of sentences like them nothing could be measured.\n"
        return (
            f"{told}on {self.n_like:,} sentences like them that it did not learn from "
            f"{self.like:,} ({before.like:,} before).\n"
        )


class TuningTask(CorpusTask):
    """A `CorpusTask` of `TunedPairs`: its first validation pairs are new, the others the parent's.

    Of a review the last are like what was corrected: they are scored by what is taken up alone
    (`CorrectionUptake`), and none of them is among those that tell what is forgotten.

    `before` has the scores of the weights that training began with, new and old: by greedy search,
    and by the run's own; what was taken up; and what was written of the pairs that are like those.
    They are measured once, in the first validation, and stand in every checkpoint.
    """

    def __init__(
        self, settings: Settings, data: TunedPairs, device: torch.device, decode: Decode
    ) -> None:
        super().__init__(
            data.prepared,
            settings.training,
            valid_rows=data.valid_rows(),
            seed=settings.runtime.seed,
            device=device,
            decode=decode,
        )
        self.data, self.decoding = data, settings.decoding
        self.forget_at_most = settings.training.forget_at_most
        rows = np.arange(len(self.valid_rows))
        first_like = len(rows) - data.n_like
        self.parts = rows[: data.n_new_valid], rows[data.n_new_valid : first_like]
        self.like = rows[first_like:]
        self.before: dict[str, list[Any]] = {}

    def validate(self, model: nn.Module) -> Validation:
        """The first that is validated is what training began with."""
        greedy = DecodingSettings(method="greedy")
        if not self.before:
            searched = self.translate(model, self.decoding)
            self.before = {
                "greedy": self._scores(self.translate(model, greedy)),
                "searched": self._scores(searched),
                "like": [searched[i] for i in self.like],
            }
            self.before["taken_up"] = list(self.taken_up(searched))
        return self.measured(model, greedy)

    def measured(self, model: nn.Module, settings: DecodingSettings) -> Validation:
        """Loss and BLEU of both; of what forgets too much neither noise nor loss is looked at, nor
        of a review, where what is taken up is counted."""
        written = self.translate(model, settings)
        new, old = (self._statistics(written, part) for part in self.parts)
        loss, old_loss = (
            self.validation_loss(model, self.batches_of(self.valid_rows[part]))
            for part in self.parts
        )
        others = {"old_valid_loss": round(old_loss, 5), "old_bleu": round(old.score(), 3)}
        before = self.before["greedy" if settings.method == "greedy" else "searched"]
        asked = new.score() + TIE * old.score()
        if self.data.taught:  # a point of BLEU counts as much as a point of what is taken up
            share = 100 * self.taken_up(written).share
            others["taken_up"], asked = round(share, 2), share + old.score()
        rank = self.limited(asked, before[1] - old.score())
        noise = 0.0 if self.data.taught or rank < 0 else new.noise()
        return Validation(loss, new.score(), "bleu", rank, others, noise)

    def limited(self, asked: float, fell: float) -> float:
        """What was asked for, if the old score fell by no more than is allowed; else less than
        nothing."""
        return asked if fell <= self.forget_at_most else self.forget_at_most - fell

    def taken_up(self, written: Sequence[str]) -> CorrectionUptake:
        """Of a review, what these translations of the validation sources have of it."""
        if self.data.taught is None:
            return CorrectionUptake(0, 0, 0, 0)
        texts = zip(self.valid_sources, self.valid_texts, strict=True)
        row_of = {pair: row for row, pair in enumerate(texts)}
        asked = {
            row: one
            for one in self.data.taught.corrections
            if (row := row_of.get((one.source, one.target))) is not None
        }
        like = {
            int(row): Correction(self.valid_sources[row], target, before)
            for row, before in zip(self.like, self.before["like"], strict=True)
            if (target := replaced(before, self.data.taught.replacements)) != before
        }
        counts = (
            (sum(taken_up(written[row], one) for row, one in some.items()), len(some))
            for some in (asked, like)
        )
        return CorrectionUptake(*chain.from_iterable(counts))

    def _scores(self, hypotheses: list[str]) -> list[float]:
        return [self._statistics(hypotheses, part).score() for part in self.parts]

    def _statistics(self, hypotheses: list[str], part: Any) -> SentenceStatistics:
        texts, languages = self.valid_texts, self.valid_languages
        return bleu_by_language(
            [hypotheses[i] for i in part], [texts[i] for i in part], [languages[i] for i in part]
        )

    def groups(self) -> list[str]:
        """Which of both each validation pair is, and its language, where there are several."""
        new = "new pairs, learned from" if self.data.learned else "new pairs"
        names = [new] * self.data.n_new_valid + ["the parent's pairs"] * len(self.parts[1])
        names += ["the parent's pairs like what was corrected"] * self.data.n_like
        languages = super().groups()
        several = len(set(languages)) > 1
        both = zip(names, languages, strict=True)
        return [f"{name}, {language}" if several else name for name, language in both]

    def before_words(self, hypotheses: Sequence[str]) -> str:
        """See `CorpusTask.before_words`."""
        new, old = self.before["searched"]
        told = (
            f"By beam search BLEU was {new:.2f} on the new pairs before the first update, and "
            f"{old:.2f} on the parent's,\nof which at most {self.forget_at_most:g} might be lost.\n"
        )
        if self.data.taught:
            return told + self.taken_up(hypotheses).words(
                CorrectionUptake(*self.before["taken_up"])
            )
        unmeasured = (
            f"The {self.data.n_new_valid:,} new pairs are too few for some to be held out: their "
            "scores say how far they were taken in,\nand nothing of sentences like them.\n"
        )
        return told + unmeasured if self.data.learned else told

    def state_dict(self) -> TaskState:
        """See `headway.core.training_interfaces.Task`."""
        found = super().state_dict()
        return found._replace(countable={**found.countable, "before": self.before})

    def load_state_dict(self, state: TaskState) -> None:
        """See `headway.core.training_interfaces.Task`."""
        super().load_state_dict(state)
        self.before = state.countable["before"] or self.before
