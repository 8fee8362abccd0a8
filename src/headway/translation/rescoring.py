"""Runs with sub-words of their own, as one: each searches, and all of them score what was found."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from headway.core.errors import ConfigError
from headway.core.hypothesis import (
    DecodingSettings,
    Hypothesis,
    Ids,
    SearchRequest,
    penalty,
    ranked,
)
from headway.core.interfaces import StepDecoder
from headway.core.translate import TextTranslator
from headway.decoding.ensemble import ensemble_log_probs_over, members_of
from headway.decoding.forced import attention_over
from headway.engine.engine import NativeEngine
from headway.engine.forced import log_probs_by


class Written(NamedTuple):
    """A translation in the sub-words of one system."""

    ids: list[int]
    log_probs: list[float]
    """Of each token, then of the end marker, in nats."""


Found = list[dict[str, Written]]
"""For each source its translations, by their text."""


class ScoringSystem:
    """A model, or an ensemble of some with one vocabulary, and how it searches."""

    def __init__(self, plain: TextTranslator) -> None:
        self.model, self.subwords, self.device = plain.model, plain.subwords, plain.device
        self.longest, self.decode = plain.longest, plain.decode

    def read(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, cut where they are more than it reads."""
        return [ids[: self.longest] for ids in self.subwords.encode_batch(texts)]

    def search(self, sources: Sequence[Ids], request: SearchRequest) -> Found:
        """What it writes, best first."""
        own = request._replace(special=self.subwords.special, device=self.device)
        found: Found = []
        for hypotheses in self.decode(self.model, sources, own):
            decoded = self.subwords.decode_batch([one.ids for one in hypotheses])
            texts = [text.strip() or text for text in decoded]  # as they are told
            pairs = zip(reversed(texts), reversed(hypotheses), strict=True)  # of one text the best
            its = {text: Written(one.ids, one.token_log_probs) for text, one in pairs}
            found.append({text: its[text] for text in texts})
        return found

    def scored(self, sources: Sequence[Ids], texts: Sequence[Sequence[str]], own: Found) -> Found:
        """The texts that are given for each source, but those that it cannot write; what it found
        itself it does not score again."""
        found: Found = [{**its} for its in own]
        new = [
            (row, text)
            for row, some in enumerate(texts)
            for text in some if text not in own[row]
        ]  # fmt: skip
        targets = self.subwords.encode_targets([text for _, text in new])
        read_back = self.subwords.decode_batch(targets)
        never, longest = {*self.subwords.special.unwritten}, self.model.longest
        able = [
            (row, text, ids)
            for (row, text), ids, read in zip(new, targets, read_back, strict=True)
            if read == text and never.isdisjoint(ids) and not (longest and len(ids) >= longest)
        ]
        log_probs = self.log_probs([sources[row] for row, _, _ in able], [ids for *_, ids in able])
        for (row, text, ids), its in zip(able, log_probs, strict=True):
            found[row][text] = Written(ids, its)
        return found

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[list[float]]:
        """Of each target the log-probability of each token, then of the end marker."""
        special, engine = self.subwords.special, getattr(self.decode, "engine", None)
        found: list[list[float]] = [[] for _ in sources]
        if isinstance(engine, NativeEngine):
            found = log_probs_by(engine, sources, targets, special)
        left = [i for i, one in enumerate(found) if not one]
        by_torch = ensemble_log_probs_over(
            self.model, [[*map(int, sources[i])] for i in left],
            [[*map(int, targets[i]), special.end] for i in left], special, self.device,
        )  # fmt: skip
        for i, its in zip(left, by_torch, strict=True):
            found[i] = its
        return found


class Rescoring:
    """A `Decode`: the best that each system finds, scored by all of them, as Sennrich et al. 2016
    score n-best lists by further models.

    A score is the mean over the runs of the log-probability through the length penalty, each in
    its own sub-words; `log_prob` is the mean of the log-probabilities. Sub-words and where they
    look are the first system's, and so are their log-probabilities, but times what gives them the
    mean of the system that is surest: confidences were measured on what a run itself likes best.
    What one of them cannot write is left out, unless nothing else was found.
    """

    def __init__(self, systems: Sequence[ScoringSystem]) -> None:
        self.systems = tuple(systems)

    def __call__(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
    ) -> list[list[Hypothesis]]:
        """See `headway.core.hypothesis.Decode`.

        Raises ConfigError for another decoder than the first system's, as one that begins with
        something is, and for sampling.
        """
        first, settings = self.systems[0], request.settings
        if decoder is not first.model:
            raise ConfigError(
                "a beginning is given in sub-words, and these runs have several vocabularies. "
                "Leave the beginning out, or name runs with one vocabulary."
            )
        if settings.method not in ("beam", "greedy"):
            raise ConfigError(
                "runs with several vocabularies choose the best of what each finds; got the method "
                f"{settings.method}. Take --method beam, or runs with one vocabulary."
            )
        texts = first.subwords.decode_batch(sources)
        read = [sources, *(one.read(texts) for one in self.systems[1:])]
        asked = request._replace(
            settings=replace(settings, n_best=settings.rows), want_scores=True, want_attention=False
        )
        own = []
        for one, its in zip(self.systems, read, strict=True):
            own.append(one.search(its, asked))
            asked = asked._replace(done=lambda _: None)  # it hears of each text once
        lists = [[*dict.fromkeys(chain(*each))] for each in zip(*own, strict=True)]
        scored = [
            one.scored(its, lists, found)
            for one, its, found in zip(self.systems, read, own, strict=True)
        ]
        best = [
            ranked(self._told(text, its, settings) for text in _shared(its))[: settings.n_best]
            for its in zip(*scored, strict=True)
        ]
        return self._seen(sources, best) if request.want_attention else best

    def _told(
        self, text: str, scored: Sequence[dict[str, Written]], settings: DecodingSettings
    ) -> Hypothesis:
        """A translation by what the systems give it, those that can write it."""
        given = [
            (len(members_of(one.model)), its[text])
            for one, its in zip(self.systems, scored, strict=True)
            if text in its
        ]
        n_runs = sum(n for n, _ in given)
        log_prob = sum(n * sum(one.log_probs) for n, one in given) / n_runs
        score = sum(
            n * sum(one.log_probs) / penalty(len(one.log_probs), settings.length_penalty)
            for n, one in given
        )
        ids, log_probs = scored[0][text]
        mean, *others = (sum(one.log_probs) / len(one.log_probs) for _, one in given)
        share = max([mean, *others]) / mean if mean else 1.0
        return Hypothesis(
            ids, float(score / n_runs), log_prob, [share * one for one in log_probs], None
        )

    def _seen(
        self, sources: Sequence[Ids], found: list[list[Hypothesis]]
    ) -> list[list[Hypothesis]]:
        """With where the first system looks."""
        first = self.systems[0]
        end = first.subwords.special.end
        looks = iter(
            attention_over(
                first.model,
                [[*map(int, ids)] for ids, some in zip(sources, found, strict=True) for _ in some],
                [[*one.ids, end] for some in found for one in some],
                first.subwords.special,
                first.device,
            )
        )
        return [[one._replace(attention=next(looks)) for one in some] for some in found]


def _shared(scored: Sequence[dict[str, Written]]) -> list[str]:
    """The translations that all systems can write; where there is none, those of the first."""
    first, *others = scored
    return [text for text in first if all(text in its for its in others)] or [*first]
