"""The words of a corpus that has so few that each is known by name."""

from collections.abc import Iterable

from headway.localization.checks.output_checks import words_of

MOST_WORDS, TEXTS_A_WORD = 2_000, 20
"""So few words, and so many texts for each of them, are known by name."""


def few_words(texts: Iterable[str], n_texts: int) -> frozenset[str]:
    """Every word of the texts, in lower case; none where they are many, or few texts have each."""
    most, found = min(MOST_WORDS, n_texts // TEXTS_A_WORD), set[str]()
    for text in texts:
        found.update(words_of(text))
        if len(found) > most:
            return frozenset()
    return frozenset(found)
