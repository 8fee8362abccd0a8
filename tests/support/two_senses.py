"""Sentences in which apples, banks and plants have two senses each, told by the words around them.

Those to be learned from and those to be asked about are made by different templates: what stands
around a word is known, how it is put together is not.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

AROUND = {
    ("apples", 0): ("ate peeled washed cut", "raw ripe whole sweet"),
    ("apples", 1): ("sued owned praised hired", "cheaply legally rarely twice"),
    ("banks", 0): ("reached climbed drew saw", "wet muddy green barefoot"),
    ("banks", 1): ("robbed phoned trusted left", "armed rich broke monthly"),
    ("plants", 0): ("watered smelled grew pruned", "daily outdoors indoors dry"),
    ("plants", 1): ("opened built shut managed", "abroad quickly safely nearby"),
}
"""What may stand before each word in each sense, and what behind it."""
WHO = "she he they we mary tom".split()
LEARNED = (
    "{who} {before} {word} {behind}",
    "{who} and {who} {before} {word} {behind}",
    "yesterday {who} {before} it",
    "i think it is {behind} again",
)
ASKED = (
    "yesterday {who} {before} {word} {behind}",
    "i think {who} and {who} {before} {word} {behind}",
    "{who} {before} {word} {behind} again",
)


class LabelledUse(NamedTuple):
    """A sentence, and the sense that its word has in it."""

    sentence: str
    word: str
    sense: int


def drawn(n: int, templates: Sequence[str], seed: int) -> list[LabelledUse]:
    """So many sentences; some templates of `LEARNED` have none of the words."""
    rng, found = random.Random(seed), []
    for _ in range(n):
        (word, sense), (before, behind) = rng.choice([*AROUND.items()])
        parts = {
            "who": rng.choice(WHO), "word": word, "before": rng.choice(before.split()),
            "behind": rng.choice(behind.split()),
        }  # fmt: skip
        found.append(LabelledUse(rng.choice(templates).format(**parts), word, sense))
    return found
