import random

from doctoring import everyday, found_by, lines_of

from headway.doctor.sides import Sides

VOWELS, OTHERS = "aei", "ouy"


def invented(n_pairs: int) -> list[tuple[str, str]]:
    """Two languages in the same letters but for their vowels; 30 to 60 letters a text."""
    draw = random.Random(1)

    def text(vowels: str) -> str:
        n_words = draw.randint(6, 12)
        return " ".join(
            "".join(draw.choice("bdgklmnst") + draw.choice(vowels) for _ in range(3))
            for _ in range(n_words)
        )

    return [(text(VOWELS), text(OTHERS)) for _ in range(n_pairs)]


def test_clean_text_is_on_its_side() -> None:
    assert found_by(Sides, invented(1_000)) == {}
    assert found_by(Sides, everyday(1_000)) == {}


def test_exchanged_sides_are_named() -> None:
    texts = invented(1_000)
    for row in (100, 500):
        texts[row] = texts[row][::-1]
    found = found_by(Sides, texts)
    assert set(found) == {"exchanged"}
    assert lines_of(found["exchanged"]) == [101, 501]


def test_text_that_was_not_translated_is_named() -> None:
    texts = invented(1_000)
    texts[100] = (texts[100][0], texts[200][0])
    texts[300] = (texts[400][1], texts[300][1])
    found = found_by(Sides, texts)
    assert set(found) == {"same_side"}
    assert lines_of(found["same_side"]) == [101, 301]
    assert "target looks like a source" in found["same_side"].examples[0].detail


def test_few_pairs_and_short_texts_say_nothing() -> None:
    assert found_by(Sides, [pair[::-1] for pair in invented(20)] + invented(400)) == {}
    assert found_by(Sides, [*invented(600), ("tuto", "tati")]) == {}
