"""Does *it* know what it stands for? How often heads and a linear probe pick the right noun.

Two nouns compete. A head picks the one that it looks at more. A probe picks the one that the
encoder's vector of a word, *it* or the reason, names: a linear map from that vector to the nouns.
Heads are chosen, and probes fitted, on some sentences and counted on others.
"""

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from headway.core.errors import ConfigError
from headway.demo import finished
from headway.demo.sampling import Writer
from headway.demo.sentences import coreference, it
from headway.inspection.pronoun_picture import (
    PRONOUN,
    Look,
    PronounSentence,
    look_of_decoder,
    look_of_encoder,
    look_of_naming,
)
from headway.inspection.tracing import TensorRecorder
from headway.inspection.word_merging import words_of

if TYPE_CHECKING:
    from headway.translator import Translator

BECAUSE = "因为那"
"""Behind it the Chinese says what *it* is: a measure word, which may tell already, and the noun."""
RIDGE = 0.1
"""Times the number of sentences: what the probe's squared weights cost."""
_Z = 1.959964
"""95 % of a normal distribution lie within so many standard deviations."""


class Proportion(NamedTuple):
    """In how many of the sentences, with Wilson's interval of 95 %."""

    right: int
    of: int

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self.right / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share may lie (Wilson 1927)."""
        p, z = self.share, _Z / math.sqrt(self.of)
        spread = z * math.sqrt(p * (1 - p) + z**2 / 4)
        return (p + z**2 / 2 - spread) / (1 + z**2), (p + z**2 / 2 + spread) / (1 + z**2)


class BestHead(NamedTuple):
    """The best head of a layer, and how often it picks what *it* stands for."""

    layer: int
    """From 0."""
    head: int
    """From 0."""
    right: Proportion
    """It looks more at that noun than at the other: half of the time by chance."""
    most: Proportion
    """It looks more at that noun than at any other word."""
    weight: float
    """What it gives to that noun, mean over the sentences."""


class Probe(NamedTuple):
    """How often the noun can be read from what the encoder has for a word."""

    layer: int
    """Behind this layer, from 0; -1 is what goes into the first."""
    right: Proportion
    """Of the two nouns it names the right one: half of the time by chance."""


class CoreferenceResults(NamedTuple):
    """What was found, layer by layer."""

    encoder: list[BestHead]
    """Self-attention of the encoder: the row of *it*."""
    probe: list[Probe]
    """Of the vector of *it*."""
    reason: list[Probe]
    """Of the vector of the word that decides, such as *tired*."""
    deciding: list[BestHead]
    """Cross-attention: the row that writes the first piece that tells the two nouns apart."""
    naming: list[BestHead]
    """Cross-attention: the row that writes the noun; what tells may have been written before."""


class Pass(NamedTuple):
    """What one sentence gives, with the right translation forced."""

    encoder: Look
    deciding: Look
    naming: Look
    pronoun: Float[np.ndarray, "states d_model"]
    """The vectors of *it*: what goes into the encoder's first layer, and what each layer gives."""
    reason: Float[np.ndarray, "states d_model"]
    """The same of the reason: the last word, in front of the full stop."""


def unseen_sentences(n: int, seed: int, seen: Collection[str]) -> list[PronounSentence]:
    """`n` different sentences of the demo's grammar in which only a reason decides what *it* is.

    None is in `seen`, English sentences. As often as not the first of the two nouns is meant.
    """
    writer, found = Writer(seed), dict[str, PronounSentence]()
    while len(found) < n:
        english, chinese = finished(*it(writer))
        which = coreference(english, chinese)
        if which and english not in seen:
            found[english] = PronounSentence(english, chinese, *which)
    return list(found.values())


def coreference_results(
    translator: "Translator",
    choose_on: Sequence[PronounSentence],
    count_on: Sequence[PronounSentence],
) -> CoreferenceResults:
    """Who picks the right noun in `count_on`; what is chosen or fitted is so on `choose_on`.

    Raises:
        ConfigError: the model has no encoder with attention to be looked at.
    """
    chosen, counted = ([pass_of(translator, s) for s in some] for some in (choose_on, count_on))
    return CoreferenceResults(
        best_heads([p.encoder for p in chosen], [p.encoder for p in counted]),
        _probes([p.pronoun for p in chosen], [p.pronoun for p in counted], choose_on, count_on),
        _probes([p.reason for p in chosen], [p.reason for p in counted], choose_on, count_on),
        best_heads([p.deciding for p in chosen], [p.deciding for p in counted]),
        best_heads([p.naming for p in chosen], [p.naming for p in counted]),
    )


