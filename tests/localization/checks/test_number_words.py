"""Small numbers as words or digits say the same on both sides."""

import pytest

from headway.localization.checks.number_words import small_numbers
from headway.localization.checks.output_checks import check_texts
from headway.localization.checks.training_stats import TrainingStats


@pytest.mark.parametrize(
    ("english", "chinese", "agree"),
    [
        ("He has 4 dogs.", "他有四只狗。", True),
        ("He has 4 dogs.", "他有一只狗。", False),
        ("He has one dog.", "他有一只狗。", True),
        ("He has a dog.", "他有一只狗。", True),
        ("He has 1 dog.", "他有一只狗。", True),
        ("He has two dogs.", "他有两只狗。", True),
        ("He has 12 dogs.", "他有十二只狗。", True),
        ("twenty-one dogs", "二十一只狗", True),
        ("100 dogs", "一百只狗", True),
        ("200 dogs", "二百只狗", True),
        ("two hundred dogs", "两百只狗", True),
        ("two hundred and five dogs", "二百零五只狗", True),
        ("120 dogs and two cats", "一百二十只狗和两只猫", True),
        ("30,000 people", "3万人", True),
        ("a thousand and one nights and 3 days", "一千零一夜和三天", True),
    ],
)
def test_english_and_chinese_numbers_are_compared(english, chinese, agree) -> None:
    assert (small_numbers(english, "en") == small_numbers(chinese, "zh")) == agree
    found = check_texts(english, chinese, TrainingStats(languages=("en", "zh")))
    assert ("number_word" in found) == (not agree)
