"""A glossary as a reader sees it: do its terms stand where they belong, once, and what of the rest?

The words of the glossary are those of training text that stand most surely for each other in its
pairs, the most frequent ones of the test set. Every second one is to be translated as there; the
others by something that the model would never write: a rare synonym, or an invented word. A case is
a term of a source whose counterpart stands in the reference as often as the term in the source.
With the terms put in their places, references say where each belongs.
Run: python benchmarks/terms.py --data DIR --run RUN [--corpus multi30k-en-de]
    [--test test_2018_flickr] [--sizes 15 200] [--lines 1000] [--show 50] [--record FILE]
"""

import re
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import record
import runs
import torch

from headway import Translator
from headway.core.cleaning import clean
from headway.localization.terms.keeping import Terms
from headway.localization.terms.matching import RequiredText, Spelling
from headway.metrics.corpus_scores import score_translations

MOST_TERMS = 2000
LEAST, SURELY = 20, 0.5
"""A term stands in so many pairs at least, and its Dice coefficient is at least so much."""
MOST_PAIRS = 60_000
NEAR = 0.15
"""Of its text: so far a term may be from where the reference has it, if its neighbours differ."""
_WORD = re.compile(r"[^\W\d_]{4,}(?:-[^\W\d_]+)*")
_HAN = re.compile(r"[\u4e00-\u9fff]{2,}")
_PARTS = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")
_STOPS = re.compile(r"[.!?。！？]+(?!\w)")
SYNONYMS = {
    "Mann": "Herr", "Frau": "Dame", "Hund": "Köter", "Fahrrad": "Drahtesel", "Ball": "Rundling",
    "Junge": "Bub", "Mädchen": "Maid", "Straße": "Gasse", "Haus": "Gemäuer", "Wasser": "Nass",
    "Strand": "Gestade", "Hemd": "Leibchen", "Auto": "Karosse", "Pferd": "Ross", "Boot": "Kahn",
    "Gesicht": "Antlitz", "Berg": "Gipfel", "Wald": "Forst", "Katze": "Mieze",
}  # fmt: skip
"""Rare German words for some frequent ones."""


def sides(source: str, target: str) -> tuple[set[str], set[str]]:
    """Words of both; of Chinese, all stretches of two to five characters."""
    words = {word for word in _WORD.findall(source) if word.islower()}
    if not _HAN.search(target):
        return words, set(_WORD.findall(target))
    stretches = {
        run[i : i + n]
        for run in _HAN.findall(target)
        for n in range(2, 6)
        for i in range(len(run) - n + 1)
    }
    return words, stretches


def most_sure(pairs: Sequence[tuple[str, str]], n_terms: int) -> list[tuple[str, str]]:
    """The terms with the highest Dice coefficients, each word once; the longest of equals."""
    split = [sides(*pair) for pair in pairs]
    n_source = Counter(word for words, _ in split for word in words)
    n_target = Counter(word for _, words in split for word in words)
    together: Counter[tuple[str, str]] = Counter()
    for left, right in split:
        ours = [word for word in left if n_source[word] >= LEAST]
        theirs = [word for word in right if n_target[word] >= LEAST]
        together.update((one, other) for one in ours for other in theirs)

    def dice(pair: tuple[str, str]) -> float:
        return 2 * together[pair] / (n_source[pair[0]] + n_target[pair[1]])

    ranked = sorted(
        (pair for pair, n in together.items() if n >= LEAST and dice(pair) >= SURELY),
        key=lambda pair: (-dice(pair), -len(pair[1]), pair),
    )
    chosen: dict[str, str] = {}
    for source, target in ranked:
        taken = any(target in other or other in target for other in chosen.values())
        if source not in chosen and not taken:
            chosen[source] = target
    return list(chosen.items())[:n_terms]


