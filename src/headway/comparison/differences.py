"""Which words of several texts are not in all of them, in the same order."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import combinations

from headway.text.scripts import UNSPACED_SCRIPTS

_ALONE = "\u2e80-\u312f\u3190-\u33ff\uf900-\ufaff\uff00-\uffef" + "".join(UNSPACED_SCRIPTS.values())
"""Of scripts without spaces, and full-width: each character is a word."""
WORD = re.compile(rf"[{_ALONE}]|[^\W{_ALONE}]+|[^\w\s]")

Span = tuple[int, int]


def differing(texts: Sequence[str]) -> list[list[Span]]:
    """Of each text, where words begin and end that do not match one in every other text.

    Two texts are matched by their longest common blocks (`difflib`); signs are words.
    """
    words = [[found.span() for found in WORD.finditer(text)] for text in texts]
    written = [
        [text[begin:end] for begin, end in spans] for text, spans in zip(texts, words, strict=True)
    ]
    n_matched = [[0] * len(spans) for spans in words]
    for one, other in combinations(range(len(texts)), 2):
        matcher = SequenceMatcher(None, written[one], written[other], autojunk=False)
        for first, second, length in matcher.get_matching_blocks():
            for i in range(length):
                n_matched[one][first + i] += 1
                n_matched[other][second + i] += 1
    return [
        [span for span, n in zip(spans, matched, strict=True) if n < len(texts) - 1]
        for spans, matched in zip(words, n_matched, strict=True)
    ]
