"""Translation with a glossary: what a text's terms ask for is a constraint of the search."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import torch

from headway.argument_types import paths
from headway.decoding.settings import DecodingSettings
from headway.decoding.shortlist import opened
from headway.tasks.translation.texts import TextTranslator, Translation
from headway.text.languages import Languages
from headway.text.mixing import tagged
from headway.text.terms.holding import Holding
from headway.text.terms.keeping import Asked, Terms, chosen
from headway.text.terms.spelling import Spelled

if TYPE_CHECKING:
    from headway.decoding.constrained import Acceptor

_LONGER, _LONGER_BY = 1.5, 5
"""How long an output is expected to be at most: so many times its source, and so many tokens."""

Glossaries = str | Path | Sequence[str | Path] | Terms | None
"""Files of terms, or what was read from them; "none" for no terms, None for those of the run."""


def term_translator(
    plain: TextTranslator, glossary: Glossaries, languages: Languages, tag: str
) -> TextTranslator:
    """A translator that keeps these terms; for "none" one that keeps none."""
    if glossary is None:
        return plain
    if isinstance(glossary, Terms):
        return TermTranslator(plain, glossary, tag)
    given = paths(glossary, "glossary")
    files = chosen(given, Path())
    return TermTranslator(plain, Terms.read(files, languages), tag) if given and files else plain


class TermTranslator(TextTranslator):
    """A translator of plain text whose translations hold the terms of a glossary.

    By beam search a text with terms is searched for once, with them as constraints. Other methods
    know none: what they wrote is searched for again where it lacks some.
    """

    def __init__(self, plain: TextTranslator, terms: Terms, tag: str = "") -> None:
        """`tag` stands before every text that is translated, and is no part of it."""
        # Terms may need any token: what must hold some is not held to a shortlist.
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
        by_beam = settings.method == "beam"
        at_once = [i for i, some in enumerate(asked) if some and by_beam]
        others = [i for i, some in enumerate(asked) if not (some and by_beam)]
        found: dict[int, Translation] = {}
        if others:
            plain = self.first(
                [texts[i] for i in others],
                settings,
                want_alignment=want_alignment,
                want_scores=want_scores,
                done=done,
                generator=generator,
                wanted=[wanted[i] for i in others] if wanted else (),
            )
            found = dict(zip(others, plain, strict=True))
        again = [i for i in others if _lacks(asked[i], found[i])]
        some = at_once or again
        if some:
            how = replace(settings, method="beam", n_best=min(settings.n_best, settings.beam))
            held = super().__call__(
                [texts[i] for i in some],
                how,
                want_alignment=want_alignment,
                done=done if by_beam else lambda n: None,
                wanted=[self._constraint(texts[i], asked[i]) for i in some],
            )
            found |= zip(some, held, strict=True)
        return [found[i] for i in range(len(texts))]

    def knows(self, text: str, start: int, end: int) -> bool:
        """Whether the word from here to there is a piece of the vocabulary, or of a term."""
        places = (place for asked in self.terms.asked(text) for place in asked.places)
        return super().knows(text, start, end) or any(a < end and start < b for a, b in places)

    def _constraint(self, text: str, asked: Sequence[Asked]) -> "Acceptor":
        """What a translation must hold."""
        n_expected = int(_LONGER * len(self.subwords.encode_batch([text])[0])) + _LONGER_BY
        found = Spelled([one.wanted for one in asked], self._vocabulary, n_expected)
        return cast("Acceptor", found)  # it is handed its own states alone


def _lacks(asked: Sequence[Asked], translation: Translation) -> bool:
    """Whether one of the alternatives lacks something."""
    holding = Holding([one.wanted for one in asked])
    return any(any(holding.lacking_in(one.written)) for one in translation.n_best)
