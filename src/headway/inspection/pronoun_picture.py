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
from headway.inspection.pronouns import Head, PronounAttention, clearest_head, share_resolved
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
    """Who looks at which English words, in every layer and head."""

    weights: Float[np.ndarray, "layers heads rows words"]
    rows: list[str]
    words: list[str]
    focus: int
    """The row that stands for *it*."""


View = Callable[["Translator", PronounSentence], Look]


class Findings(NamedTuple):
    """The head that was drawn, and what can be said of it."""

    head: Head
    n_layers: int
    n_heads: int
    weights: list[tuple[float, float]]
    """Of each sentence that was drawn: on the antecedent, and on the rival."""
    right: float
    """Share of the sentences that were counted in which it looks more at the antecedent."""
    legend: list[str]
    """Lines that explain numbered labels, where no font can draw them."""


def encoding(translator: "Translator", sentence: PronounSentence) -> Look:
    """Encoder self-attention: the words look at each other; *it* is the row of that word."""
    return look_of_encoder(translator.attention(sentence.text, sentence.translation))


def writing(translator: "Translator", sentence: PronounSentence) -> Look:
    """Decoder-to-encoder attention: each row is the step that writes that piece.

    *It* is the row that names the antecedent for the second time.
    """
    found = translator.attention(sentence.text, sentence.translation)
    return look_of_decoder(found, sentence.named_at)


def look_of_encoder(found: "Attention") -> Look:
    """The same as `encoding`, of weights that are there."""
    words = words_of(found.source_tokens)
    weights = merge_pieces(found.encoder, words.groups, words.groups)
    return Look(weights, words.labels, words.labels, words.labels.index(PRONOUN))


def look_of_decoder(found: "Attention", at: int) -> Look:
    """Its focus is the step that writes character `at` of the translation."""
    words = words_of(found.source_tokens)
    # Row i was fed piece i and writes the next one; the last row writes the end marker.
    written = words_of([*found.target_tokens[1:], found.source_tokens[-1]])
    ends = np.cumsum([len(label) for label in written.labels])
    weights = merge_pieces(found.cross, written.groups, words.groups)
    focus = int(np.searchsorted(ends, at, side="right"))
    return Look(weights, written.labels, words.labels, focus)


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
    head = clearest_head([pronoun_attention(view(translator, s), s) for s in choose_on])
    others = [pronoun_attention(view(translator, s), s) for s in count_on]
    looks = [view(translator, sentence) for sentence in shown]
    maps = [
        AttentionMap(
            look.weights[head.layer],
            look.rows,
            look.words,
            sentence.text,
            head=head.head,
            focus=look.focus,
        )
        for look, sentence in zip(looks, shown, strict=True)
    ]
    n_layers, n_heads = looks[0].weights.shape[:2]
    where = f"layer {head.layer}, head {head.head}, counted from 0"
    legend = draw_attention(maps, path, title=f"{title} ({where})")
    weights = []
    for look, sentence in zip(looks, shown, strict=True):
        row = look.weights[head.layer, head.head, look.focus]
        on = [float(row[look.words.index(n)]) for n in (sentence.antecedent, sentence.rival)]
        weights.append((on[0], on[1]))
    right = share_resolved(others, head.layer, head.head)
    return Findings(head, n_layers, n_heads, weights, right, legend)


def pronoun_attention(look: Look, sentence: PronounSentence) -> PronounAttention:
    """The weights of a look, and which of its words compete."""
    return PronounAttention(
        look.weights,
        pronoun=look.focus,
        antecedent=look.words.index(sentence.antecedent),
        rival=look.words.index(sentence.rival),
    )
