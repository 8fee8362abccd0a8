"""A text of four topics, whose words stand together and never with those of another."""

import random
from pathlib import Path

TOPICS = {
    "fruit": "apple pear plum cherry grape peach fig quince".split(),
    "sea": "ship sail harbour wave anchor sailor tide island".split(),
    "music": "violin flute drum chord tune opera choir piano".split(),
    "city": "street tower bridge market tram square school church".split(),
}
SHARED = "the of and a".split()
"""In every topic."""


def lines(n: int, seed: int = 1) -> list[str]:
    """Sentences of one topic each, the topics interleaved."""
    drawn, names = random.Random(seed), [*TOPICS]
    found = []
    for number in range(n):
        words = [*drawn.choices(TOPICS[names[number % 4]], k=7), *drawn.choices(SHARED, k=3)]
        drawn.shuffle(words)
        found.append(" ".join(words))
    return found


def write_topics(path: Path, n: int = 1_500) -> Path:
    """The same as a file."""
    path.write_text("".join(f"{line}\n" for line in lines(n)), encoding="utf-8")
    return path


def topic_of(word: str) -> str:
    """Which one a word is of; empty for those of all."""
    return next((topic for topic, words in TOPICS.items() if word in words), "")
