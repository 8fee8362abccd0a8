"""Translation with a glossary: a plain search first, and once more with what it lacks."""

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import torch

from headway.decoding.forced import attention_over
from headway.decoding.settings import DecodingSettings
from headway.decoding.shortlist import opened
from headway.tasks.translation.texts import Alternative, TextTranslator, Translation
from headway.text.languages import Languages
from headway.text.mixing import tagged
from headway.text.terms.holding import Holding
from headway.text.terms.keeping import Asked, Terms, chosen
from headway.text.terms.spelling import Spelled

if TYPE_CHECKING:
    from headway.decoding.constrained import Acceptor

Glossaries = str | Path | Sequence[str | Path] | Terms | None
"""Files of terms, or what was read from them; "none" for no terms, None for those of the run."""


def term_translator(
    plain: TextTranslator, glossary: Glossaries, languages: Languages, tag: str
) -> TextTranslator:
    """A translator that keeps these terms; for "none" one that keeps none."""
    if glossary is None:
        return plain
    if isinstance(glossary, str | Path):
        glossary = [glossary]
    if isinstance(glossary, Terms):
        return TermTranslator(plain, glossary, tag)
    files = chosen(glossary, Path())
    return TermTranslator(plain, Terms.read(files, languages), tag) if glossary and files else plain


class TermTranslator(TextTranslator):
    """A translator of plain text whose translations hold the terms of a glossary.

    Most translations hold them anyway. What lacks some is searched for again, with just these as
    constraints; and if others are lost by that, once more with all of them.
    """

    def __init__(self, plain: TextTranslator, terms: Terms, tag: str = "") -> None:
        """`tag` stands before every text that is translated, and is no part of it."""
        # Terms may need any token: what is searched for again is not held to a shortlist.
        super().__init__(opened(plain.model)[0], plain.subwords, plain.device, plain.longest)
        self.how = plain.how
        self.first, self.terms = plain, terms
        self._n_tag = len(tagged("", tag)) if tag else 0
        self._vocabulary = plain.spellings

    def __call__(
        self,
        texts: Sequence[str],
        settings: DecodingSettings,
        *,
        want_alignment: bool = False,
        want_scores: bool = True,
        done: Callable[[int], None] = lambda n: None,
        generator: torch.Generator | None = None,
        wanted: "Sequence[Acceptor | None]" = (),
    ) -> list[Translation]:
        """As `TextTranslator`; where terms are lacking, by beam search whatever the method."""
        asked = [self.terms.asked(text[self._n_tag :]) for text in texts]
        looking = want_alignment or any(asked)
        found = self.first(
            texts,
            settings,
            want_alignment=looking,
            want_scores=want_scores,
            done=done,
            generator=generator,
            wanted=wanted,
        )
        by_beam = replace(settings, method="beam", n_best=min(settings.n_best, settings.beam))
        for of_all in (False, True):
            poor = [
                (i, asked[i] if of_all else lacking)
                for i in range(len(texts))
                if (lacking := _lacking(asked[i], found[i]))
            ]
            if not poor:
                break
            if not want_alignment:
                self._align([i for i, _ in poor if not found[i].n_best[0].alignment], found)
            again = super().__call__(
                [texts[i] for i, _ in poor],
                by_beam,
                want_alignment=want_alignment,
                wanted=[self._constraint(found[i], some) for i, some in poor],
            )
            for (i, _), translation in zip(poor, again, strict=True):
                if _n_lacking(asked[i], translation) < _n_lacking(asked[i], found[i]):
                    found[i] = translation
        return found

    def _align(self, places: Sequence[int], found: list[Translation]) -> None:
        """Where the model looked for the best translations of some: nobody else asks for it."""
        encoded = self.subwords.encode_batch([found[i].source for i in places])
        sources = [ids[: self.longest] for ids in encoded]
        written = [found[i].n_best[0].ids for i in places]
        maps = attention_over(self.model, sources, written, self.subwords.special, self.device)
        for i, ids, looked in zip(places, sources, maps, strict=True):
            at = [] if looked is None else looked[:, : len(ids)].argmax(-1).tolist()
            pairs = [(source, target) for target, source in enumerate(at)]
            best, *others = found[i].n_best
            found[i] = found[i]._replace(n_best=[best._replace(alignment=pairs), *others])

    def knows(self, word: str) -> bool:
        """Whether a word is a piece of the vocabulary, or a term."""
        return super().knows(word) or bool(self.terms.asked(word))

    def _constraint(self, before: Translation, asked: Sequence[Asked]) -> "Acceptor":
        """What a better translation must hold, and which sub-words of its source that is."""
        tokens = self.subwords.source_spans(before.source)[: self.longest]
        spans = [
            [
                n
                for n, (first, last) in enumerate(tokens)
                for start, end in one.places
                if first < end + self._n_tag and start + self._n_tag < last
            ]
            for one in asked
        ]
        best = before.n_best[0]
        rivals = [_written_for(set(span), best) for span in spans]
        n_expected = max(len(one.ids) for one in before.n_best)
        wanted = [one.wanted for one in asked]
        found = Spelled(wanted, self._vocabulary, spans, rivals, n_expected)
        return cast("Acceptor", found)  # it is handed its own states alone


def _written_for(span: Set[int], best: Alternative) -> set[int]:
    """The tokens that look at these places of the source, and stand for nothing else."""
    inside = {best.ids[target] for source, target in best.alignment if source in span}
    return inside - {best.ids[target] for source, target in best.alignment if source not in span}


def _lacking(asked: Sequence[Asked], translation: Translation) -> list[Asked]:
    """What is not in every one of the alternatives."""
    if not asked or not translation.n_best:
        return []
    holding = Holding([one.wanted for one in asked])
    each = [holding.lacking_in(one.written) for one in translation.n_best]
    most = map(max, zip(*each, strict=True))
    return [one for one, n in zip(asked, most, strict=True) if n]


def _n_lacking(asked: Sequence[Asked], translation: Translation) -> int:
    holding = Holding([one.wanted for one in asked])
    return sum(sum(holding.lacking_in(one.written)) for one in translation.n_best)
