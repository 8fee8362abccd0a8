"""Section [data] of what is labelled, and what uses share of reading it."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from headway.core.disk import checksum
from headway.core.errors import DataError, refuse_below, refuse_beyond
from headway.core.run_folder import RunFolder
from headway.labelling.task import Example
from headway.language_models.texts import refuse_learned
from headway.language_models.units import (
    LanguageText,
    Unit,
    Vocabulary,
    fitted_unit,
    learned_vocabulary,
)
from headway.languages.segmenting import unspaced
from headway.runs.task_spec import Say, Sizes

HELD_OUT, MOST_HELD_OUT = 0.1, 5_000
"""Examples held out to validate on where no file is named: this share, and no more than so many."""
FEW = 20
"""Examples to validate on, of which a score says next to nothing."""

MOST_UNKNOWN = 0.3
"""Of the tokens that are read with another run's vocabulary; more are said."""

T = TypeVar("T")


@dataclass(frozen=True)
class LabelledPlaces:
    """Section [data]: which files, or folders."""

    corpus: tuple[Path, ...] = ()
    """Files of labelled examples to learn from."""
    valid_corpus: tuple[Path, ...] = ()
    """Files of labelled examples to validate on; held out of the corpus where there are none."""

    def __post_init__(self) -> None:
        refuse_learned(self.corpus, self.valid_corpus)


@dataclass(frozen=True)
class LabelledFiles(LabelledPlaces):
    """The same of texts."""

    max_length: int = 256
    """Tokens that are read of a text, its markers included; what stands behind is cut off, and
    counted."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_below(self, {"max_length": 3}, above="data.")
        refuse_beyond(self, {"max_length": 1 << 24}, above="data.")


@dataclass(frozen=True)
class LabelledData:
    """Examples to learn from and to validate on: a `headway.runs.task_spec.Data`."""

    vocabulary: Any
    """A `LabelledVocabulary`, or what else has labels and saves itself into a run's folder."""
    train: Sequence[Example]
    valid: Sequence[Example]
    checksums: Mapping[str, str]
    reading: Mapping[str, Any]
    """What data.json says: counts of what was read, kept, cut and dropped, of each label."""

    def record(self) -> dict[str, Any]:
        """See `headway.runs.task_spec.Data`."""
        return dict(self.reading)

    def save_vocabulary(self, folder: RunFolder) -> None:
        """labels.json, and of texts tokenizer.json."""
        self.vocabulary.save(folder)


