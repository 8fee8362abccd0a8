import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core import fair_sample, subword_training
from headway.core.subword_training import (
    BYTE_CHARACTERS,
    fitted_vocabulary_size,
    readable,
    sample,
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


@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 3))
def test_a_sample_is_as_large_as_it_may_be_and_repeats_nothing(
    n_lines: int, n_sample: int, seed: int
) -> None:
    lines = [str(i) for i in range(n_lines)]
    said: list[str] = []
    chosen = sample(lines, n_sample, seed, said.append)
    assert len(chosen) == min(n_lines, n_sample)
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) <= set(lines)
    assert bool(said) == (n_lines > n_sample)
    assert chosen == sample(lines, n_sample, seed, said.append)


@pytest.mark.parametrize("unspaced_budget", [1_000, 11])
def test_every_line_is_equally_likely_to_be_sampled(
    unspaced_budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_sample, "UNSPACED_BUDGET", unspaced_budget)
    lines = ["我爱" + chr(0x4E00 + i) for i in range(24)]  # of 3 characters, so 11 are 3 lines
    n_sampled, n_seeds = (8 if unspaced_budget > 72 else 3), 3_000
    counts = Counter(
        line
        for seed in range(n_seeds)
        for line in subword_training.sample(lines, 8, seed, lambda _message: None)
    )
    odds = n_sampled / len(lines)
    assert counts.total() == n_seeds * n_sampled
    deviation = (n_seeds * odds * (1 - odds)) ** 0.5
    assert all(abs(counts[line] - n_seeds * odds) < 5 * deviation for line in lines)


def test_sampling_is_said_with_its_numbers() -> None:
    said: list[str] = []
    Subwords.train(["a b"] * 7, vocabulary_size=300, sample_lines=3, seed=5, say=said.append)
    assert said == ["the sub-words are learned from 3 of 7 lines, drawn at random with seed 5"]


@pytest.mark.parametrize("character", ["我", "ก", "x"])
def test_unspaced_text_is_thinned_so_that_memory_is_bounded(character: str) -> None:
    said: list[str] = []
    lines = [character * 1_000] * 5_000
    chosen = sample(lines, 1_000_000, 1, said.append)
    assert 500_000 < sum(map(len, chosen)) <= 1_000_000
    assert len(said) == 1


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
