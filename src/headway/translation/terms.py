"""Translation with a glossary: its terms take the place of the words that stand for them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from headway.core.hypothesis import SearchRequest
from headway.decoding.ensemble import ensemble_log_probs_over
from headway.engine.shortlist import opened
from headway.languages.codes import Languages
from headway.localization.checks.calibration import Verdict
from headway.localization.placeholders.projection import TokenSpans, words_and_signs
from headway.localization.placeholders.segments import Segment
from headway.localization.terms.keeping import RequiredTerm, Terms, chosen
from headway.localization.terms.placing import (
    Span,
    WantedTerm,
    has_place,
    places_for,
    put_in,
)
from headway.operations.argument_types import paths
from headway.translation.coded import spans_written
from headway.translation.decoding import EngineSearch
from headway.translation.detailed import Alternative, DetailedTranslator, Translate, Translation

Glossaries = str | Path | Sequence[str | Path] | Terms | None
"""Files of terms, or what was read from them; "none" for no terms, None for those of the run."""

Found = Sequence[Translation]


def wanted_terms(glossary: Glossaries, languages: Languages) -> Terms | None:
    """The terms of a glossary; none for "none"."""
    if glossary is None or isinstance(glossary, Terms):
        return glossary
    given = paths(glossary, "glossary")
    files = chosen(given, Path())
    return Terms.read(files, languages) if given and files else None


class _MaskedAlternative(NamedTuple):
    """An alternative, and stretches of its source without which it is looked at, one by one."""

    text: str
    alternative: Alternative
    stretches: list[list[Span]]


class TermProcessor:
    """Has the translations of plain text hold the terms of a glossary; a `Processor`.

    What the model writes by itself stays. A term that is not in it takes the place of the words
    that the model would not have written without the term in its source.
    """

    def __init__(self, plain: DetailedTranslator, terms: Terms) -> None:
        """A tag may stand before the texts: it is a code, in which no terms are looked for."""
        self.plain, self.subwords, self.terms = plain, plain.subwords, terms

    @property
    def characters(self) -> frozenset[str]:
        """What the terms are written with."""
        return frozenset().union(*(term.source for term in self.terms.glossary.terms))

    def __call__(
        self, texts: Sequence[str], request: SearchRequest, translate: Translate
    ) -> list[Translation]:
        """Where a term has no place in any of the `n_best`, another one of the beam, in which it
        has, comes first; where there is none, the term is left out."""
        settings = request.settings
        asked = [self.terms.asked(text) for text in texts]
        found = self._with_terms(texts, asked, translate(texts, request))
        if settings.method != "beam" or settings.beam <= settings.n_best:
            return found
        poor = [
            i for i, one in enumerate(found) if one.n_best and _lacking(asked[i], one.n_best[0])
        ]
        wider = request._replace(
            settings=replace(settings, n_best=settings.beam), done=lambda n: None
        )
        some = [texts[i] for i in poor]
        missing = [_lacking(asked[i], found[i].n_best[0]) for i in poor]
        others = self._others(some, missing, translate(some, wider))
        others = self._with_terms(some, [asked[i] for i in poor], others)
        for i, one in zip(poor, others, strict=True):
            known = {each.written for each in found[i].n_best}
            every = [*found[i].n_best, *(each for each in one.n_best if each.written not in known)]
            every.sort(key=lambda each: len(_lacking(asked[i], each)))  # stable
            found[i] = found[i]._replace(n_best=every[: settings.n_best])
        return found

    def alone(
        self, texts: Sequence[str], request: SearchRequest, translate: Translate
    ) -> list[Translation]:
        """The translation of a text that is nothing but a term is the term's; the model is asked
        for further ones alone, and nothing is told of what it read. A `Processor`."""
        n_best, known = request.settings.n_best, [self.terms.whole(text) for text in texts]
        unread = [n_best == 1 and target is not None for target in known]
        request.done(sum(unread))
        some = [text for text, is_known in zip(texts, unread, strict=True) if not is_known]
        found = iter(translate(some, request) if some else ())
        translations = []
        for text, target, is_known in zip(texts, known, unread, strict=True):
            one = Translation(text, [], [], 0) if is_known else next(found)
            if target is not None:
                others = [other for other in one.n_best if other.written != target]
                first = Alternative(target, 0.0, [], [], [], [], written=target)
                one = Translation(text, [], [first, *others][:n_best], 0)
            translations.append(one)
        return translations

    def _with_terms(
        self,
        texts: Sequence[str],
        asked: Sequence[Sequence[RequiredTerm]],
        found: Found,
    ) -> list[Translation]:
        """The translations with the terms that they lack, as far as there is a place for them."""
        cases = [
            (i, number, lacking)
            for i, one in enumerate(found)
            for number, alternative in enumerate(one.n_best)
            if (lacking := _lacking(asked[i], alternative))
        ]
        falls = self._falls(
            [
                _MaskedAlternative(
                    texts[i],
                    found[i].n_best[number],
                    [some for one in lacking for some in self._term_and_beside(texts[i], one)],
                )
                for i, number, lacking in cases
            ]
        )
        translations = list(found)
        for i, number, lacking in cases:
            one = translations[i]
            alternative = one.n_best[number]
            written = self._written(alternative)
            terms = [
                WantedTerm(
                    one.wanted, next(falls), next(falls), len(words_and_signs(one.found)) > 1
                )
                for one in lacking
            ]
            placed = put_in(alternative.written, places_for(written, terms))
            if placed.text != alternative.written:
                best = list(one.n_best)
                best[number] = self._rewritten(alternative, written, *placed)
                translations[i] = one._replace(n_best=best)
        return translations

    def _others(
        self, texts: Sequence[str], missing: Sequence[Sequence[RequiredTerm]], found: Found
    ) -> list[Translation]:
        """Of each translation the first alternative but the best one, which was looked at, in which
        some word stands for what is `missing`; none where there is none."""
        each = list(zip(texts, missing, found, strict=True))
        unread = [
            _MaskedAlternative(text, other, [[place for asked in some for place in asked.places]])
            for text, some, one in each
            for other in one.n_best[1:]
        ]
        read = zip(unread, self._falls(unread), strict=True)
        likely = {
            id(one.alternative): has_place(self._written(one.alternative), falls)
            for one, falls in read
        }
        return [
            one._replace(n_best=[other for other in one.n_best[1:] if likely[id(other)]][:1])
            for one in found
        ]

    def _written(self, one: Alternative) -> TokenSpans:
        return TokenSpans(one.written, spans_written(self.subwords, one.ids))

    def _falls(self, read: Sequence[_MaskedAlternative]) -> Iterator[list[float]]:
        """For each stretch how much less likely each token of the alternative is without it."""
        sources: list[list[int]] = []
        targets: list[list[int]] = []
        by_itself = isinstance(self.plain.decode, EngineSearch)  # what others tell is not its own
        for text, one, stretches in read:
            ids = self.subwords.encode(text)[: self.plain.longest]
            spans = self.subwords.source_spans(text)
            unread = stretches if by_itself and one.token_log_probs else [[], *stretches]
            sources += [self._without(ids, spans, some) for some in unread]
            targets += [one.ids] * len(unread)
        special, model = self.subwords.special, opened(self.plain.model)[0]
        found = ensemble_log_probs_over(model, sources, targets, special, self.plain.device)
        log_probs = iter(found)
        for _, one, stretches in read:
            is_told = by_itself and one.token_log_probs
            whole = one.token_log_probs[:-1] if is_told else next(log_probs)
            for _ in stretches:
                without = next(log_probs)
                yield [a - b for a, b in zip(whole, without, strict=True)]

    def _term_and_beside(self, text: str, asked: RequiredTerm) -> tuple[list[Span], list[Span]]:
        """The stretches of a text that are the term, and the words beside it."""
        places = [*asked.places]
        words = [
            word for word in words_and_signs(text) if not any(map(partial(_meet, word), places))
        ]
        beside = []
        for start, end in places:
            beside += [word for word in words if word[1] <= start][-1:]
            beside += [word for word in words if word[0] >= end][:1]
        return places, beside

    def _without(
        self, ids: Sequence[int], spans: Sequence[Span], unread: Sequence[Span]
    ) -> list[int]:
        """The ids, the unknown one in the place of those that have a part in a stretch."""
        unknown = self.subwords.special.unknown
        return [
            unknown if any(_meet(span, place) for place in unread) else token
            for token, span in zip(ids, spans, strict=False)
        ]

    def _rewritten(
        self, one: Alternative, written: TokenSpans, text: str, origins: Sequence[int]
    ) -> Alternative:
        """An alternative with another text, each character of which comes from one of its own.

        Its score stays, and log-probabilities, of which each token of a term has a share.
        """
        ids = list(map(int, self.subwords.encode_targets([text])[0]))
        before = [n for n, (start, end) in enumerate(written.spans) for _ in range(start, end)]
        origin = [
            before[origins[min(end, len(origins)) - 1]]  # a character may be none of its own
            for _, end in spans_written(self.subwords, ids)
        ]
        shares = Counter(origin)
        alignment, log_probs = one.alignment, one.token_log_probs
        shared = [log_probs[n] / shares[n] for n in origin] if log_probs else []
        return one._replace(
            target=text,
            written=text,
            ids=ids,
            tokens=self.subwords.pieces(ids),
            token_log_probs=shared + log_probs[-1:],
            alignment=[(alignment[n][0], i) for i, n in enumerate(origin) if alignment],
        )

    def judged(self, pairs: Iterable[tuple[str, str]], found: Verdict) -> Verdict:
        """A verdict on a text with a flag for each term that is lost in any of its parts."""
        both = ((Segment((source,)), Segment((target,))) for source, target in pairs)
        lost = dict.fromkeys(flag for pair in both for flag in self.terms.lost(*pair))
        return found._replace(flags=(*lost, *found.flags))

    def asks_for(self, text: str, start: int, end: int) -> bool:
        """Whether what stands from here to there is a part of a term."""
        places = (place for asked in self.terms.asked(text) for place in asked.places)
        return any(a < end and start < b for a, b in places)


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _lacking(asked: Sequence[RequiredTerm], alternative: Alternative) -> list[RequiredTerm]:
    return [one for one in asked if one.wanted.lacking_in(alternative.written)]
