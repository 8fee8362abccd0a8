import pytest

from headway.errors import DataError
from headway.text.vocabulary import (
    BYTE_CHARACTERS,
    SPECIAL_PIECES,
    SpecialIds,
    readable,
    spell,
)


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


def test_pieces_that_are_not_spelled_in_bytes_are_shown_as_they_are() -> None:
    assert readable("▁我 b") == "▁我 b"


def test_markers_trained_here_are_ids_0_to_3() -> None:
    vocabulary = {piece: i for i, piece in enumerate(SPECIAL_PIECES)}
    assert SpecialIds.of(vocabulary, "it") == SpecialIds(padding=0, unknown=1, begin=2, end=3)


def test_a_loaded_vocabulary_keeps_its_own_marker_ids() -> None:
    vocabulary = {"a": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 7, "[PAD]": 9}
    assert SpecialIds.of(vocabulary, "it") == SpecialIds(padding=9, unknown=7, begin=1, end=2)


def test_a_vocabulary_without_a_begin_marker_starts_a_decoder_with_padding() -> None:
    marian = SpecialIds.of({"</s>": 0, "<unk>": 1, "a": 2, "<pad>": 3}, "vocab.json")
    assert marian == SpecialIds(padding=3, unknown=1, begin=None, end=0)
    assert marian.decoder_begin == 3
    assert marian.around([2]) == [2, 0]
    assert set(marian.unwritten) == {1, 3}


def test_markers_stand_around_a_text_and_only_the_end_is_ever_written() -> None:
    special = SpecialIds(padding=9, unknown=7, begin=1, end=2)
    assert special.decoder_begin == 1
    assert special.around([5, 6]) == [1, 5, 6, 2]
    assert set(special.unwritten) == {9, 7, 1}
    same = SpecialIds(padding=0, unknown=1, begin=2, end=2)
    assert set(same.unwritten) == {0, 1}


def test_a_missing_marker_is_named() -> None:
    with pytest.raises(DataError, match=r"piece for end, called </s> or \[SEP\].*v\.txt has none"):
        SpecialIds.of({"<pad>": 0, "<unk>": 1, "<s>": 2}, "v.txt")
