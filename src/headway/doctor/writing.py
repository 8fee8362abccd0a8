"""In which scripts each side is written, and which texts are not in theirs."""

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from headway.corpora.corpus import Direction
from headway.doctor.batches import Counts, PairBatch, PairSide
from headway.doctor.findings import Finding, FindingsLog, Severity, Symptom
from headway.languages.scripts import scripts, scripts_of_language

WRONG_SCRIPT = Symptom(
    "wrong_script",
    "texts in the script of another language",
    "Hardly a letter of one side belongs to a script that this language is written in: "
    "untranslated text, exchanged sides, or a third language. Copied names are left out.",
    "Remove these pairs or translate them; if there are many, look whether source and target were "
    "exchanged.",
    tolerated=0.001,
    serious=0.05,
)

_LEAST_LETTERS = 4
_LEAST_SHARE = 0.2  # of letters in the language's own scripts
_LATIN_WORD = re.compile("[A-Za-z\u00c0-\u024f]+")


def _none() -> NDArray[np.int64]:
    return np.zeros(len(scripts().names), np.int64)


@dataclass
class _SideScripts:
    language: str | None
    letters: NDArray[np.int64] = field(default_factory=_none)
    """Of each script: [scripts]."""

    def expected(self) -> NDArray[np.bool_]:
        """The scripts of the language, or if it is not known, the one seen most: [scripts]."""
        names = scripts_of_language(self.language) or (scripts().names[self.letters.argmax()],)
        return np.array([name in names for name in scripts().names])


class ScriptCheck:
    symptoms = (WRONG_SCRIPT,)

    def __init__(self, log: FindingsLog, source_language: str | None, target_language: str | None):
        """Languages as the user or the files declare them."""
        self._log = log
        self._own: Direction = (source_language, target_language)
        self._sides: dict[Direction, list[_SideScripts]] = {}
        self._n_pairs: Counter[Direction] = Counter()

    def add(self, batch: PairBatch) -> None:
        direction = batch.direction or self._own
        self._n_pairs[direction] += len(batch.pairs)
        sides = self._sides.setdefault(direction, list(map(_SideScripts, direction)))
        strange = [_strange(side, found) for side, found in zip(batch.sides, sides, strict=True)]
        for row in np.flatnonzero(strange[0] | strange[1]):
            pair = batch.pairs[row]
            texts = pair[:2]
            odd = [
                side
                for n, side in enumerate(("source", "target"))
                if strange[n][row] and not copied(texts[n], texts[1 - n])
            ]
            if odd:
                self._log.take(WRONG_SCRIPT, pair, " and ".join(odd))

    def conclude(self) -> None:
        for direction, sides in self._sides.items():
            for name, found in zip(("source", "target"), sides, strict=True):
                declared = scripts_of_language(found.language)
                main = scripts().names[found.letters.argmax()]
                own = found.letters[found.expected()].sum()
                if declared and own < _LEAST_SHARE * found.letters.sum():
                    n_pairs = self._n_pairs[direction]
                    self._log.add(_contradiction(name, found, main, n_pairs))

    def shares(self) -> dict[str, dict[str, float]]:
        """By side, which part of the letters belongs to which script, most first."""
        return {
            name: _shares(sum((sides[n].letters for sides in self._sides.values()), _none()))
            for n, name in enumerate(("source", "target"))
        }


def _strange(side: PairSide, found: _SideScripts) -> NDArray[np.bool_]:
    """Which texts have hardly a letter in the scripts that are expected: [pairs]."""
    script = scripts().of[side.codes]
    found.letters += np.bincount(script, minlength=len(found.letters))
    found.letters[0] = 0
    own = found.expected()
    own[0] = False
    n_letters: Counts = side.count(script > 0)
    n_own: Counts = side.count(own[script])
    return (n_letters >= _LEAST_LETTERS) & (_LEAST_SHARE * n_letters > n_own)


def copied(text: str, other: str) -> bool:
    """Whether half of its Latin letters stand in words that the other side has as well.

    A Chinese text that consists of a name and two characters is no untranslated text.
    """
    words = _LATIN_WORD.findall(text)
    n_letters = sum(map(len, words))
    lowered = other.lower()
    n_copied = sum(len(word) for word in words if word.lower() in lowered)
    return n_letters > 0 and 2 * n_copied >= n_letters


def _contradiction(side: str, found: _SideScripts, main: str, n_pairs: int) -> Finding:
    share = found.letters.max() / found.letters.sum()
    return Finding(
        name=f"{side}_script",
        severity=Severity.LOOK,
        title=f"the {side} is declared as {found.language}, but written in {main.title()} letters",
        n=n_pairs,
        of=n_pairs,
        meaning=f"{share:.0%} of the {side}'s letters are {main.title()}, in which "
        f"{found.language} is not written: the sides are exchanged, or the language is another.",
        remedy="Exchange --source and --target, or give the languages with --source-language and "
        "--target-language.",
        serious=True,
    )


def _shares(letters: NDArray[np.int64]) -> dict[str, float]:
    total = max(int(letters.sum()), 1)
    order = np.argsort(-letters, kind="stable")[: np.count_nonzero(letters)]
    return {scripts().names[n]: round(int(letters[n]) / total, 6) for n in order}
