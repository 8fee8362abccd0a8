"""What *it* stands for can be read off the Chinese, and off nothing else."""

import pytest

from headway.demo import EXAMPLES, generate
from headway.demo.sentences import Coreference, coreference


def test_the_noun_that_the_chinese_names_is_the_antecedent() -> None:
    learning, tired, wide = EXAMPLES
    assert coreference(*learning) is None
    assert coreference(*tired) == Coreference("animal", rival="street", named_at=14)
    assert coreference(*wide) == Coreference("street", rival="animal", named_at=14)
    assert tired[1][14:].startswith("动物")
    assert wide[1][14:].startswith("马路")


def test_a_translation_that_names_neither_resolves_nothing() -> None:
    english = "The dog didn't eat the cake because it was too sweet."
    assert coreference(english, "那只狗没有吃那个蛋糕，因为它太甜了。") is None
    assert coreference(english, "那只狗没有吃那个蛋糕，因为那只猫太甜了。") is None
    assert coreference(english, "") is None


@pytest.mark.parametrize("seed", [1, 2])
def test_each_noun_is_the_antecedent_about_half_of_the_time(seed: int) -> None:
    pairs = [pair for pair in generate(4000, seed) if " because it " in pair[0]]
    competing = [(pair, each) for pair in pairs if (each := coreference(*pair))]
    subject = sum(english.split()[1] == each.antecedent for (english, _), each in competing)
    assert len(competing) > 400
    assert 0.4 < subject / len(competing) < 0.6
