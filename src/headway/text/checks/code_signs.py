"""What is wrong with the codes of a translation: how many of them, and in words."""

from collections import Counter
from collections.abc import Sequence

from headway.text.code_patterns import find
from headway.text.codes import parsed_text
from headway.text.own_codes import OwnPattern
from headway.text.word_boundaries import inside_words


def odd_codes(source: str, target: str, own: Sequence[OwnPattern]) -> tuple[float, str]:
    """Codes of either side that the other lacks; `own` are patterns of more of them."""
    both = (source, target)
    ours, theirs = (Counter(text[a:b] for a, b, _ in find(text, own)) for text in both)
    odd = (ours - theirs) + (theirs - ours)
    return float(odd.total()), f"on one side only: {', '.join(list(odd)[:5])}"


def tags_in_words(source: str, target: str) -> tuple[float, str]:
    """Tags inside of words of the target, more than the source has."""
    if "<" not in target:
        return 0.0, ""
    ours, theirs = (inside_words(parsed_text(text)) for text in (source, target))
    odd = list((theirs - ours).elements())
    return float(len(odd)), f"inside of a word: {', '.join(one.text for one in odd[:5])}"