def glossary_of(
    pairs: Sequence[tuple[str, str]], n_cases: Counter[str], n_terms: int, written: str
) -> list[tuple[str, str, str]]:
    """Term, its usual counterpart, and what it is to be: the most frequent of some sure `pairs`,
    every second one as something that is not in what is usually `written`. Of German they are
    nouns, as terms are: other words would have to be inflected."""
    nouns = [pair for pair in pairs if pair[1][0] != pair[1][0].lower()]
    frequent = sorted(nouns or pairs, key=lambda pair: -n_cases[pair[0]])
    chosen = [pair for pair in frequent if n_cases[pair[0]]][:n_terms]
    found = []
    for n, (source, usual) in enumerate(chosen):
        others = [chosen[(n + k) % len(chosen)][1] for k in range(1, len(chosen))]
        half = (len(usual) + 1) // 2
        invented = (usual[:half] + other[len(other) // 2 :].lower() for other in others)
        strange = (one for one in (SYNONYMS.get(usual, usual), *invented) if one not in written)
        found.append((source, usual, usual if n % 2 else next(strange)))
    return found


class Case(NamedTuple):
    """A term of a source whose counterpart stands in the reference as often."""

    line: int
    source: str
    usual: RequiredText
    target: RequiredText
    strange: bool
    """The model would never write it by itself."""


def cases_of(
    chosen: Sequence[tuple[str, str, str]],
    terms: Terms,
    sources: Sequence[str],
    references: Sequence[str],
) -> list[Case]:
    """Of all lines."""
    targets = {source: (usual, target) for source, usual, target in chosen}
    found = []
    for n, source in enumerate(sources):
        for one in terms.asked(clean(source)):
            usual, target = targets[one.term.source]
            times = one.wanted.times
            before = RequiredText(either_case(usual), times)
            after = RequiredText(either_case(target), times)
            if len(before.standing(references[n])) == times:
                found.append(Case(n, one.term.source, before, after, usual != target))
    return found


def either_case(text: str) -> tuple[Spelling, ...]:
    """The word, also with a capital."""
    return tuple(Spelling(one) for one in dict.fromkeys((text, text[0].upper() + text[1:])))


def with_terms(text: str, cases: Sequence[Case]) -> str:
    """A text with the terms in the places of their counterparts."""
    places = [(*place, case) for case in cases for place in case.usual.standing(text)]
    for start, end, case in sorted(places, reverse=True, key=lambda place: place[:2]):
        text = text[:start] + case.target.spellings[0].text + text[end:]
    return text


def spots(text: str, target: RequiredText) -> list[tuple[str, str, float]]:
    """For each place where a term stands its neighbours, and how far in the text it is."""
    return [
        (
            "".join(_PARTS.findall(text[:start])[-1:]).lower(),
            "".join(_PARTS.findall(text[end:])[:1]).lower(),
            len(_PARTS.findall(text[:start])) / max(1, len(_PARTS.findall(text))),
        )
        for start, end in target.standing(text)
    ]


class Seen(NamedTuple):
    """What a reader sees of a case."""

    there: bool
    once: bool
    """As often as in the source."""
    beside: bool
    """The usual word is still there."""
    near: bool
    """A neighbour is that of the counterpart, in the reference or in the translation without a
    glossary; or it stands about as far in the text as in the reference."""
    tail: bool
    """More sentences than without a glossary."""

    @property
    def in_place(self) -> bool:
        """Just as it should be."""
        return self.once and not self.beside and self.near and not self.tail


def n_sentences(text: str) -> int:
    """Stretches with a word in them."""
    return sum(bool(_PARTS.search(part)) for part in _STOPS.split(text))


def seen(case: Case, cases: Sequence[Case], line: str, plain: str, reference: str) -> Seen:
    """`cases` are all of the line's."""
    found = spots(line, case.target)
    expected = spots(with_terms(reference, cases), case.target)
    usual = [*expected, *spots(with_terms(plain, cases), case.target)]
    near = all(
        any(spot[side] == other[side] for other in usual for side in (0, 1))
        or any(abs(spot[2] - other[2]) <= NEAR for other in expected)
        for spot in found
    )
    left = max(0, len(case.usual.standing(plain)) - case.usual.times)
    beside = case.strange and len(case.usual.standing(line)) > left
    once = len(found) == case.target.times
    return Seen(bool(found), once, beside, near, n_sentences(line) > n_sentences(plain))


def translated(
    translator: Translator, sources: Sequence[str], glossary: Terms | None, repeat: int
) -> tuple[list[str], float]:
    """By the run's own decoding, in one process; seconds of the processor, the fewest."""
    seconds = []
    for _ in range(repeat):
        began = time.process_time()
        lines = translator.translate(sources, glossary=glossary)
        seconds.append(time.process_time() - began)
    return lines, min(seconds)


def main() -> int:
    """Make glossaries, translate with and without, print, record."""
    options = record.parser(__doc__)
    record.add_data_option(options)
    options.add_argument("--run", type=Path, required=True)
    options.add_argument("--corpus", default="multi30k-en-de", choices=list(runs.CORPORA))
    options.add_argument("--test", help="a test set of the corpus; its first one if not given")
    options.add_argument("--sizes", type=int, nargs="+", default=[15, 200])
    options.add_argument("--lines", type=int, default=1000)
    options.add_argument("--repeat", type=int, default=1, help="the shortest time of so many")
    options.add_argument("--show", type=int, default=8, help="lines that the glossary changed")
    record.add_record_option(options)
    given = options.parse_args()
    corpus = runs.CORPORA[given.corpus]
    test = given.test or corpus.tests[0]
    pairs = list(zip(*corpus.lines(given.data, corpus.train), strict=True))
    sure = most_sure(pairs[:: max(1, len(pairs) // MOST_PAIRS)], MOST_TERMS)
    torch.set_num_threads(1)
    translator = Translator.load(given.run, device="cpu")
    sources, references = (lines[: given.lines] for lines in corpus.lines(given.data, test))
    references = list(map(clean, references))
    translated(translator, sources[:20], None, 1)
    plain, seconds = translated(translator, sources, None, given.repeat)
    usual = [(source, target, target) for source, target in sure]
    asked = read([(source, target) for source, target in sure], translator)
    n_cases = Counter(case.source for case in cases_of(usual, asked, sources, references))
    written = "\n".join([*plain, *references])
    measured = []
    for size in given.sizes:
        chosen = glossary_of(sure, n_cases, size, written)
        terms = read([(source, target) for source, _, target in chosen], translator)
        lines, with_seconds = translated(translator, sources, terms, given.repeat)
        cases = cases_of(chosen, terms, sources, references)
        rows = figures(cases, lines, plain, references, corpus.target)
        ratio = with_seconds / seconds
        measured.append({"terms": len(chosen), "time_ratio": ratio, "rows": rows})
        print(
            f"\n{given.corpus} {test}, {len(sources):,} lines, {len(chosen)} terms; x {ratio:.2f}"
        )
        print(record.table(list(rows[0]), [[shown(one) for one in row.values()] for row in rows]))
        show(given.show, cases, sources, references, plain, lines)
    whole = {"corpus": given.corpus, "test": test, "lines": len(sources), "sizes": measured}
    whole |= runs.facts(given.run)
    record.write(given.record, "terms", seeds=[whole["seed"]], figures=whole)
    return 0


def read(pairs: Sequence[tuple[str, str]], translator: Translator) -> Terms:
    """A glossary, by way of a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "terms.tsv"
        file.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
        return Terms.read([file], translator.settings.data)


def figures(
    cases: Sequence[Case],
    lines: Sequence[str],
    plain: Sequence[str],
    references: Sequence[str],
    language: str,
) -> list[dict[str, Any]]:
    """A row for all terms, for those that the model writes itself, and for those it never would."""
    by_line: dict[int, list[Case]] = {}
    for case in cases:
        by_line.setdefault(case.line, []).append(case)
    found = []
    for name, some in (
        ("all", list(cases)),
        ("usual", [case for case in cases if not case.strange]),
        ("strange", [case for case in cases if case.strange]),
    ):
        if not some:
            continue
        views = [
            seen(
                case, by_line[case.line], lines[case.line], plain[case.line], references[case.line]
            )
            for case in some
        ]
        affected = sorted({case.line for case in some})
        should = [with_terms(references[n], by_line[n]) for n in affected]
        scores = [
            asdict(
                score_translations([of[n] for n in affected], should, target_language=language).bleu
            )["score"]
            for of in (plain, lines)
        ]
        share = {
            name: sum(getattr(view, name) for view in views) / len(views)
            for name in ("in_place", "there", "once", "beside", "near")
        }
        tails = {case.line for case, view in zip(some, views, strict=True) if view.tail}
        found.append(
            {"": name, "cases": len(some), **share, "lines": len(affected), "tails": len(tails),
             "BLEU without": scores[0], "with": scores[1]}
        )  # fmt: skip
    return found


def shown(figure: Any) -> str:
    """A share as percents, a score with two digits."""
    if isinstance(figure, float):
        return f"{figure:.1%}" if figure <= 1 else f"{figure:.2f}"
    return str(figure)


def show(
    n_shown: int,
    cases: Sequence[Case],
    sources: Sequence[str],
    references: Sequence[str],
    plain: Sequence[str],
    lines: Sequence[str],
) -> None:
    """Lines of strange terms, those that are not in place before the others."""
    by_line: dict[int, list[Case]] = {}
    for case in cases:
        by_line.setdefault(case.line, []).append(case)
    marked = [
        (all(seen(c, some, lines[n], plain[n], references[n]).in_place for c in some), n)
        for n, some in by_line.items()
        if any(case.strange for case in some)
    ]
    wrong = [one for one in marked if not one[0]]
    right = [one for one in marked if one[0]]
    half = max(n_shown // 2, n_shown - len(right))
    every = max(1, len(right) // max(1, n_shown - min(half, len(wrong))))
    for good, n in [*wrong[:half], *right[::every]][:n_shown]:
        asked = ", ".join(f"{c.source} = {c.target.spellings[0].text}" for c in by_line[n])
        print(f"  {'   ' if good else 'NOT'} {sources[n]}  [{asked}]\n    without {plain[n]}")
        print(f"    with    {lines[n]}\n    should  {with_terms(references[n], by_line[n])}")


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
