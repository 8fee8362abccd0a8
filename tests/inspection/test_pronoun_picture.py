"""The row that is framed is the step that names *it*, and the words are the right ones."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from headway.inspection.pronoun_picture import (
    Look,
    PronounSentence,
    clearest_head,
    draw_pronouns,
    look_of_encoder,
    look_of_naming,
    on_nouns,
)

TIRED = PronounSentence(
    "The dog ate it because it was old", "那只狗吃了，因为那只狗老", "dog", "it", named_at=10
)
SOURCE = ["The", "▁d", "og", "▁ate", "▁it", "▁because", "▁it", "▁was", "▁old", "</s>"]
TARGET = ["<s>", "那只", "狗", "吃了", "，", "因为那", "只", "狗", "老"]


class LookingAtTheDog:
    """Every head of two layers looks evenly, but for one, which looks at the dog to name it."""

    def attention(self, text: str, target: str | None = None) -> SimpleNamespace:
        assert (text, target) == TIRED[:2]
        n_source, n_target = len(SOURCE), len(TARGET)
        cross = np.full((2, 3, n_target, n_source), 1 / n_source)
        step = TARGET.index("只")  # fed the measure word, this step writes the noun
        cross[1, 2, step] = np.eye(n_source)[1:3].mean(axis=0)
        encoder = np.full((2, 3, n_source, n_source), 1 / n_source)
        return SimpleNamespace(
            source_tokens=SOURCE, target_tokens=TARGET, encoder=encoder, cross=cross
        )


def test_the_framed_row_is_the_step_that_writes_the_noun_again() -> None:
    look = look_of_naming(LookingAtTheDog().attention(*TIRED[:2]), TIRED)  # type: ignore[arg-type]
    assert look.rows == ["那只", "狗", "吃了", "，", "因为那", "只", "狗", "老", "</s>"]
    assert look.focus == 6
    assert look.words[:3] == ["The", "dog", "ate"]
    np.testing.assert_allclose(look.weights[1, 2, look.focus, look.words.index("dog")], 1.0)


def test_in_the_encoder_the_framed_row_is_the_pronoun() -> None:
    look = look_of_encoder(LookingAtTheDog().attention(*TIRED[:2]), TIRED)  # type: ignore[arg-type]
    assert look.rows == look.words
    assert look.rows[look.focus] == "it"
    assert look.weights.shape == (2, 3, 9, 9)


def test_the_head_that_looks_at_the_antecedent_is_drawn_and_reported(tmp_path: Path) -> None:
    found = draw_pronouns(
        LookingAtTheDog(),  # type: ignore[arg-type]
        [TIRED],
        tmp_path / "picture.png",
        view=look_of_naming,
        title="What the decoder looks at",
        choose_on=[TIRED],
        count_on=[TIRED, TIRED],
    )
    assert (found.head.layer, found.head.head) == (1, 2)
    assert (found.n_layers, found.n_heads) == (2, 3)
    assert found.weights == [(1.0, 0.0)]
    assert found.right == 1.0
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def looking(layers_heads: dict[tuple[int, int], list[float]], antecedent: int) -> Look:
    """2 layers, 2 heads, 3 words; the last word is the pronoun, 0 and 1 are the nouns."""
    weights = np.full((2, 2, 3, 3), 1 / 3)
    for (layer, head), row in layers_heads.items():
        weights[layer, head, 2] = row
    return Look(weights, [], [], 2, antecedent, 1 - antecedent)


def test_the_clearest_head_follows_the_antecedent_not_the_subject() -> None:
    always_first, follows = (0, 1), (1, 0)
    sentences = [
        looking({always_first: [0.9, 0.0, 0.1], follows: [0.6, 0.2, 0.2]}, antecedent=0),
        looking({always_first: [0.9, 0.0, 0.1], follows: [0.3, 0.5, 0.2]}, antecedent=1),
    ]
    head = clearest_head(sentences)
    assert (head.layer, head.head) == (1, 0)
    np.testing.assert_allclose(head.margin, ((0.6 - 0.2) + (0.5 - 0.3)) / 2)
    assert on_nouns(sentences, head) == [(0.6, 0.2), (0.5, 0.3)]
