"""What no translation is: words again and again, or the text turned round. Other hypotheses of the
model are looked at then; where all are so, a few words stay as they are."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway.localization.checks.output_checks import repeated, words_of
from headway.translation.detailed import Translation

if TYPE_CHECKING:
    from headway.translator import Translator

FEW_WORDS = 4
"""A text of no more is not repeated at all."""
LEFT_WORDS = 2
"""One of no more is left as it is where the model only repeats itself."""
REPEATED = 4
"""Words in a longer text that only repeat others, beyond those of its source."""
BEAM = 8
_MUCH_LONGER = 16
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_SHORT = 40
_IN_WORD = re.compile(r"([^\W\d_]{2,8}?)\1{2,}")
_AGAIN = re.compile(r"(\S.{0,15}?)\1{3,}", re.DOTALL)


def is_odd(source: str, target: str) -> bool:
    """Whether this is no translation but a loop, or the source turned round."""
    words, text = words_of(target), source.strip()
    if len(set(words)) < len(words):
        ours = words_of(source)
        n, what = repeated(words)
        usual = 3 if len(what) == 1 else 1 if len(ours) <= 1 else 2  # 妈妈 is one word
        if n - repeated(ours)[0] >= (usual if len(ours) <= FEW_WORDS else REPEATED):
            return True
    if len(text) <= _SHORT and _IN_WORD.search(target) and not _IN_WORD.search(source):
        return True
    if len(target) > 2 * len(source) + _MUCH_LONGER and _AGAIN.search(target):
        return True
    return len(text) > 3 and target.strip() == text[::-1] != text


def is_doubtful(source: str, target: str) -> bool:
    """Whether other hypotheses are to be looked at: it `is_odd`, or several words came out as they
    went in, which may be right."""
    return is_odd(source, target) or (
        source.strip() == target.strip() and len(_LETTERS.findall(source)) > 2
    )


def otherwise(
    translator: "Translator", text: str, first: Translation, how: Mapping[str, Any]
) -> Translation | None:
    """The first other hypothesis that is no loop; None where all are.

    `how` is what `translate_fully` was given for the first one.
    """
    wider = {**how, "method": "beam", "beam": BEAM, "n_best": BEAM}
    ways = (wider, {**how, "method": "greedy", "n_best": 1})
    for way in ways:
        [found] = translator.translate_fully([text], **way)
        for one in found.n_best:
            if one.target.strip() and not is_doubtful(text, one.target):
                n_best = max(1, len(first.n_best))
                others = [other for other in found.n_best if other is not one]
                return found._replace(n_best=[one, *others][:n_best])
    return None
