"""References and systems that get most of their words right."""

import numpy as np

WORDS = np.array(["a", "man", "is", "walking", "with", "his", "big", "dog", "the", "street", "."])


def corpus(n=150, seed=1):
    """References, a system that gets most words right, and one that gets fewer."""
    random = np.random.default_rng(seed)

    def spoil(words, share):
        wrong = random.random(len(words)) < share
        return " ".join(np.where(wrong, random.choice(WORDS, len(words)), words))

    references = [random.choice(WORDS, random.integers(3, 25)) for _ in range(n)]
    better = [spoil(words, 0.2) for words in references]
    worse = [spoil(words, 0.3) for words in references]
    return [" ".join(words) for words in references], better, worse
