import re

from hypothesis import given
from hypothesis import strategies as st

from headway.core.subword_training import (
    BYTE_CHARACTERS,
    fitted_vocabulary_size,
    readable,
    spell,
)
from headway.core.subwords import Subwords


def test_the_fitted_size_follows_its_rule() -> None:
    assert fitted_vocabulary_size(29_000, 3_900_000) == 10_000
    assert fitted_vocabulary_size(5_000_000, 500_000_000) == 32_000
    assert fitted_vocabulary_size(50, 2_000) == 1_000
    assert fitted_vocabulary_size(3_000, 10_000_000) == 3_000


@given(st.integers(0, 10**7), st.integers(0, 10**10), st.integers(0, 10**10))
def test_more_text_never_gets_a_smaller_vocabulary(pairs: int, some: int, more: int) -> None:
    assert fitted_vocabulary_size(pairs, min(some, more)) <= fitted_vocabulary_size(
        pairs, max(some, more)
    )


def test_no_piece_joins_a_part_of_a_character_to_another_character() -> None:
    subwords = Subwords.train(["我爱学习 äöü éà", "我爱你 äö"] * 4, vocabulary_size=400)
    for piece in subwords.pieces(range(4, len(subwords))):
        assert "<0x" not in piece or re.fullmatch("(<0x..>)+", piece)


def test_every_byte_has_a_printable_character_of_its_own() -> None:
    assert len(set(BYTE_CHARACTERS)) == 256
    assert all(character.isprintable() and not character.isspace() for character in BYTE_CHARACTERS)


def test_the_byte_alphabet_is_the_one_that_other_toolkits_use() -> None:
    from tokenizers.pre_tokenizers import ByteLevel

    assert set(BYTE_CHARACTERS) == set(ByteLevel.alphabet())
    assert (
        spell("é b")
        == ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str("é b")[0][0]
    )


def test_readable_undoes_spell_and_shows_lone_bytes() -> None:
    assert readable(spell("a 我ß")) == "a 我ß"
    assert readable(spell("我")[:2] + "a" + spell("我")[1:]) == "<0xE6><0x88>a<0x88><0x91>"


def test_no_control_character_is_shown_and_each_byte_has_a_look_of_its_own() -> None:
    assert readable(spell("a\t\x00\x7f")) == "a<0x09><0x00><0x7F>"
    looks = [readable(character) for character in BYTE_CHARACTERS]
    assert len(set(looks)) == 256
    assert all(look.isprintable() for look in looks)


def test_pieces_that_are_not_spelled_in_bytes_are_shown_as_they_are() -> None:
    assert readable("▁我 b") == "▁我 b"
