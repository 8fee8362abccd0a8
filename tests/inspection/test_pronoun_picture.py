"""The row that is framed is the step that names *it*, and the words are the right ones."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from headway.inspection.pronoun_picture import (
    PronounSentence,
    draw_pronouns,
    encoding,
    writing,
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
    look = writing(LookingAtTheDog(), TIRED)  # type: ignore[arg-type]
    assert look.rows == ["那只", "狗", "吃了", "，", "因为那", "只", "狗", "老", "</s>"]
    assert look.focus == 6
    assert look.words[:3] == ["The", "dog", "ate"]
    np.testing.assert_allclose(look.weights[1, 2, look.focus, look.words.index("dog")], 1.0)


def test_in_the_encoder_the_framed_row_is_the_pronoun() -> None:
    look = encoding(LookingAtTheDog(), TIRED)  # type: ignore[arg-type]
    assert look.rows == look.words
    assert look.rows[look.focus] == "it"
    assert look.weights.shape == (2, 3, 9, 9)


def test_the_head_that_looks_at_the_antecedent_is_drawn_and_reported(tmp_path: Path) -> None:
    found = draw_pronouns(
        LookingAtTheDog(),  # type: ignore[arg-type]
        [TIRED],
        tmp_path / "picture.png",
        view=writing,
        title="What the decoder looks at",
        choose_on=[TIRED],
        count_on=[TIRED, TIRED],
    )
    assert (found.head.layer, found.head.head) == (1, 2)
    assert (found.n_layers, found.n_heads) == (2, 3)
    assert found.weights == [(1.0, 0.0)]
    assert found.right == 1.0
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
