"""Files of tagged sentences to examples: their scheme, their labels, what a token is read as."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from textwrap import shorten
from typing import Any

from headway.core.errors import DataError
from headway.labelling.data import (
    LabelledData,
    LabelledFiles,
    checksums_of,
    held_out,
    say_few,
    say_repeated,
    say_unknown,
    tokens_of,
)
from headway.labelling.vocabulary import LabelledVocabulary
from headway.language_models import texts
from headway.languages.scripts import HAN_OR_KANA
from headway.runs.settings import Settings
from headway.runs.task_spec import Say
from headway.tagging.conll import TaggedSentence, read_tagged
from headway.tagging.pieces import TokenPieces
from headway.tagging.schemes import LEARNED, OUTSIDE, SCHEMES, scheme_of, spans_of, tags_of
from headway.tagging.schemes import n_violations as violated

refuse_unreadable = partial(
    texts.refuse_unreadable,
    kind=LabelledFiles,
    none="tags are learned from tagged sentences; none are named: --corpus F.",
)
"""See `headway.language_models.texts.refuse_unreadable`."""


def read(settings: Settings, known: LabelledVocabulary | Any | None, say: Say) -> LabelledData:
    """Files to examples; `known` is the vocabulary of a run that this one begins with."""
    files, seed = settings.data, settings.runtime.seed
    rows, valid = read_tagged(files.corpus), read_tagged(files.valid_corpus)
    scheme, n = scheme_of(one.tags for one in (*rows, *valid)), len(rows)
    how = "no scheme of spans, each stands by itself (scored by accuracy)"
    say(f"tags: {f'{scheme}, learned as {LEARNED} and written as they came' if scheme else how}")
    whole, learned = converted([*rows, *valid], scheme, say), scheme and LEARNED
    kinds = sorted(kinds_in(whole, learned))
    labels = kinds
    if scheme:
        ends = [f"-{kind}" if kind else "" for kind in kinds]
        labels = [OUTSIDE, *(letter + end for end in ends for letter in SCHEMES[LEARNED])]
    if len(labels) < 2:
        raise DataError(f"there are two tags or more; all tokens have {labels[0]!r}. Add more.")
    train, kept = whole[:n], whole[n:]
    if not valid:
        train, kept = held_out(whole, seed, "tagged sentences", inputs_of(whole))
        say(f"{len(kept):,} of {n:,} sentences are held out to validate on")
    say_repeated("sentences", say, inputs_of(train), inputs_of(kept))
    say_few(len(kept), "sentences", say)
    if unlearned := kinds_in(kept, learned) - kinds_in(train, learned):
        some = shorten(", ".join(sorted(unlearned)), 200, placeholder=" ..")
        say(f"WARNING: only in what is validated on, so that nobody can learn it: {some}")
    facts: dict[str, Any] = {"scheme": scheme, "kinds": kinds, "spaced": spaced(train)}
    tokens: Any = getattr(known, "tokens", known)
    if tokens is None:
        tokens, more = _learned_tokens(train, facts["spaced"], settings, say)
        facts |= more
    vocabulary = LabelledVocabulary(tokens, (*labels,), facts)
    pieces = TokenPieces(vocabulary, files.max_length)
    examples, held = (
        [e for one in some for e in pieces.examples(one.tokens, one.tags)] for some in (train, kept)
    )
    if known is not None:
        say_unknown(examples, vocabulary.special.unknown, say)
    counts = {
        name: {"kept": len(some), "tokens": sum(len(one.tokens) for one in some)}
        for name, some in (("train", train), ("valid", kept))
    }
    return LabelledData(vocabulary, examples, held, checksums_of(files), counts)


def kinds_in(sentences: Sequence[TaggedSentence], scheme: str | None) -> set[str]:
    """The types of their spans, or their plain tags."""
    return {span.kind for one in sentences for span in spans_of(one.tags, scheme)}


def inputs_of(sentences: Sequence[TaggedSentence]) -> list[str]:
    """What is read of each."""
    return [" ".join(one.tokens) for one in sentences]


def converted(
    sentences: Sequence[TaggedSentence], scheme: str | None, say: Say
) -> list[TaggedSentence]:
    """The same in the scheme `schemes.LEARNED`, or with plain tags; says how many tags the scheme
    of the file forbids, and where the first stands."""
    odd = [(one.place, n) for one in sentences if (n := violated(one.tags, scheme))]
    if odd:
        say(
            f"{sum(n for _, n in odd):,} tags are not as {scheme} wants them, the first in the "
            f"sentence at {odd[0][0]}: spans are read there as conlleval does"
        )
    return [
        one._replace(tags=tags_of(spans_of(one.tags, scheme), len(one.tags), scheme and LEARNED))
        for one in sentences
    ]


def known_sentences(
    sentences: Sequence[TaggedSentence], vocabulary: LabelledVocabulary, say: Say
) -> list[TaggedSentence]:
    """`converted` sentences of a file that need not have the scheme of the run.

    Raises DataError, with the place, for a tag that says what the run does not know.
    """
    usual = vocabulary.facts["scheme"]
    own = usual and scheme_of((one.tags for one in sentences), usual)
    found = converted(sentences, own, say)
    for one in found:
        for tag in one.tags:
            if tag not in vocabulary.labels:
                known = shorten(", ".join(vocabulary.facts["kinds"]), 200, placeholder=" ..")
                raise DataError(
                    f"a run is asked for tags that it knows; {tag[2:] if own else tag!r} in the "
                    f"sentence at {one.place} is none: {known}. Leave such sentences out, or train "
                    "on them."
                )
    return found


def spaced(sentences: Sequence[TaggedSentence]) -> bool:
    """Whether tokens are words with spaces between; if not, they are single characters."""
    tokens = [token for one in sentences for token in one.tokens]
    lengths = Counter(map(len, filter(HAN_OR_KANA.fullmatch, tokens)))
    return lengths[1] < len(tokens) / 4 or lengths.total() > 1.05 * lengths[1]


def _learned_tokens(
    train: Sequence[TaggedSentence], with_spaces: bool, settings: Settings, say: Say
) -> tuple[Any, dict[str, Any]]:
    text = settings.text
    if not with_spaces and text.unit == "auto":
        text = replace(text, unit="characters")
        say("unit: characters, as the tokens are")
    elif text.unit in ("auto", "subwords"):
        say("of a token in several sub-words the first is tagged")
    joined = [(" " if with_spaces else "").join(one.tokens) for one in train]
    found, facts = tokens_of(text, settings.model_type, joined, settings.runtime.seed, say)
    return found, dict(facts)
