"""In which scripts and languages each side is, against what is declared: every letter is counted,
and of a sample py3langid is asked."""

import re
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair
from headway.corpora.corpus import Direction
from headway.doctor.batches import Counts, PairBatch, PairSide
from headway.doctor.findings import Case, Finding, FindingsLog, Severity, Symptom
from headway.languages.detection import LEAST_BYTES, SURE, Detector, alike, is_told
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
                    letters = main.title()
                    share = found.letters.max() / found.letters.sum()
                    n_pairs = self._n_pairs[direction]
                    self._log.add(
                        contradiction(
                            f"{name}_script",
                            f"the {name} is declared as {found.language}, but written in {letters} "
                            "letters",
                            f"{share:.0%} of the {name}'s letters are {letters}, in which "
                            f"{found.language} is not written: the sides are exchanged, or the "
                            "language is another.",
                            n_pairs,
                            n_pairs,
                        )
                    )

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


def _shares(letters: NDArray[np.int64]) -> dict[str, float]:
    total = max(int(letters.sum()), 1)
    order = np.argsort(-letters, kind="stable")[: np.count_nonzero(letters)]
    return {scripts().names[n]: round(int(letters[n]) / total, 6) for n in order}


OTHER_LANGUAGE = Symptom(
    "other_language",
    "texts in another language than declared",
    "One side is in a language that it should not be in: untranslated text, exchanged sides, or a "
    "third language.",
    "Remove these pairs; if there are many, look where they came from.",
    tolerated=0.003,
    serious=0.02,
)
_MIXED = 0.02  # of the texts of a side, in a second language
_LEAST_HEARD = 5


class LanguageCheck:
    """Asks of some texts which language they are in; short ones say too little."""

    def __init__(
        self,
        log: FindingsLog,
        languages: Direction,
        detect: Detector,
        rows: Container[int],
    ) -> None:
        """`languages` as declared, None for what was not; `rows` are the pairs to be asked of."""
        self._log, self._own, self._detect, self._rows = log, languages, detect, rows
        self._heard: dict[Direction, tuple[Counter[str], Counter[str]]] = {}
        self._example: dict[tuple[str, str], Case] = {}
        self._n_judged = 0

    def add(self, batch: PairBatch) -> None:
        for row, pair in enumerate(batch.pairs, start=batch.first_row):
            if row in self._rows:
                self._add(pair, batch.direction)

    def _add(self, pair: Pair, direction: Direction | None) -> None:
        """Take a pair of the sample, which is declared to go in `direction`, if not as all do."""
        direction = direction or self._own
        of_sides = self._heard.setdefault(direction, (Counter(), Counter()))
        judged, odd = False, list[str]()
        for side, text, declared, heard in zip(
            ("source", "target"), pair[:2], direction, of_sides, strict=True
        ):
            if (declared and not is_told(declared)) or len(text.encode("utf-8")) < LEAST_BYTES:
                continue
            language, probability = self._detect(text)
            if probability < SURE:
                continue
            if side == "target" and pair.source == pair.target:
                continue
            heard[language] += 1
            self._example.setdefault((side, language), Case.of(pair, f"the {side}: {language}"))
            if declared and pair.source != pair.target:
                judged = True
                if not alike(language, declared):
                    odd.append(f"the {side} seems to be {language}")
        self._n_judged += judged
        if odd:
            self._log.take(OTHER_LANGUAGE, pair, ", ".join(odd))

    def conclude(self) -> None:
        self._log.conclude([OTHER_LANGUAGE], self._n_judged)
        for direction, of_sides in self._heard.items():
            for side, declared, heard in zip(
                ("source", "target"), direction, of_sides, strict=True
            ):
                if heard and declared:
                    (main, n_main), *_ = heard.most_common(1)
                    if not alike(main, declared):
                        self._log.add(
                            contradiction(
                                f"{side}_language",
                                f"the {side} is declared as {declared}, but seems to be {main}",
                                f"Most {side} texts that were long enough to tell are in {main}.",
                                n_main,
                                heard.total(),
                                serious=n_main >= _LEAST_HEARD,
                            )
                        )
                others = of_sides[side == "source"].most_common(1)
                if mixed := self._mixed(side, heard, others[0][0] if others else ""):
                    self._log.add(mixed)

    def shares(self) -> dict[str, dict[str, float]]:
        """By side, which part of the texts is in which language, most first."""
        shares = {}
        for n, side in enumerate(("source", "target")):
            heard = sum((of_sides[n] for of_sides in self._heard.values()), Counter[str]())
            shares[side] = {
                language: round(times / heard.total(), 6) for language, times in heard.most_common()
            }
        return shares

    def _mixed(self, side: str, heard: Counter[str], other_side: str) -> Finding | None:
        """Two languages on one side, if a second one is heard more often than by mistake.

        Text in the language of the other side is no second one: it was not translated.
        """
        main, n_main = heard.most_common(1)[0] if heard else ("", 0)
        least = max(_LEAST_HEARD, _MIXED * heard.total())
        others = {
            code: n
            for code, n in heard.most_common()[1:]
            if n >= least and not alike(code, main) and not alike(code, other_side)
        }
        if not others:
            return None
        n_others = sum(others.values())
        counts = {main: n_main} | others
        named = ", ".join(f"{code} {n / heard.total():.1%}" for code, n in counts.items())
        return Finding(
            name="mixed_languages",
            severity=Severity.LOOK,
            title=f"the {side} is in several languages: {named}",
            n=n_others,
            of=heard.total(),
            meaning="A model that is not told which one is wanted mixes them.",
            remedy="Separate the languages (--drop other_language keeps the one that "
            "--target-language names), or give each file its tag, so that a model can tell them "
            "apart (--pairs F:target=de:tag=de).",
            examples=[self._example[side, code] for code in list(counts)[:3]],
            serious=True,
        )


def contradiction(
    name: str, title: str, meaning: str, n: int, of: int, *, serious: bool = True
) -> Finding:
    """A whole side is not what it is declared to be."""
    remedy = (
        "Exchange --source and --target, or give the languages with --source-language and "
        "--target-language."
    )
    return Finding(name, Severity.LOOK, title, n, of, meaning, remedy, serious=serious)
