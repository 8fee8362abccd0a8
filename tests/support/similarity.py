"""How alike two texts are by the definition in docs/terms-and-memory.md: an oracle."""

from rapidfuzz.distance import Levenshtein

from headway.localization.memory.words import AnalyzedText, light, percent


def similarity(one: AnalyzedText, other: AnalyzedText) -> int:
    """Percent that two texts have in common; 100 only for the same text."""
    if one.text == other.text:
        return 100
    n_words = max(len(one.words), len(other.words))
    n_edits = Levenshtein.distance(one.words, other.words)
    return percent(n_words, n_edits, len(light(one, other)))
