"""Near matches of a memory given to the model: does it translate better than without, or than they?

The memory are a run's training pairs, the texts those of its corpus's test sets without codes whose
nearest unit there is at 70 to 99 percent. Compared are the model alone, the match with its numbers
put right, and the model steered by what both sources share: the target words that look at unchanged
words of the match's source while the model is fed the match, (1) as its beginning, as far as they
reach from there, (2) mixed into the model's probabilities. (A third way, as constraints of the
search, lost as well; that search is gone: docs/lab-notes.md.)
Run: python benchmarks/near_matches.py --data DIR --run RUN --corpus multi30k-en-de [--record FILE]
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import record
import runs
import torch

from headway import Translator
from headway.core.beam import beam_search, best
from headway.core.bleu import score_translations
from headway.core.cleaning import Pair, clean
from headway.core.hypothesis import Rules, length_limits
from headway.core.search_settings import DecodingSettings
from headway.decoding.forced import attention_over
from headway.localization.formats.units import Unit
from headway.localization.memory.building import memory_of_pairs
from headway.localization.memory.words import aligned, as_word
from headway.localization.placeholders.patterns import find
from headway.localization.placeholders.segments import Segment
from headway.translation.coded import spans_written

BANDS = ((70, 79), (80, 89), (90, 99))
MIXED = ((0.2, 0.02), (0.4, 0.05), (0.6, 0.1))
"""Shares of the match: where its text is gone on with, and where it would be begun anew."""
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[\u2e80-\ua4cf\uf900-\ufaff]|[^\W\u2e80-\ua4cf\uf900-\ufaff]+")


class Case(NamedTuple):
    """A text, what is wanted for it, and its nearest match."""

    source: str
    reference: str
    percent: int
    match: str
    """Translation of the match, with numbers and codes put right."""
    ids: list[int]
    """Its sub-words."""
    kept: list[bool]
    """Of each, whether it belongs to words that both sources share."""
    stretches: list[str]
    """What is kept, as text: whole words in a row."""
    opening: int
    """Sub-words at its beginning that are kept, to the end of a word."""


def near_matches(
    pairs: Sequence[tuple[str, str]], texts: Sequence[tuple[str, str]], at_least: int
) -> Iterator[tuple[str, str, int, str, str]]:
    """Texts with references whose nearest match is at `at_least` to 99 percent, and that match."""
    units = (Pair(*pair, file="memory", line=n) for n, pair in enumerate(pairs, 1))
    memory = memory_of_pairs(units)
    for source, reference in texts:
        unit = Unit(Segment((source,)))
        if source.strip() and not find(source) and memory.exact(unit) is None:
            for found in memory.near(unit, at_least, 1):
                yield source, reference, found.percent, found.source, found.target


def shared(old: str, new: str) -> list[tuple[int, int]]:
    """Where the words of the old text stand that the new one has, too."""
    ours, theirs = list(_WORD.finditer(old)), list(_WORD.finditer(new))
    words = [as_word(one[0]) for one in ours], [as_word(one[0]) for one in theirs]
    return [one.span() for part in aligned(*words) if part.same for one in ours[part.old]]


def cases(translator: Translator, found: Sequence[tuple[str, str, int, str, str]]) -> list[Case]:
    """What of each match belongs to unchanged words, by where the model looks."""
    plain, subwords = translator.plain, translator.subwords
    olds = [clean(old) for *_, old, _ in found]
    sources = [ids[: plain.longest] for ids in subwords.encode_batch(olds)]
    targets = subwords.encode_targets([clean(target) for *_, target in found])
    maps = attention_over(plain.model, sources, targets, subwords.special, plain.device)
    return [
        case_of(one, old, ids, looked, subwords)
        for one, old, ids, looked in zip(found, olds, targets, maps, strict=True)
    ]


def case_of(found: Any, old: str, ids: list[int], looked: Any, subwords: Any) -> Case:
    """One of `cases`."""
    source, reference, percent, _, _ = found
    same = shared(old, clean(source))
    spans = subwords.source_spans(old)
    words = [one.span() for one in _WORD.finditer(old)]
    weights = looked[:, : len(spans)].tolist()
    unchanged = [any(a < end and start < b for a, b in same) for start, end in spans]
    worded = [any(a < end and start < b for a, b in words) for start, end in spans]
    kept = []
    for row in weights:
        on = sum(w for w, u in zip(row, unchanged, strict=False) if u)
        off = sum(w for w, u, i in zip(row, unchanged, worded, strict=False) if i and not u)
        kept.append(on >= off)
    text = subwords.decode_batch([ids])[0]
    written = spans_written(subwords, ids)
    good = [
        all(k for k, (a, b) in zip(kept, written, strict=True) if a < one.end() and one.start() < b)
        for one in _WORD.finditer(text)
    ]
    stretches, begun, last = [], None, 0
    for whole, one in zip([*good, False], [*_WORD.finditer(text), None], strict=True):
        if whole and one is not None:
            begun, last = one.start() if begun is None else begun, one.end()
        elif begun is not None:
            stretches.append(text[begun:last])
            begun = None
    n_good = next((n for n, whole in enumerate(good) if not whole), len(good))
    reach = [one.end() for one in _WORD.finditer(text)][n_good - 1] if n_good else 0
    opening = sum(b <= reach for _, b in written) if n_good else 0
    return Case(source, reference, percent, text, ids, kept, stretches, opening)


class Mixed:
    """Chooses by the model's probabilities, into which the continuation of a match is mixed."""

    def __init__(self, case: Case, end: int, going_on: float, anew: float) -> None:
        self.ids, self.going_on, self.anew = [*case.ids, end], going_on, anew
        self.kept = [*case.kept, all(case.kept[-1:])]
        starts = (not before and now for before, now in pairwise([False, *self.kept]))
        self.starts = [n for n, begins in enumerate(starts) if begins]
        self.rows: list[tuple[int, bool]] = [(0, True)]
        """Of each hypothesis the place of the match that comes next, and whether it is there."""

    def expected(self, row: tuple[int, bool]) -> tuple[list[int], float]:
        """Places that may come next, and their share."""
        place, there = row
        if there and place < len(self.ids) and self.kept[place]:
            return [place], self.going_on
        return [start for start in self.starts if start >= place], self.anew

    def after(self, row: tuple[int, bool], token: int) -> tuple[int, bool]:
        """Once a token is written."""
        for place in self.expected(row)[0]:
            if self.ids[place] == token:
                return place + 1, True
        return row[0], False

    def choose(self, scores: Any, before: Any, count: int, *_: Any) -> Any:
        """As `headway.core.beam.best`."""
        for n, row in enumerate(self.rows):
            places, share = self.expected(row)
            tokens = sorted({self.ids[place] for place in places})
            if tokens:
                scores[n] += math.log1p(-share)
                some = torch.tensor(tokens)
                each = torch.tensor(math.log(share / len(tokens)))
                scores[n, some] = torch.logaddexp(scores[n, some], each)
        total, place = best(scores, before, count)
        chosen = [divmod(one, scores.shape[1]) for one in place[0].tolist()]
        self.rows = [self.after(self.rows[row], token) for row, token in chosen]
        return total, place


