"""What no translation is: words again and again, or the text turned round. Other hypotheses of the
model are looked at then; where all are so, a few words stay as they are."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from headway.localization.checks.output_checks import STAMMER, repeated, words_of
from headway.translation.detailed import Translation
from headway.translation.portions import combined

if TYPE_CHECKING:
    from headway.translator import Translator

Place = TypeVar("Place")

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
_AGAIN = re.compile(r"(\S.{0,15}?)\1{3,}", re.DOTALL)


def is_odd(source: str, target: str) -> bool:
    """Whether this is no translation but a loop, or the source turned round."""
    words, text = words_of(target), source.strip()
    if len(set(words)) < len(words):
        ours = words_of(source)
        n, what = repeated(words)
        one_word = all(len(word) == 1 for word in what.split())  # 妈妈, 考虑考虑
        usual = 3 if one_word else 1 if len(ours) <= 1 else 2
        if n - repeated(ours)[0] >= (usual if len(ours) <= FEW_WORDS else REPEATED):
            return True
    if len(text) <= _SHORT and STAMMER.search(target) and not STAMMER.search(source):
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


def looked_at(
    translator: "Translator",
    texts: Sequence[str],
    found: Sequence[Translation],
    n_best: int,
    how: Mapping[str, Any],
) -> list[Translation]:
    """The translations of a list, others in the place of what is doubtful.

    A text that was cut is looked at portion by portion: what several sentences have in common is no
    loop, and one that loops does not make the others anew. `how` and `n_best` as in `otherwise`.
    """
    cut = {
        i: translator.processors.portions().of_text(texts[i].strip())
        for i, one in enumerate(found)
        if one.parts
    }
    doubtful: dict[tuple[int, int], str] = {}
    for i, one in enumerate(found):
        sources = [piece for piece in cut[i] if not piece.isspace()] if i in cut else [texts[i]]
        for k, (source, part) in enumerate(zip(sources, one.parts or (one,), strict=True)):
            if is_doubtful(source, part.target):
                doubtful[i, k] = source
    others = otherwise(translator, doubtful, n_best, how) if doubtful else {}
    made = list(found)
    for i in {i for i, _ in others}:
        if i not in cut:
            made[i] = others[i, 0]
            continue
        left = iter(others.get((i, k), part) for k, part in enumerate(found[i].parts))
        parts = [piece if piece.isspace() else next(left) for piece in cut[i]]
        alpha = how.get("length_penalty", translator.settings.decoding.length_penalty)
        made[i] = combined(texts[i], parts, alpha=alpha, n_best=n_best)
    return made


def otherwise(
    translator: "Translator", texts: Mapping[Place, str], n_best: int, how: Mapping[str, Any]
) -> dict[Place, Translation]:
    """For some of a list's texts, by their places, translations of which the best is the first
    hypothesis that is not doubtful; nothing for those that have none.

    `how` is what `translate_fully` was given for the first ones, which were `n_best`.
    """
    wider = {**how, "method": "beam", "beam": max(BEAM, n_best), "n_best": max(BEAM, n_best)}
    chosen: dict[Place, Translation] = {}
    for way in (wider, {**how, "method": "greedy", "n_best": 1}):
        places = [place for place in texts if place not in chosen]
        found = translator.translate_fully([texts[place] for place in places], **way)
        for place, translation in zip(places, found, strict=True):
            every = translation.n_best
            fine = (
                one
                for one in every
                if one.target.strip() and not is_doubtful(texts[place], one.target)
            )
            if (best := next(fine, None)) is not None:
                others = [one for one in every if one is not best]
                chosen[place] = translation._replace(n_best=[best, *others][:n_best])
    return chosen
