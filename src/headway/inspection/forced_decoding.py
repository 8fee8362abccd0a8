"""Words that a translation is made to have: what comes before them stays, what follows is written
anew.

`3=street`: at step 3, counted from 0, `street` is written. `it=street`: at the step that looks most
at the source word `it`. The tokens before are those that the whole model wrote; of several such
wishes each is about what it wrote under those before it.
"""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

import torch

from headway.core.errors import ConfigError
from headway.decoding.forced import attention_over
from headway.inspection.beam_tree import search_tree
from headway.inspection.inspected_model import InspectedModel, Passage, text_of
from headway.inspection.passage_analysis import writing_of
from headway.inspection.word_merging import words_of
from headway.operations.argument_types import refuse_no_unicode


class ForcedWord(NamedTuple):
    """One word that is to be written."""

    place: str
    """A step, or a word of the source."""
    word: str


def refuse_beside_force(target: str | None, begin: Sequence[int] = ()) -> None:
    """Raise ConfigError where words are to be forced into an output that is given, or whose
    beginning is."""
    if target is not None or begin:
        given = "begin" if target is None else "target"
        raise ConfigError(
            f"words are forced into what the model writes by itself; got {given} as well. Leave "
            f"out {given}, or force."
        )


def beginning(inspected: InspectedModel, passage: Passage, force: Sequence[str]) -> list[int]:
    """Ids that the output begins with, so that it has what is wished for; none without wishes.

    Raises ConfigError for a wish that cannot be read, and for a word or a step that is not there.
    """
    if force and not inspected.reads_source:
        raise ConfigError(
            "words are forced into what a model writes of a source; a language model reads the "
            f"text that it is given. Got {force[0]!r}. Write it into the text."
        )
    ids, begin = passage.target_ids, list[int]()
    for number, text in enumerate(force):
        if number:
            ids = written(inspected, passage, begin)
        forced = forced_word_of(text)
        step = step_of(inspected, passage, ids, forced.place)
        begin = [*ids[:step], *spelled(inspected, ids[step : step + 1], forced.word)]
    return begin


def written(inspected: InspectedModel, passage: Passage, begin: Sequence[int]) -> list[int]:
    """What the model writes behind a beginning, and that beginning; ids without markers."""
    writing, settings = writing_of(inspected, passage)
    return search_tree(writing, replace(settings, n_best=1), begin).found[0].ids


def begun(inspected: InspectedModel, passage: Passage, begin: Sequence[int]) -> Passage:
    """The passage with the translation that begins so."""
    ids = written(inspected, passage, begin)
    target = text_of(inspected, ids, passage.names)
    return passage._replace(target=target, fed=[*passage.fed[:1], *ids])


def forced_word_of(text: str) -> ForcedWord:
    """`PLACE=WORD`; what is to be written may hold an equals sign."""
    refuse_no_unicode(text)
    place, _, word = text.partition("=")
    if not place or not word.strip():
        raise ConfigError(
            "a word is forced by STEP=WORD or SOURCEWORD=WORD, such as 3=street or it=street; "
            f"got {text!r}."
        )
    return ForcedWord(place, word)


def step_of(inspected: InspectedModel, passage: Passage, ids: Sequence[int], place: str) -> int:
    """The step that is named, or that looks most at the source word that is."""
    if place.isdecimal():
        if int(place) > len(ids):
            raise ConfigError(
                f"a step is a number from 0 to {len(ids)}, where this translation ends; got "
                f"{place}."
            )
        return int(place)
    words = words_of(inspected.shown(passage.source, passage.names))
    labels = words.labels[:-1]
    if place not in labels:
        near = get_close_matches(place, labels, 1, 0.0)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise ConfigError(
            f"a word is forced at a step or for a word of the source; got {place!r}, which is "
            f"neither.{meant}"
        )
    [looks] = attention_over(
        inspected.model, [passage.source[:-1]], [ids], inspected.special, inspected.device
    )
    if looks is None or not len(looks):
        raise ConfigError(
            "this model does not say where it looks, so that no step is known to be about "
            f"{place!r}. Name a step: 0=WORD."
        )
    return int(looks[:, words.groups[labels.index(place)]].sum(1).argmax())


@torch.no_grad()
def spelled(inspected: InspectedModel, replaced: Sequence[int], word: str) -> list[int]:
    """The ids of a word; it begins with a space if the token that it takes the place of does."""
    pieces = inspected.pieces(replaced)
    space = " " if pieces and pieces[0].startswith("▁") else ""
    [ids] = inspected.vocabulary.encode_targets([space + word.replace("▁", " ")])
    return list(ids)
