"""What stands around a run's model: which processors there are, in which order, and when each is
entered. A plain text passes two quick tests and enters none."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from headway.core.cleaning import clean
from headway.core.hypothesis import SearchRequest
from headway.corpora.mixing import tagged
from headway.languages.sentences import AtOnce
from headway.localization.placeholders.may_hold import (
    may_hold_codes,
    may_hold_sentences,
    no_text,
)
from headway.localization.placeholders.names import OwnCodes
from headway.localization.placeholders.own_codes import Patterns
from headway.runs.settings import Settings
from headway.translation.capitals import InCapitals
from headway.translation.coded import CodeProcessor
from headway.translation.detailed import DetailedTranslator, Processor, Translate, Translation
from headway.translation.portions import Portions
from headway.translation.prefixes import PrefixProcessor
from headway.translation.unread_characters import UnreadCharacters

if TYPE_CHECKING:
    from headway.localization.terms.keeping import Terms
    from headway.translation.terms import Glossaries, TermProcessor


class RunProcessors:
    """The processors of one run."""

    def __init__(
        self,
        plain: DetailedTranslator,
        settings: Settings,
        at_once: AtOnce,
        own_codes: Patterns,
        own_terms: "Terms | None",
    ) -> None:
        """`at_once` is what the model takes; `own_codes` are codes besides those of every text,
        `own_terms` hold where no others are asked for."""
        self.plain, self.settings, self.at_once = plain, settings, at_once
        self.own_codes, self.own_terms = own_codes, own_terms

    def around(
        self, tag: str, glossary: "Glossaries" = None, prefixes: Sequence[str] = ()
    ) -> list[Processor]:
        """What stands around texts, the outermost first."""
        terms = self.terms(glossary)
        beginning = PrefixProcessor(prefixes, self.plain, tag, self.own_codes)
        return [
            *([beginning] if any(prefixes) else ()),
            self._in_portions,
            partial(self._with_codes, tag, terms),
            *self.nearest(tag, terms),
        ]

    def nearest(self, tag: str, terms: "TermProcessor | None") -> list[Processor]:
        """What stands next to the model: unread characters, capitals, texts that are a term, the
        tag, then terms, looked for behind it."""
        unread = _where(self._may_be_unread, lambda: self._unread(terms))
        capitals = _where(str.isupper, lambda: InCapitals(self.plain.subwords))
        with_tag: list[Processor] = [
            lambda texts, request, translate: translate([tagged(t, tag) for t in texts], request)
        ]
        asked = [terms] if terms else []
        return [unread, capitals, *(one.alone for one in asked), *(with_tag if tag else ()), *asked]

    def _unread(self, terms: "TermProcessor | None") -> UnreadCharacters:
        return UnreadCharacters(self.plain.subwords, terms.characters if terms else ())

    def _may_be_unread(self, text: str) -> bool:
        """Whether characters of a text may be read as others: unknown ones, and the rare."""
        rare = not {*"’\u00a0\u202f"}.isdisjoint(text)
        return rare or not self.plain.subwords.characters.issuperset(text)

    def untouched(self, text: str) -> str | None:
        """A text, cleaned, where nothing stands around its translation if it has no more sub-words
        than the model takes at once and what is written `may_hold_codes` not; else None."""
        if self.own_terms is not None or may_hold_sentences(text):
            return None
        cleaned = clean(text)
        odd = not cleaned or cleaned.isspace() or cleaned.isupper() or self._may_be_unread(cleaned)
        return None if odd or self.may_hold_codes(cleaned) or no_text(cleaned) else cleaned

    def portions(self) -> Portions:
        """What cuts texts and segments into what the model takes at once."""
        encode, usual = self.plain.subwords.encode, InCapitals(self.plain.subwords).usual
        count, language = lambda text: len(encode(usual(text))), self.settings.data.source_language
        return Portions(self.at_once, count, language, self.own_codes)

    def codes(self, tag: str, terms: "TermProcessor | None" = None) -> CodeProcessor:
        """What texts with codes need; codes, and names that nobody knows, may be parts of terms."""
        subwords, masks = self.plain.subwords, self.settings.text.codes == "mask"

        def known(text: str, start: int, end: int) -> bool:
            word = text[start:end]
            return (
                subwords.has(f"▁{word}") or subwords.has(word)
                or (terms is not None and terms.asks_for(text, start, end))
            )  # fmt: skip

        own = OwnCodes(known, self.own_codes)
        return CodeProcessor(subwords, own, tag, self._unread(terms), masks=masks)

    def terms(self, glossary: "Glossaries" = None) -> "TermProcessor | None":
        """What has translations hold the terms of a glossary; of none, those of the run."""
        asked = self.own_terms if glossary is None else glossary
        if asked is None:
            return None
        from headway.translation.terms import TermProcessor, wanted_terms  # they read XML

        terms = wanted_terms(asked, self.settings.data)
        return None if terms is None else TermProcessor(self.plain, terms)

    def _in_portions(
        self, texts: Sequence[str], request: SearchRequest, translate: Translate
    ) -> list[Translation]:
        if not any(map(self._may_be_cut, texts)):
            return translate(texts, request)
        return self.portions()(texts, request, translate, self._may_be_cut)

    def _with_codes(
        self,
        tag: str,
        terms: "TermProcessor | None",
        texts: Sequence[str],
        request: SearchRequest,
        translate: Translate,
    ) -> list[Translation]:
        """Cleaned, and by way of `CodeProcessor` where a text or a translation may hold codes."""
        cleaned, found = [clean(text) for text in texts], None
        held = any(self.may_hold_codes(text) or no_text(text) for text in cleaned)
        if not held:
            found = translate(cleaned, request)
            held = any(self.may_hold_codes(one.written) for each in found for one in each.n_best)
        if held:
            found = self.codes(tag, terms)(cleaned, request, translate, found)
        return [one._replace(source=text) for text, one in zip(texts, found or (), strict=True)]

    def _may_be_cut(self, text: str) -> bool:
        """Quick, and often true; a sub-word has two bytes or more, but in texts that are noise."""
        limit = self.at_once.subwords
        long = limit is not None and len(text) * (1 if text.isascii() else 3) > 2 * limit
        return long or may_hold_sentences(text)

    def may_hold_codes(self, text: str) -> bool:
        """Whether a text, or what was written, has to be looked at more closely; quick."""
        return may_hold_codes(text) or any(own.stands_in(text) for own in self.own_codes)


def _where(needed: Callable[[str], bool], make: Callable[[], Processor]) -> Processor:
    """A processor that is entered where some text needs it."""
    return lambda texts, request, translate: (
        make()(texts, request, translate) if any(map(needed, texts)) else translate(texts, request)
    )
