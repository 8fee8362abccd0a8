"""Which language a text is in, as py3langid hears it, against what is declared."""

from collections import Counter
from collections.abc import Container

from headway.core.cleaning import Pair
from headway.corpora.corpus import Direction
from headway.doctor.batches import PairBatch
from headway.doctor.findings import Case, Finding, FindingsLog, Severity, Symptom
from headway.languages.detection import LEAST_BYTES, SURE, Detector, alike, is_told

OTHER_LANGUAGE = Symptom(
    "other_language",
    "texts in another language than declared",
    "One side is in a language that it should not be in: untranslated text, exchanged sides, or a "
    "third language.",
    "Remove these pairs; if there are many, look where they came from.",
    tolerated=0.003,
    serious=0.02,
)
_MIXED = Symptom(
    "mixed_languages",
    "",
    "",
    "Separate the languages (--drop other_language keeps the one that --target-language names), or "
    "give each file its tag, so that a model can tell them apart (--pairs F:target=de:tag=de).",
    tolerated=0.02,
    serious=0.02,
)
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
        self._unheard: Counter[tuple[str, str]] = Counter()
        self._n_pairs = self._n_judged = 0

    def add(self, batch: PairBatch) -> None:
        for row, pair in enumerate(batch.pairs, start=batch.first_row):
            if row in self._rows:
                self._add(pair, batch.direction)

    def _add(self, pair: Pair, direction: Direction | None) -> None:
        """Take a pair of the sample, which is declared to go in `direction`, if not as all do."""
        self._n_pairs += 1
        direction = direction or self._own
        of_sides = self._heard.setdefault(direction, (Counter(), Counter()))
        judged, odd = False, list[str]()
        for side, text, declared, heard in zip(
            ("source", "target"), pair[:2], direction, of_sides, strict=True
        ):
            if declared and not is_told(declared):
                self._unheard[side, declared] += 1
                continue
            if len(text.encode("utf-8")) < LEAST_BYTES:
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
        for (side, unheard), n in self._unheard.items():
            self._log.add(_unheard(side, unheard, n, self._n_pairs))
        for direction, of_sides in self._heard.items():
            for side, declared, heard in zip(
                ("source", "target"), direction, of_sides, strict=True
            ):
                if heard and declared:
                    (main, n_main), *_ = heard.most_common(1)
                    if not alike(main, declared):
                        self._log.add(_contradiction(side, declared, main, n_main, heard.total()))
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
        least = max(_LEAST_HEARD, _MIXED.tolerated * heard.total())
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
            name=_MIXED.name,
            severity=Severity.LOOK,
            title=f"the {side} is in several languages: {named}",
            n=n_others,
            of=heard.total(),
            meaning="A model that is not told which one is wanted mixes them.",
            remedy=_MIXED.remedy,
            examples=[self._example[side, code] for code in list(counts)[:3]],
            serious=True,
        )


def _unheard(side: str, declared: str, n: int, n_pairs: int) -> Finding:
    return Finding(
        name=f"{side}_language_unheard",
        severity=Severity.INFORMATION,
        title=f"the {side} is declared as {declared}, which no detector here knows",
        n=n,
        of=n_pairs,
        meaning=f"In which language {side} texts are was not asked.",
        remedy=f"Nothing, if that is its language. Else give it with --{side}-language.",
    )


def _contradiction(side: str, declared: str, main: str, n_main: int, n_heard: int) -> Finding:
    return Finding(
        name=f"{side}_language",
        severity=Severity.LOOK,
        title=f"the {side} is declared as {declared}, but seems to be {main}",
        n=n_main,
        of=n_heard,
        meaning=f"Most {side} texts that were long enough to tell are in {main}.",
        remedy="Exchange --source and --target, or give the languages with --source-language and "
        "--target-language.",
        serious=n_main >= _LEAST_HEARD,
    )
