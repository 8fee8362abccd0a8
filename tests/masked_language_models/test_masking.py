"""Which places are hidden: 15 %, of them 80/10/10; binomial bounds of five standard errors."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headway.core.subwords import Subwords
from headway.labelling.task import Example
from headway.masked_language_models.criterion import MaskedCriterion
from headway.masked_language_models.data import Windows
from headway.masked_language_models.masking import Masking, mask_id, parts_of_words
from headway.tokenizers.words import Words

WORDS = Words([f"w{i}" for i in range(96)])
ROWS = np.random.default_rng(4).integers(4, 100, (2_000, 40))


def within(n, of, share):
    return abs(n - of * share) < 5 * math.sqrt(of * share * (1 - share))


def test_fifteen_percent_are_hidden_and_most_of_them_masked():
    fed, hidden = Masking(WORDS, whole_words=False)(ROWS, np.random.default_rng(1))
    n, mask = hidden.sum(), WORDS.special.unknown
    assert within(n, ROWS.size, 0.15)
    assert (fed[~hidden] == ROWS[~hidden]).all()
    masked, kept = (fed[hidden] == mask).sum(), (fed[hidden] == ROWS[hidden]).sum()
    assert within(masked, n, 0.8)
    assert within(kept, n, 0.1 + 0.1 / 96)  # a piece drawn at random is the same one now and then
    swapped = fed[hidden & (fed != mask) & (fed != ROWS)]
    assert within(len(swapped), n, 0.1 * 95 / 96)
    drawn = np.bincount(swapped, minlength=100)
    assert not drawn[:4].any()
    assert all(within(one, len(swapped), 1 / 96) for one in drawn[4:])


@given(st.lists(st.lists(st.integers(0, 9), min_size=6, max_size=6), min_size=1), st.integers(0))
def test_markers_and_unknown_places_are_never_hidden_and_of_others_at_least_one(rows, seed):
    ids = np.array(rows)
    fed, hidden = Masking(WORDS, whole_words=False)(ids, np.random.default_rng(seed))
    assert not hidden[ids < 4].any()
    assert (hidden.any(1) == (ids >= 4).any(1)).all()
    assert (fed[ids < 4] == ids[ids < 4]).all()


def subwords() -> Subwords:
    """Too few pieces for most words."""
    lines = ["unreadable, (remarkable) 读书 red; able reads"] * 20
    return Subwords.train(lines, vocabulary_size=280)


def test_a_word_is_hidden_whole_or_not_at_all():
    tokens, text = subwords(), "unreadable, (remarkable) 读书 red;"
    ids = np.array([[2, *tokens.encode(text), 3]])
    masking = Masking(tokens, whole_words=True)
    parts = masking.words(ids)[0]
    texts = [tokens.decode(ids[0, parts == word]).strip() for word in np.unique(parts)]
    assert texts == ["", "unreadable", ",", "(", "remarkable", ")", "读", "书", "red", ";", ""]
    assert np.bincount(parts).max() > 1, "a word of several pieces"
    random, long = np.random.default_rng(3), np.tile(ids, 20)
    parts, counts = masking.words(long)[0], 0
    for _ in range(500):
        [hidden] = masking.hidden(long, random)
        shares = np.bincount(parts, weights=hidden) / np.bincount(parts)
        assert {*shares} <= {0.0, 1.0}
        counts += shares.sum()
    assert within(counts, 500 * 20 * 9, 0.15)
    pieces = Masking(tokens, whole_words=False)
    assert pieces.words(ids)[0].tolist() == [*range(ids.size)]


def test_word_pieces_go_on_with_their_word():
    goes_on, alone = parts_of_words(["read", "##able", ",", "##读"])
    assert goes_on.tolist() == [False, True, False, True]
    assert alone.tolist() == [False, False, True, True]


class Bert:
    special = WORDS.special

    def has(self, piece):
        return piece == "[MASK]"

    def pieces(self, ids):
        return [["<pad>", "<unk>", "<s>", "</s>", "a", "[MASK]", "b"][i] for i in ids]

    def __len__(self):
        return 7


def test_the_mask_is_the_vocabularys_own_or_the_unknown_piece():
    assert mask_id(WORDS) == mask_id(subwords()) == 1
    assert mask_id(Words(["[MASK]"])) == 1, "a word that somebody wrote"
    assert mask_id(Bert()) == 5
    assert not Masking(Bert(), whole_words=False).may_hide[5]


def test_what_is_validated_on_is_hidden_alike_whatever_stands_beside_it():
    criterion = MaskedCriterion(Masking(WORDS, whole_words=False), 0, smoothing=0.0, seed=3)
    rows = [Example(row[: 30 - i], None) for i, row in enumerate(ROWS[:5])]
    together = criterion.tensors(rows)
    for n, row in enumerate(rows):
        for whole, one in zip(together, criterion.tensors([row]), strict=True):
            assert whole[n, : len(row.input)].tolist() == one[0].tolist()
            assert not whole[n, len(row.input) :].any()
    other = MaskedCriterion(criterion.masking, 0, smoothing=0.0, seed=4).tensors(rows)
    assert (other[1] != together[1]).any()


def test_training_draws_places_anew_from_the_generator_alone():
    criterion = MaskedCriterion(Masking(WORDS, whole_words=False), 0, smoothing=0.0, seed=3)
    rows = [Example(row, None) for row in ROWS[:5]]
    first, again, later = (
        criterion.tensors(rows, np.random.default_rng([1, 0, place]))[1] for place in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != later).any()


@given(st.integers(1, 200), st.integers(4, 40))
def test_windows_hold_every_token_once_between_markers(n, window):
    ids = np.arange(4, 4 + n)
    rows = [row.input.tolist() for row in Windows(ids, WORDS.special, window)]
    assert [i for row in rows for i in row[1:-1]] == ids.tolist()
    assert {(row[0], row[-1]) for row in rows} == {(2, 3)}
    assert all(len(row) == window for row in rows[:-1])
    assert len(rows[-1]) <= window


def test_validation_windows_are_from_all_over_the_text():
    windows = Windows(np.arange(4, 1_004), WORDS.special, 12)
    assert [row.input[1] for row in windows.spread(40)] == [4, 254, 504, 754]
    assert len(windows.spread(10**6)) == len(windows) == 100
