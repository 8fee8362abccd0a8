"""Translations that go on from what a person has typed: `Translator.translate(.., prefixes=..)`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from headway.core.cleaning import clean
from headway.core.errors import ConfigError
from headway.core.search_settings import DecodingSettings
from headway.corpora.mixing import tagged
from headway.decoding.begun import Begun
from headway.engine.shortlist import opened
from headway.localization.placeholders.kinds import may_hold_codes
from headway.operations.argument_errors import ArgumentTypeError
from headway.operations.argument_types import strings
from headway.translation.texts import TextTranslator, Translation

if TYPE_CHECKING:
    from headway.translation.terms import Glossaries


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


def translate_begun(
    translator: Any,
    texts: Sequence[str],
    prefixes: Sequence[str],
    settings: DecodingSettings,
    tag: str,
    want_scores: bool,
    how: dict[str, Any],
    glossary: "Glossaries",
) -> list[Translation]:
    """Translations that begin with their prefixes; with an empty one a text is translated as ever.

    One with a prefix is translated whole, and terms are not asked for: a person is writing.

    Raises:
        ConfigError: there are fewer prefixes than texts, or one is too long or cannot be written;
            a text with one has codes; outputs are written from shortlists.
    """
    if len(prefixes) != len(texts):
        raise ConfigError(
            f"each text has a prefix of its own, which may be empty; got {len(prefixes):,} for "
            f"{len(texts):,} texts."
        )
    plain = translator.plain
    if opened(plain.model)[1] is not None:
        raise ConfigError(
            "a prefix may have any words, and shortlists allow some; got both. "
            "Leave --shortlist out."
        )
    cleaned = [clean(text) for text in texts]
    by_prefix: dict[str, list[int]] = {}
    for i, prefix in enumerate(map(clean, prefixes)):
        by_prefix.setdefault(prefix, []).append(i)
        own = any(pattern.stands_in(cleaned[i]) for pattern in translator.own_codes)
        if prefix and (own or may_hold_codes(cleaned[i])):
            raise ConfigError(
                f"a text with a prefix has no codes; got {texts[i]!r}. Translate it without."
            )
    read = [tagged(text, tag) if tag else text for text in cleaned]
    n_read = [len(ids[: plain.longest]) for ids in plain.subwords.encode_batch(read)]
    found: dict[int, Translation] = {}
    if free := by_prefix.pop("", []):
        of_free = [texts[i] for i in free]
        usual = {"glossary": glossary, "want_scores": want_scores, **how, **vars(settings)}
        found = dict(zip(free, translator.translate_fully(of_free, tag=tag, **usual), strict=True))
    for prefix, places in by_prefix.items():
        shortest = min((n_read[i] for i in places if n_read[i]), default=0)
        beginning = written_before(plain, prefix, shortest, settings)
        once = TextTranslator(
            Begun(plain.model, beginning, plain.subwords.special.padding),
            plain.subwords,
            plain.device,
            plain.longest,
        )
        once.engine = plain.engine
        some = once([read[i] for i in places], settings, want_scores=want_scores, **how)
        found |= dict(zip(places, some, strict=True))
    return [found[i]._replace(source=text) for i, text in enumerate(texts)]


def written_before(
    plain: TextTranslator, prefix: str, n_read: int, settings: DecodingSettings
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
