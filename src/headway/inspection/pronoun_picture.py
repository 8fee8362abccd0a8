"""The picture of the notes: what does *it* look at?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from headway.inspection.attention_picture import AttentionMap, draw_attention
from headway.inspection.merging import merge_pieces, words_of
from headway.inspection.pronouns import PronounAttention, clearest_head, share_resolved

if TYPE_CHECKING:
    from headway.translator import Translator

PRONOUN = "it"


class PronounSentence(NamedTuple):
    """An English sentence with *it*, and the two nouns that it could stand for."""

    text: str
    antecedent: str
    rival: str


class WordAttention(NamedTuple):
    """Encoder self-attention between the words of a sentence."""

    words: list[str]
    weights: Float[np.ndarray, "layers heads words words"]


def encoder_attention(translator: "Translator", text: str) -> WordAttention:
    """How the words of `text` look at each other in every layer and head."""
    found = translator.attention(text)
    words = words_of(found.source_tokens)
    return WordAttention(words.labels, merge_pieces(found.encoder, words.groups, words.groups))


def draw_pronouns(
    translator: "Translator",
    shown: Sequence[PronounSentence],
    path: Path,
    *,
    choose_on: Sequence[PronounSentence],
    count_on: Sequence[PronounSentence],
) -> list[str]:
    """Draw the encoder's self-attention for `shown`, in the layer and head that tell *it* best.

    The head is chosen on `choose_on` alone; in what share of `count_on` it is right is returned
    among the lines that explain the picture.
    """
    head = clearest_head([_pronoun(translator, sentence) for sentence in choose_on])
    others = [_pronoun(translator, sentence) for sentence in count_on]
    right = share_resolved(others, head.layer, head.head)
    maps, seen = [], []
    for sentence in shown:
        words, weights = encoder_attention(translator, sentence.text)
        it = words.index(PRONOUN)
        maps.append(
            AttentionMap(
                weights[head.layer],
                words,
                words,
                sentence.text.partition(" because ")[2] or sentence.text,
                head=head.head,
                focus=it,
            )
        )
        row = weights[head.layer, head.head, it]
        pairs = [(noun, row[words.index(noun)]) for noun in (sentence.antecedent, sentence.rival)]
        seen.append(", ".join(f"{noun} {weight:.2f}" for noun, weight in pairs))
    n_layers, n_heads = weights.shape[:2]
    which = f"encoder layer {head.layer + 1} of {n_layers}, head {head.head + 1} of {n_heads}"
    title = f'What does "{PRONOUN}" look at? ({which})'
    legend = draw_attention(maps, path, title=title)
    return [
        f'what "{PRONOUN}" looks at in {which}, of all heads the one that tells best',
        *(f"{each.title.rstrip('.')}: {weights}" for each, weights in zip(maps, seen, strict=True)),
        f"it looks more at the right noun than at the other in {right:.0%} of {len(others)} "
        "sentences that the model was never trained on",
        *legend,
    ]


def draw_translation(
    translator: "Translator", texts: Sequence[str], path: Path, *, layer: int = -1
) -> list[str]:
    """Draw which source words the decoder looks at while it writes each piece of a translation.

    Returns the lines that explain the picture: the numbers of pieces that no font can draw.
    """
    maps = []
    for text in texts:
        found = translator.attention(text)
        words = words_of(found.source_tokens)
        # Row i is the step that was fed piece i and wrote the next one.
        written = words_of([*found.target_tokens[1:], found.source_tokens[-1]])
        weights = merge_pieces(found.cross[layer], written.groups, words.groups)
        maps.append(AttentionMap(weights, written.labels, words.labels, text))
    title = "Which words does the translation look at? (last decoder layer, mean of the heads)"
    return draw_attention(maps, path, title=title)


def _pronoun(translator: "Translator", sentence: PronounSentence) -> PronounAttention:
    words, weights = encoder_attention(translator, sentence.text)
    return PronounAttention(
        weights,
        pronoun=words.index(PRONOUN),
        antecedent=words.index(sentence.antecedent),
        rival=words.index(sentence.rival),
    )
