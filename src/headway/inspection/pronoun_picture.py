"""What does *it* look at? The notes' picture, in the encoder and while the translation is written.

An encoder may connect *it* with its antecedent. A translator need not: it can wait until it has to
write what *it* is, and look then. Both are drawn, and for both it is counted how often they hold.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from headway.inspection.attention_picture import AttentionMap, draw_attention
from headway.inspection.word_merging import merge_pieces, words_of

if TYPE_CHECKING:
    from headway.translation.attention import Attention
    from headway.translator import Translator

PRONOUN = "it"


class PronounSentence(NamedTuple):
    """A sentence with *it*, a translation that names what *it* is, and the two candidates."""

    text: str
    translation: str
    antecedent: str
    rival: str
    named_at: int
    """Where the translation names the antecedent for the second time, in characters."""


class Look(NamedTuple):
    """Who looks at which English words of a sentence, in every layer and head."""

    weights: Float[np.ndarray, "layers heads rows words"]
    rows: list[str]
    words: list[str]
    focus: int
    """The row that stands for *it*."""
    antecedent: int
    """The word that *it* stands for."""
    rival: int
    """Another noun that it could have stood for."""


View = Callable[["Attention", PronounSentence], Look]


class Head(NamedTuple):
    """One head of one layer, both from 0, and how well it tells antecedents from rivals."""

    layer: int
    head: int
    margin: float
    """Weight on the antecedent less weight on the rival, mean over the sentences."""


class Findings(NamedTuple):
    """The head that was drawn, and what can be said of it."""

    head: Head
    n_layers: int
    n_heads: int
    weights: list[tuple[float, float]]
    """Of each sentence that was drawn: on the antecedent, and on the rival."""
    right: float
    """Share of the sentences that were counted in which it looks more at the antecedent."""


def look_of_encoder(found: "Attention", sentence: PronounSentence) -> Look:
    """Encoder self-attention: the words look at each other; *it* is the row of that word."""
    words = words_of(found.source_tokens)
    weights = merge_pieces(found.encoder, words.groups, words.groups)
    nouns = [words.labels.index(noun) for noun in (sentence.antecedent, sentence.rival)]
    return Look(weights, words.labels, words.labels, words.labels.index(PRONOUN), *nouns)


def look_of_naming(found: "Attention", sentence: PronounSentence) -> Look:
    """Decoder-to-encoder attention: *it* is the step that names the antecedent once more."""
    words = words_of(found.source_tokens)
    # Row i was fed piece i and writes the next one; the last row writes the end marker.
    written = words_of([*found.target_tokens[1:], found.source_tokens[-1]])
    ends = np.cumsum([len(label) for label in written.labels])
    weights = merge_pieces(found.cross, written.groups, words.groups)
    focus = int(np.searchsorted(ends, sentence.named_at, side="right"))
    nouns = [words.labels.index(noun) for noun in (sentence.antecedent, sentence.rival)]
    return Look(weights, written.labels, words.labels, focus, *nouns)


def clearest_head(looks: Sequence[Look]) -> Head:
    """The head whose pronouns look most at their antecedent and least at the rival.

    A head that always looks at, say, the subject gains nothing where subject and object are the
    antecedent equally often.
    """
    rows = [(look, look.weights[:, :, look.focus]) for look in looks]
    margins = np.mean([row[..., one.antecedent] - row[..., one.rival] for one, row in rows], axis=0)
    layer, head = np.unravel_index(int(margins.argmax()), margins.shape)
    return Head(int(layer), int(head), float(margins[layer, head]))


def on_nouns(looks: Sequence[Look], head: Head) -> list[tuple[float, float]]:
    """Of each sentence what this head gives to the antecedent and to the rival."""
    rows = [(one, one.weights[head.layer, head.head, one.focus]) for one in looks]
    return [(float(row[one.antecedent]), float(row[one.rival])) for one, row in rows]


def draw_pronouns(
    translator: "Translator",
    shown: Sequence[PronounSentence],
    path: Path,
    *,
    view: View,
    title: str,
    choose_on: Sequence[PronounSentence],
    count_on: Sequence[PronounSentence],
) -> Findings:
    """Draw the sentences `shown` side by side, in the layer and head that tell *it* best.

    The head is chosen on `choose_on` alone and counted on `count_on`; neither should have been
    trained on. `title` is followed by the layer and head.
    """
    looks, chosen, counted = (
        [view(translator.attention(one.text, one.translation), one) for one in some]
        for some in (shown, choose_on, count_on)
    )
    head = clearest_head(chosen)
    maps = [
        AttentionMap(one.weights[head.layer], one.rows, one.words, text, head.head, one.focus)
        for one, (text, *_) in zip(looks, shown, strict=True)
    ]
    where = f"layer {head.layer}, head {head.head}, counted from 0"
    draw_attention(maps, path, title=f"{title} ({where})")
    n_layers, n_heads = looks[0].weights.shape[:2]
    right = float(np.mean([meant > rival for meant, rival in on_nouns(counted, head)]))
    return Findings(head, n_layers, n_heads, on_nouns(looks, head), right)
