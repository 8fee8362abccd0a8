"""A shift is found where it is, and nowhere else."""

import numpy as np
import pytest

from headway.metrics.diagnosis import find_shift, overlaps, words

WORDS = np.array([f"w{i}" for i in range(300)])


def text(n=120, seed=1):
    """References of rare and common words, and an output that gets half of the words right."""
    random = np.random.default_rng(seed)
    references, outputs = [], []
    for _ in range(n):
        line = WORDS[(300 * random.random(random.integers(6, 15)) ** 3).astype(int)]
        wrong = random.random(len(line)) < 0.5
        references.append(" ".join(line))
        outputs.append(" ".join(np.where(wrong, random.choice(WORDS, len(line)), line)))
    return outputs, references


@pytest.mark.parametrize("seed", range(5))
def test_straight_text_has_no_shift(seed):
    assert find_shift(*text(seed=seed)) is None


@pytest.mark.parametrize("seed", range(5))
def test_unrelated_text_has_no_shift_either(seed):
    assert find_shift(text(seed=seed)[0], text(seed=seed + 1)[1]) is None


def test_overlap_is_dices_coefficient_of_weighted_words():
    straight, down = overlaps(["a b", "a c", ""], ["A, c!", "a d", "e"], [0, 1])
    # Six lines: a is in four of them, c in two, b and d in one.
    a, c, b = np.log(6 / 4), np.log(6 / 2), np.log(6 / 1)
    of_ac, of_ab = 2 * a / (2 * a + b + c), 2 * a / (2 * a + 2 * b)
    np.testing.assert_allclose(straight, [of_ac, of_ac, 0.0])
    np.testing.assert_allclose(down, [of_ab, 0.0, 0.0])


@pytest.mark.parametrize("seed", range(5))
def test_a_missing_line_shifts_all_below_up(seed):
    outputs, references = text(seed=seed)
    del outputs[40]
    shift = find_shift([*outputs, ""], references)
    assert shift is not None
    assert shift.lines == 1
    assert abs(shift.first - 40) <= 2
    assert shift.last >= 115
    assert shift.shifted > 0.3 > shift.straight


def test_a_line_too_many_shifts_down_until_one_is_missing():
    outputs, references = text()
    outputs[20:20] = ["so", "it is"]
    del outputs[80:82]
    shift = find_shift(outputs, references)
    assert shift is not None
    assert shift.lines == -2
    assert abs(shift.first - 22) <= 2
    assert abs(shift.last - 79) <= 2


def test_chinese_is_compared_by_character():
    assert words("我爱Python 3，你呢？") == ["我", "爱", "python", "3", "你", "呢"]
    random = np.random.default_rng(1)
    characters = np.array([chr(0x4E00 + i) for i in range(400)])
    references = ["".join(random.choice(characters, 9)) + "。" for _ in range(60)]
    outputs = [line[:5] + line[7:] for line in references]
    assert find_shift(outputs, references) is None
    shift = find_shift(["", *outputs[:-1]], references)
    assert shift is not None
    assert shift.lines == -1


def test_blank_and_few_lines_are_no_shift():
    assert find_shift([""] * 50, [""] * 50) is None
    assert find_shift(["", "a b c", "d e f"], ["a b c", "d e f", "g h i"]) is None
