"""Translations that go on from what a person has typed: `Translator.translate(.., prefixes=..)`."""

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

from headway.core.cleaning import clean
from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.corpora.mixing import tagged
from headway.decoding.forced import PrefixedDecoder
from headway.engine.shortlist import opened
from headway.localization.placeholders.may_hold import may_hold_codes
from headway.localization.placeholders.own_codes import OwnPattern
from headway.operations.argument_types import ArgumentTypeError, strings
from headway.translation.detailed import DetailedTranslator, Translate, Translation


def prefixes_of(texts: Any, prefixes: Any) -> list[str]:
    """What the translations of some texts begin with, as a list.

    Raises:
        ArgumentTypeError: they are no strings, or not in the shape of the texts.
    """
    if isinstance(prefixes, str) and isinstance(texts, str):
        return [prefixes]
    if isinstance(prefixes, str) or isinstance(texts, Iterator):
        raise ArgumentTypeError(
            "prefixes go with a list of texts, one with each; got texts of type "
            f"{type(texts).__name__}, prefixes of type {type(prefixes).__name__}. Give two lists."
        )
    return strings(prefixes, "prefixes")


class PrefixProcessor(NamedTuple):
    """Has translations begin with their prefixes; a `Processor`. With an empty one a text is
    translated as ever. One with a prefix is translated whole, and terms are not asked for: a person
    is writing."""

    prefixes: Sequence[str]
    """Of each text."""
    plain: DetailedTranslator
    tag: str
    own_codes: Sequence[OwnPattern]

    def __call__(
        self, texts: Sequence[str], request: SearchRequest, translate: Translate
    ) -> list[Translation]:
        """Raises ConfigError where there are fewer prefixes than texts, or one is too long or
        cannot be written; where a text with one has codes, or outputs are written from
        shortlists."""
        if len(self.prefixes) != len(texts):
            raise ConfigError(
                "each text has a prefix of its own, which may be empty; got "
                f"{len(self.prefixes):,} for {len(texts):,} texts."
            )
        plain = self.plain
        if opened(plain.model)[1] is not None:
            raise ConfigError(
                "a prefix may have any words, and shortlists allow some; got both. "
                "Leave --shortlist out."
            )
        cleaned = [clean(text) for text in texts]
        by_prefix: dict[str, list[int]] = {}
        for i, prefix in enumerate(map(clean, self.prefixes)):
            by_prefix.setdefault(prefix, []).append(i)
            own = any(pattern.stands_in(cleaned[i]) for pattern in self.own_codes)
            if prefix and (own or may_hold_codes(cleaned[i])):
                raise ConfigError(
                    f"a text with a prefix has no codes; got {texts[i]!r}. Translate it without."
                )
        read = [tagged(text, self.tag) for text in cleaned]
        n_read = [len(ids[: plain.longest]) for ids in plain.subwords.encode_batch(read)]
        found: dict[int, Translation] = {}
        if free := by_prefix.pop("", []):
            found = dict(zip(free, translate([texts[i] for i in free], request), strict=True))
        for prefix, places in by_prefix.items():
            shortest = min((n_read[i] for i in places if n_read[i]), default=0)
            beginning = written_before(plain, prefix, shortest, request.settings)
            begun = PrefixedDecoder(plain.model, beginning, plain.subwords.special.padding)
            once = copy(plain)
            once.model = begun
            found |= zip(places, once([read[i] for i in places], request), strict=True)
        return [found[i]._replace(source=text) for i, text in enumerate(texts)]


def written_before(
    plain: DetailedTranslator, prefix: str, n_read: int, settings: DecodingSettings
) -> list[int]:
    """The sub-words of a prefix; raises ConfigError where the translation of a text that has
    `n_read` of them may not begin so."""
    ids = list(map(int, plain.subwords.encode_targets([prefix])[0]))
    limit = n_read + 1 + settings.max_extra_length
    if plain.model.longest is not None:
        limit = min(limit, plain.model.longest - 1)
    if len(ids) > limit:
        raise ConfigError(
            f"a translation of a text with {n_read} sub-words has {limit} at most; got a prefix of "
            f"{len(ids)}. Try --decoding.max-extra-length {settings.max_extra_length * 2 + 50}."
        )
    if unwritten := {*ids} & {*plain.subwords.special.unwritten}:
        pieces = plain.subwords.pieces(ids)
        unknown = next(piece for i, piece in zip(ids, pieces, strict=True) if i in unwritten)
        raise ConfigError(
            f"a prefix is of words that the model can write; got {prefix!r}, of which {unknown!r} "
            "is not in its vocabulary. Leave it out."
        )
    return ids
