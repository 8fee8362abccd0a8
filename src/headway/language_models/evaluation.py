"""How well a model knows a text: perplexities with what they are divided by, accuracy, context."""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch

from headway.core.interfaces import StepDecoder
from headway.corpora.streams import Stream
from headway.language_models.scoring import POSITIONS, Scorer, TextScores, perplexity
from headway.language_models.texts import ReadingReport
from headway.language_models.units import TokenUnit, Vocabulary

LEAST_ROWS, MOST_ROWS = 64, 256
"""Places of a text that are looked at side by side to count how often a model is right."""


class Accuracy(NamedTuple):
    """How often the next token is the one that is held likeliest, and among the five likeliest."""

    likeliest: float
    among_five: float
    n_tokens: int
    """That were looked at."""


@dataclass(frozen=True)
class Evaluation:
    """What a model makes of a text."""

    scores: TextScores
    by_position: dict[str, float]
    """Perplexity per token of those with so many tokens before them: `1-5`, `6-50`, .."""
    accuracy: Accuracy
    fingerprint: str
    """Of the vocabulary."""
    n_too_long: int = 0
    """Lines of more than 1 MiB, which were passed over."""
    backward_nats: float | None = None
    """What the text has cost the model's backward half, if it has one."""

    @property
    def both_ways(self) -> dict[str, float]:
        """Perplexity per token of each half, and of their mean logarithm; nothing of one that reads
        one way."""
        if self.backward_nats is None:
            return {}
        forward, n_tokens = self.scores.nats, self.scores.n_tokens
        nats = {"forward": forward, "backward": self.backward_nats}
        nats["both"] = sum(nats.values()) / 2
        return {name: perplexity(value / n_tokens) for name, value in nats.items()}

    @property
    def share_unknown(self) -> float:
        """Of all tokens."""
        return self.scores.n_unknown / self.scores.n_tokens

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON; what is infinite is None."""
        scores = self.scores
        found = {
            "log_prob": -scores.nats,
            "tokens": scores.n_tokens,
            "words": scores.n_words,
            "characters": scores.n_characters,
            "unknown": scores.n_unknown,
            "perplexity_per_token": scores.per_token,
            "perplexity_per_word": scores.per_word,
            "bits_per_character": scores.bits_per_character,
            "by_position": self.by_position,
            "accuracy": {"1": self.accuracy.likeliest, "5": self.accuracy.among_five},
            "accuracy_of_tokens": self.accuracy.n_tokens,
            "vocabulary": self.fingerprint[:12],
            "lines_too_long": self.n_too_long,
            **{f"perplexity_{name}": value for name, value in self.both_ways.items()},
        }
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in found.items()
        }


def ids_of(reading: ReadingReport, vocabulary: Vocabulary) -> np.ndarray[Any, np.dtype[np.int32]]:
    """All lines of some files as one stream of ids, each with its end marker."""
    ids = array("i")  # four bytes each
    for line in reading.lines():
        ids.extend(vocabulary.encode(line))
        ids.append(vocabulary.special.end)
    return np.frombuffer(ids, np.int32)


def evaluated(
    scorer: Scorer, files: Sequence[Path], vocabulary: Vocabulary, unit: TokenUnit
) -> Evaluation:
    """Score all text of some files, read one after the other as one long text."""
    reading = ReadingReport(files, unit.cut)
    ids = ids_of(reading, vocabulary)
    n_ends = reading.n_lines + reading.n_blank
    found = evaluated_stream(
        scorer,
        ids,
        vocabulary,
        n_words=reading.n_words + n_ends,
        n_characters=reading.n_characters + n_ends,
        n_ends=n_ends,
    )
    return replace(found, n_too_long=reading.n_too_long)


def evaluated_stream(
    scorer: Scorer,
    ids: Any,
    vocabulary: Vocabulary,
    *,
    n_words: int,
    n_characters: int,
    n_ends: int,
) -> Evaluation:
    """The same of ids; line ends count as words and as characters."""
    nats = -float(scorer.stream(ids).sum())
    backward = scorer.from_the_end(ids)
    return Evaluation(
        TextScores(nats, len(ids), n_words, n_characters, n_ends, scorer.n_unknown(ids)),
        positions(scorer, ids),
        accuracy(scorer, ids),
        vocabulary.fingerprint(),
        backward_nats=None if backward is None else -float(backward.sum()),
    )


def positions(scorer: Scorer, ids: Any) -> dict[str, float]:
    """Perplexity by the number of tokens that stand before, and are all that is seen."""
    rows = scorer.by_position(ids)
    found, begin = {}, 0
    for end in (*POSITIONS, rows.shape[1]):
        some = rows[:, begin : min(end, rows.shape[1])]
        if some.size and np.isfinite(some).all():
            found[f"{begin + 1}-{min(end, rows.shape[1])}"] = perplexity(-float(some.mean()))
        begin = end
    return found


def accuracy(scorer: Scorer, ids: Any, most: int = 5, n_tokens: int = 20_000) -> Accuracy:
    """How often the next token is among the likeliest.

    Of `n_tokens` at most, step by step, in stretches from all over the text that begin with nothing
    before them; a model that carries no state sees no more than its window.
    """
    special = scorer.special
    text = Stream(np.asarray(ids), begin=special.decoder_begin, end=special.end)
    n_tokens = min(n_tokens, len(text))
    length = max(1, n_tokens // LEAST_ROWS)
    if not scorer.model.carries:
        length = min(length, scorer.window)
    n_rows = min(MOST_ROWS, n_tokens // length)
    starts = np.arange(n_rows) * (len(text) // n_rows)
    fed, wanted = map(torch.from_numpy, text.stretch(starts, length))
    wanted = scorer.model.foretold(wanted)
    decoder = cast(StepDecoder, scorer.model)
    likeliest = among = 0
    with torch.inference_mode():
        state = decoder.start(None, fed[:, :0].to(scorer.device))
        for last, truth in zip(fed.T.to(scorer.device), wanted.T, strict=True):
            step = decoder.step(state, last)
            state = step.state
            n_told = min(most, step.logits.shape[1])
            right = step.logits.topk(n_told, dim=1).indices.cpu() == truth[:, None]
            likeliest += int(right[:, 0].sum())
            among += int(right.any(1).sum())
    return Accuracy(likeliest / wanted.numel(), among / wanted.numel(), wanted.numel())
