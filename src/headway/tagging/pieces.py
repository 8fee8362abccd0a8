"""Tokens as the encoder reads them: each in one or several pieces, of which the first is tagged."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from headway.labelling.task import Example
from headway.labelling.vocabulary import LabelledVocabulary
from headway.tagging.schemes import LEARNED, spans_of, tags_of
from headway.tagging.spelling import hashed


class TagTarget(NamedTuple):
    """What is to be said of a portion of a sentence."""

    starts: NDArray[np.int32]
    """Where the first piece of each token stands: `[tokens]`."""
    tags: NDArray[np.int32]
    """Numbers of labels: `[tokens]`."""
    features: NDArray[np.int32]
    """Of each place what is seen of spelling (`spelling.hashed`): `[length, features]`."""


class TokenPieces:
    """Cuts tokens into the pieces of a vocabulary. Every token is read as it would be behind a
    space, or behind nothing where the text has none (`facts["spaced"]`)."""

    def __init__(self, vocabulary: LabelledVocabulary, longest: int) -> None:
        """`longest` is how many pieces a portion has at most, markers included."""
        self.vocabulary = vocabulary
        spaced = vocabulary.facts["spaced"]
        self.before, self.kind = (" ", "words") if spaced else ("", "characters")
        self.shift = len(vocabulary.marked([])) - 1
        self.most = max(1, longest - self.shift - 1)
        self.numbers = {label: number for number, label in enumerate(vocabulary.labels)}
        self._known: dict[str, list[int]] = {}

    def of(self, tokens: Sequence[str]) -> list[list[int]]:
        """The ids of each token: one at least, and no more than a portion holds."""
        new = [*{token for token in tokens if token not in self._known}]
        found = self.vocabulary.tokens.encode_batch([self.before + token for token in new])
        unknown = [self.vocabulary.special.unknown]
        self._known |= {
            token: ids[: self.most] or unknown for token, ids in zip(new, found, strict=True)
        }
        return [self._known[token] for token in tokens]

    def examples(self, tokens: Sequence[str], tags: Sequence[str] = ()) -> Iterator[Example]:
        """A sentence in portions, nearly always one: where it is longer than may be read at once it
        is parted between tokens, and a span there into two."""
        seen = hashed(tokens, self.kind)
        ids, starts, first = list[int](), list[int](), 0
        for place, piece in enumerate(self.of(tokens)):
            if len(ids) + len(piece) > self.most:
                yield self._example(ids, starts, tags[first:place], seen[first:place])
                ids, starts, first = [], [], place
            starts.append(len(ids) + self.shift)
            ids.extend(piece)
        if starts:
            yield self._example(ids, starts, tags[first:], seen[first:])

    def _example(
        self, ids: list[int], starts: list[int], tags: Sequence[str], seen: list[list[int]]
    ) -> Example:
        learned = self.vocabulary.facts["scheme"] and LEARNED
        whole_tags = tags_of(spans_of(tags, learned), len(tags), learned)
        numbers = [self.numbers[tag] for tag in whole_tags] or [0] * len(starts)
        whole = np.array(self.vocabulary.marked(ids), np.int32)
        features = np.zeros((len(whole), len(seen[0])), np.int32)
        features[starts] = seen
        target = TagTarget(np.array(starts, np.int32), np.array(numbers, np.int32), features)
        return Example(whole, target)


def padded_targets(examples: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Starts, tags and which of them are there, `[batch, tokens]`; features of spelling, `[batch,
    length, features]`."""
    columns = zip(*(one.target for one in examples), strict=True)
    starts, tags, features = (
        pad_sequence([torch.from_numpy(one).long() for one in column], batch_first=True)
        for column in columns
    )
    there = [torch.ones(len(one.target.tags), dtype=torch.bool) for one in examples]
    return starts, tags, pad_sequence(there, batch_first=True), features