def named_right(translator: "Translator", sentences: Sequence[PronounSentence]) -> Proportion:
    """In how many the model's own translation names the right noun."""
    translations = translator.translate([one.text for one in sentences])
    named = [coreference(one.text, t) for one, t in zip(sentences, translations, strict=True)]
    right = sum(
        which is not None and which.antecedent == one.antecedent
        for one, which in zip(sentences, named, strict=True)
    )
    return Proportion(right, len(sentences))


@torch.inference_mode()
def pass_of(translator: "Translator", sentence: PronounSentence) -> Pass:
    """One pass through the model."""
    encoder = getattr(translator.model, "encoder", nn.Module())
    layers = [each for each in encoder.modules() if hasattr(each, "self_attention")]
    if not layers:
        raise ConfigError(
            "what is read is an encoder with self-attention, such as a Transformer's; this model "
            "has none. Take another run."
        )
    with TensorRecorder() as notes:
        notes.watch_before(layers[0], lambda x, *_: notes.note("goes in", x))
        for n, layer in enumerate(layers):
            notes.watch_output(layer, f"layer {n}")
        found = translator.attention(sentence.text, sentence.translation)
    decided_at = sentence.translation.index(BECAUSE) + len(BECAUSE)
    words = words_of(found.source_tokens)
    vectors = np.stack([*notes.tensors.values()])
    reason = words.labels.index(".") - 1
    return Pass(
        look_of_encoder(found, sentence),
        look_of_decoder(found, sentence, decided_at),
        look_of_naming(found, sentence),
        vectors[:, words.groups[words.labels.index(PRONOUN)][-1]],
        vectors[:, words.groups[reason][-1]],
    )


def best_heads(chosen: Sequence[Look], counted: Sequence[Look]) -> list[BestHead]:
    """Of each layer the head that is right most often in `chosen`; its figures are `counted`'s."""
    n_right = np.sum([_right(one) for one in chosen], axis=0)
    found = []
    for layer, head in enumerate(n_right.argmax(axis=1).tolist()):
        rows = [(one, one.weights[layer, head, one.focus]) for one in counted]
        right = sum(bool(row[one.antecedent] > row[one.rival]) for one, row in rows)
        most = sum(int(row.argmax()) == one.antecedent for one, row in rows)
        weight = float(np.mean([row[one.antecedent] for one, row in rows]))
        n = len(rows)
        found.append(BestHead(layer, head, Proportion(right, n), Proportion(most, n), weight))
    return found


def _right(one: Look) -> Float[np.ndarray, "layers heads"]:
    """1 where a head looks more at what *it* stands for."""
    row = one.weights[:, :, one.focus]
    return (row[..., one.antecedent] > row[..., one.rival]).astype(np.float32)


def _probes(
    chosen: Sequence[Float[np.ndarray, "states d_model"]],
    counted: Sequence[Float[np.ndarray, "states d_model"]],
    choose_on: Sequence[PronounSentence],
    count_on: Sequence[PronounSentence],
) -> list[Probe]:
    """One for each state of the encoder."""
    names = [one.antecedent for one in choose_on]
    pairs = [(one.antecedent, one.rival) for one in count_on]
    states = zip(np.stack(chosen, axis=1), np.stack(counted, axis=1), strict=True)
    return [
        Probe(layer, probe(fitted, names, others, pairs))
        for layer, (fitted, others) in enumerate(states, start=-1)
    ]


def probe(
    fitted: Float[np.ndarray, "fitted d_model"],
    names: Sequence[str],
    counted: Float[np.ndarray, "counted d_model"],
    pairs: Sequence[tuple[str, str]],
) -> Proportion:
    """How often a linear map that was fitted to `names` gives the first of each pair more.

    Ridge regression from the standardized vector to one number for each noun, 1 for the noun that
    is meant and 0 for the others, in closed form.
    """
    nouns = sorted({*names, *(noun for pair in pairs for noun in pair)})
    wanted = np.array([[float(noun == name) for noun in nouns] for name in names])
    mean, spread = fitted.mean(axis=0), fitted.std(axis=0) + 1e-6
    x, y = (fitted - mean) / spread, wanted - wanted.mean(axis=0)
    cost = RIDGE * len(x) * np.eye(x.shape[1])
    given = (counted - mean) / spread @ np.linalg.solve(x.T @ x + cost, x.T @ y)
    right = sum(
        bool(row[nouns.index(meant)] > row[nouns.index(rival)])
        for row, (meant, rival) in zip(given, pairs, strict=True)
    )
    return Proportion(right, len(pairs))