def searched(
    translator: Translator, case: Case, settings: DecodingSettings, prefix: int, chooser: Any
) -> str:
    """By beam search behind a prefix of the match, or with a chooser."""
    subwords, plain = translator.subwords, translator.plain
    special = subwords.special
    ids = [*subwords.encode(clean(case.source))[: plain.longest], special.end]
    source = torch.tensor([ids])
    fed = [special.decoder_begin, *case.ids[:prefix]]
    with torch.inference_mode():
        state = plain.model.start(source, torch.tensor([fed[:-1]]) if prefix else None)
        limit = length_limits(torch.tensor([len(ids)]), settings.max_extra_length)
        rules = Rules(settings, special.end, limit, special.unwritten)
        found = beam_search(plain.model, state, torch.tensor(fed[-1:]), rules, chooser)
    return subwords.decode_batch([[*case.ids[:prefix], *found[0][0].ids]])[0]


def ways(translator: Translator) -> dict[str, Callable[[list[Case]], list[str]]]:
    """Name and translations of each."""
    settings = replace(translator.decoding({}), n_best=1)
    end = translator.subwords.special.end

    def mixed(shares: tuple[float, float]) -> Callable[[list[Case]], list[str]]:
        return lambda cases: [
            searched(translator, case, settings, 0, Mixed(case, end, *shares).choose)
            for case in cases
        ]

    return {
        "the model alone": lambda cases: translator.translate([case.source for case in cases]),
        "the match": lambda cases: [case.match for case in cases],
        "its beginning": lambda cases: [
            searched(translator, case, settings, case.opening, None) for case in cases
        ],
        **{f"mixed in, {a} and {b}": mixed((a, b)) for a, b in MIXED},
    }


def main() -> int:
    """Find near matches, translate in every way, score by band, print, record."""
    options = record.parser(__doc__)
    record.add_data_option(options)
    options.add_argument("--run", type=Path, required=True)
    options.add_argument("--corpus", default="multi30k-en-de", choices=list(runs.CORPORA))
    options.add_argument("--show", type=int, default=0, help="texts with all that was made of them")
    record.add_record_option(options)
    given = options.parse_args()
    corpus = runs.CORPORA[given.corpus]
    torch.set_num_threads(1)
    translator = Translator.load(given.run, device="cpu")
    pairs = list(zip(*corpus.lines(given.data, corpus.train), strict=True))
    texts = [
        pair
        for split in (corpus.valid, *corpus.tests)
        for pair in zip(*corpus.lines(given.data, split), strict=True)
    ]
    found = cases(translator, list(near_matches(pairs, texts, BANDS[0][0])))
    made = {name: translate(found) for name, translate in ways(translator).items()}
    rows, cells = [], []
    for name, lines in made.items():
        row: dict[str, Any] = {"way": name}
        for low, high in BANDS:
            at = [n for n, case in enumerate(found) if low <= case.percent <= high]
            if at:
                scores = score_translations(
                    [lines[n] for n in at],
                    [found[n].reference for n in at],
                    target_language=corpus.target,
                )
                row[f"{low}-{high}"] = {
                    "n": len(at), "bleu": scores.bleu.score, "chrf": scores.chrf.score
                }  # fmt: skip
        rows.append(row)
        figures = [row.get(f"{low}-{high}") for low, high in BANDS]
        cells.append([name, *(f"{f['bleu']:.1f} / {f['chrf']:.1f}" if f else "-" for f in figures)])
    n_each = [rows[0].get(f"{low}-{high}", {"n": 0})["n"] for low, high in BANDS]
    header = ["BLEU / chrF", *(f"{a}-{b} % ({n})" for (a, b), n in zip(BANDS, n_each, strict=True))]
    print(f"\n{given.corpus}, {given.run}\n\n{record.table(header, cells)}\n")
    for n in range(0, len(found), max(1, len(found) // given.show)) if given.show else ():
        print(f"{found[n].percent} %  {found[n].source}\n    should  {found[n].reference}")
        print(f"    keep    {found[n].stretches}")
        print("".join(f"    {lines[n]}  ({name})\n" for name, lines in made.items()))
    facts = runs.facts(given.run)
    figures = {"corpus": given.corpus, "rows": rows, **facts}
    record.write(given.record, "near_matches", seeds=[facts["seed"]], figures=figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
