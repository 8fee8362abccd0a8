"""Which of the languages that a service has a text is in, and how sure that is."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from headway.languages.detection import alike, known_languages, probabilities, two_letters
from headway.languages.scripts import LAST, scripts, scripts_of_language
from headway.serving.requests import Detection

OTHERS_WEIGHT = 0.1
"""Of a language that is not served, beside one that is: it is sent here so much more rarely."""
SURE = 0.5
"""From here on a text is taken to be in the target language already."""
SURE_ENOUGH, TIMES_AS_SURE = 0.2, 5.0
"""So is one that is less sure, if it is so many times as likely as in any source language."""
READ = 2_000
"""Characters of a text that are looked at."""


def ranked(text: str, served: Sequence[str]) -> list[Detection]:
    """The `served` languages by how likely a text is in each, the likeliest first.

    A language that is not written in the letters of the text has a sureness of 0. Among equals the
    order is that of `served`: of a text that says nothing (`ok`, `123`) the first comes first, with
    little sureness.
    """
    text = text[:READ]
    if not served:
        return []
    if not any(map(str.isalpha, text)):
        return [Detection(code, 0.0) for code in served]
    written = _scripts(text)
    heard = _by_served(text, served)
    weights = {
        code: heard.get(code, 0.0)
        if written.intersection(known := scripts_of_language(code)) or not (known and written)
        else 0.0
        for code in served
    }
    others = OTHERS_WEIGHT * max(0.0, 1.0 - sum(heard.values()))
    total = sum(weights.values()) + others
    found = [Detection(code, round(weights[code] / total, 4) if total else 0.0) for code in served]
    return sorted(found, key=lambda one: -one.sureness)


def source_of(text: str, sources: Sequence[str], target: str) -> Detection:
    """In which of some languages a text is that is to be translated into `target`.

    That is `target` itself, whose texts stay as they are, for a text that surely is in it already,
    and, with a sureness of 0, for one that is in the letters of none of them.
    """
    found = ranked(text, [*dict.fromkeys([*sources, target])])
    if not found[0].sureness and any(map(str.isalpha, text)) and target not in sources:
        return Detection(target, 0.0)
    likely = next(one for one in found if one.language in sources)
    if found[0].language == target and target not in sources:
        sureness = found[0].sureness
        least = max(SURE_ENOUGH, TIMES_AS_SURE * likely.sureness)
        if sureness >= min(SURE, least):
            return found[0]
    return likely


def _by_served(text: str, served: Sequence[str]) -> Mapping[str, float]:
    """The probability of each served language, with that of those that nobody tells from it."""
    heard: dict[str, float] = {}
    code_of = _codes_of_labels(tuple(served))
    for label, probability in probabilities(text):
        if (code := code_of.get(label)) is not None:
            heard[code] = heard.get(code, 0.0) + probability
    return heard


@lru_cache(maxsize=256)
def _codes_of_labels(served: tuple[str, ...]) -> Mapping[str, str]:
    """Which served language each of the detector's counts for."""
    same = {two_letters(code): code for code in reversed(served)}
    found: dict[str, str] = {}
    for label in known_languages():
        code = same.get(two_letters(label))
        if code is None:
            code = next((one for one in served if alike(one, label)), None)
        if code is not None:
            found[label] = code
    return found


def _scripts(text: str) -> set[str]:
    """The names of the scripts of its letters."""
    known = scripts()
    points = np.fromiter(map(ord, text), np.int64, len(text))
    return {known.names[n] for n in np.unique(known.of[points[points < LAST]])} - {""}