def held_out(
    rows: Sequence[T],
    seed: int,
    what: str,
    inputs: Sequence[Hashable],
    kinds: Sequence[Any] | None = None,
) -> tuple[list[T], list[T]]:
    """Rows to learn from, and some at random to validate on; of each of their `kinds` the same
    share, and none of one that is there once. None whose input, which is given of each, another has
    too, as that would be learned from; where most rows are such, inputs are drawn, each with all
    its rows.

    Raises DataError where there are under twenty of `what`, or none can be held out.
    """
    if len(rows) < 20:
        raise DataError(
            f"a model needs 20 {what}, some of which are held out; there are {len(rows)}. Give "
            "more, or --valid-corpus."
        )
    every = max(round(1 / HELD_OUT), len(rows) // MOST_HELD_OUT)
    order = np.random.default_rng(seed).permutation(len(rows)).tolist()
    alone = set[int]()
    if kinds is not None:
        counts, first = Counter(kinds), {kind: place for place, kind in enumerate(kinds)}
        order.sort(key=lambda place: first[kinds[place]])
        alone = {place for place in order if counts[kinds[place]] == 1}
    n_same = Counter(inputs)
    drawn = {*order[every // 2 :: every]} - alone
    chosen = {place for place in drawn if n_same[inputs[place]] == 1}
    if 4 * len(chosen) < len(drawn):
        firsts = list({inputs[place]: place for place in order if place not in alone})
        most = len(rows) // every
        some = {one for one in firsts[every // 2 :: every] if n_same[one] <= most}
        chosen = {place for place, one in enumerate(inputs) if one in some} - alone or drawn
    if kinds is not None:  # each must be learned
        left = {kind for place, kind in enumerate(kinds) if place not in chosen}
        chosen = {place for place in chosen if kinds[place] in left}
    if not chosen:
        raise DataError(
            f"{what} are held out where others of their kind stay to be learned; of {len(rows):,} "
            "there are none. Give more of each kind, or --valid-corpus."
        )
    return (
        [row for i, row in enumerate(rows) if i not in chosen],
        [row for i, row in enumerate(rows) if i in chosen],
    )


def kinds_of(labels: Iterable[Sequence[str]]) -> list[str] | None:
    """Of what kind each text is to `held_out`, by its labels: its only one. None where a text has
    several, or none: of most sets of labels there is but one text."""
    some = [*labels]
    return [one[0] for one in some] if all(len(one) == 1 for one in some) else None


def tokens_of(
    text: LanguageText, model_type: str, texts: Sequence[str], seed: int, say: Say
) -> tuple[Vocabulary, Mapping[str, str]]:
    """The vocabulary of some texts; and what must be known beside it to read others as they were:
    the segmenter that puts spaces between words."""
    unit = fitted_unit(text, model_type, lambda: iter(texts), say)
    found = learned_vocabulary(
        text, unit, lambda: map(unit.cut, texts), unlimited=False, seed=seed, say=say
    )
    return found, {"unit": unit.unit, "segmenter": unit.segmenter}


def say_few(n_valid: int, what: str, say: Say) -> None:
    """That a score of so few examples says nothing, if they are."""
    if n_valid < FEW:
        say(
            f"WARNING: validated on {n_valid:,} {what}: a score of so few says next to nothing. "
            "Give more of them with --valid-corpus, or more different examples"
        )


def say_repeated(what: str, say: Say, *sets: Iterable[Hashable]) -> None:
    """How many different of `what` are in both `sets`, learned from and validated on, if any are:
    files name them twice, or were held out beside their like."""
    if n_same := len(set[Hashable].intersection(*map(set, sets))):
        say(
            f"WARNING: {n_same:,} {what} to validate on are among those to learn from as well: "
            "scores are too high"
        )


def say_unknown(examples: Sequence[Example], unknown: int, say: Say) -> None:
    """What a vocabulary that was taken over cannot read, where it is over `MOST_UNKNOWN`; the id of
    such tokens is `unknown`."""
    n_all = sum(len(one.input) for one in examples)
    share = sum(int((one.input == unknown).sum()) for one in examples) / max(1, n_all)
    if share > MOST_UNKNOWN:
        say(
            f"WARNING: {share:.0%} of what is read are unknown words to the run that this one "
            "begins with. Begin with another, or without --init-from"
        )


def whole_words(text: LanguageText, texts: Sequence[str], say: Say) -> LanguageText:
    """What is left open of [text], where a few thousand texts teach no sub-words: words, parted
    from marks and however rare, or characters where there are no spaces."""
    if text.unit == "subwords":
        return text
    without_spaces = unspaced(texts)
    if text.unit == "auto":
        unit: Unit = "characters" if without_spaces else "words"
        say(f"unit: {unit}{' (the text has next to no spaces)' if without_spaces else ''}")
        text = replace(text, unit=unit)
    text = replace(text, min_count=text.min_count or 1)
    parted = text.unit == "words" and text.segmenter == "auto" and not without_spaces
    return replace(text, segmenter="punctuation") if parted else text


def checksums_of(files: LabelledFiles) -> dict[str, str]:
    """SHA-256 of each file, by its name."""
    return {str(path): checksum(path) for path in (*files.corpus, *files.valid_corpus)}


def sizes(data: LabelledData) -> Sizes:
    """Examples."""
    return Sizes(len(data.train), len(data.train))
