"""How strong signs are in good texts of several sentences, where training held single ones.

A sum of lengths strays otherwise than each of them, and what is rare in one sentence is less so in
five: such texts are measured by their like.
"""

import random
import re
from collections.abc import Sequence
from functools import reduce

from headway.languages.sentences import space_between
from headway.localization.checks.calibration import SignBaseline
from headway.localization.checks.output_checks import OF_TEXTS, n_sentences, signs_of_texts
from headway.localization.checks.training_stats import TrainingStats
from headway.localization.placeholders.own_codes import OwnPattern

TEXTS = 2_000
MOST_SENTENCES = 5
_LEAST_SINGLE = 500
_ENDED = re.compile(r"[.?!。？！]\Z")

Pairs = Sequence[tuple[str, str]]


def joined_norms(
    pairs: Pairs, held: TrainingStats, own: Sequence[OwnPattern]
) -> dict[str, SignBaseline]:
    """Of each sign of texts; none where too few pairs are a single sentence on both sides."""
    single = [pair for pair in pairs if all(_ENDED.search(text) for text in pair)]
    single = [pair for pair in single if n_sentences(pair[0]) == n_sentences(pair[1]) == 1]
    if len(single) < _LEAST_SINGLE:
        return {}
    draw = random.Random(1)
    units = [draw.sample(single, draw.randint(2, MOST_SENTENCES)) for _ in range(TEXTS)]
    sides = [zip(*unit, strict=True) for unit in units]
    found = [
        signs_of_texts(together(read), together(written), held, own) for read, written in sides
    ]
    return {
        name: SignBaseline.of([signs[name].strength if name in signs else 0.0 for signs in found])
        for name in OF_TEXTS
    }


def together(texts: Sequence[str]) -> str:
    """Sentences as their language writes them, one behind the other."""
    return reduce(lambda text, one: text + space_between(" ", text, one) + one, texts)
