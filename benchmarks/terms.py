"""A glossary: how many of its terms arrive, what that costs the rest of the text, and in time.

Takes 200 terms from training text, those that stand most surely for each other in its pairs, and
translates a test set with and without them on one core. A term counts where source and reference
have it. The rest is scored with all target terms taken out of references and translations.
Run: python benchmarks/terms.py --data DIR --run RUN [--corpus multi30k-en-de]
    [--lines 1000] [--record FILE]
"""

import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import record
import runs
import torch

from headway import Translator
from headway.metrics.translation import score_translations
from headway.text.cleaning import clean
from headway.text.terms.holding import Holding
from headway.text.terms.keeping import Terms

N_TERMS = 200
LEAST, SURELY = 20, 0.5
"""A term stands in so many pairs at least, and its Dice coefficient is at least so much."""
MOST_PAIRS = 60_000
_WORD = re.compile(r"[^\W\d_]{4,}(?:-[^\W\d_]+)*")
_HAN = re.compile(r"[\u4e00-\u9fff]{2,}")


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


class Use(NamedTuple):
    """A term of a source whose reference holds it."""

    line: int
    term: str
    kept: bool


def uses(
    terms: Terms, sources: Sequence[str], references: Sequence[str], lines: Sequence[str]
) -> Iterator[Use]:
    """Of each line the terms that its reference holds, and whether the translation does."""
    for n, source in enumerate(sources):
        asked = terms.asked(clean(source))
        holding = Holding([one.wanted for one in asked])
        in_reference = holding.lacking_in(clean(references[n]))
        in_line = holding.lacking_in(lines[n])
        for one, there, here in zip(asked, in_reference, in_line, strict=True):
            if not there:
                yield Use(n, one.found, not here)


def rest(lines: Sequence[str], targets: Sequence[str]) -> list[str]:
    """The lines without the terms."""
    longest_first = sorted(targets, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)
    return [" ".join(pattern.sub(" ", line).split()) or "-" for line in lines]


class Translated(NamedTuple):
    """What was made of the test set, and in what time."""

    lines: list[str]
    seconds: float


def translated(
    translator: Translator, sources: Sequence[str], glossary: Terms | None
) -> Translated:
    """The run's own decoding, in one process; seconds of the processor, whatever else runs."""
    began = time.process_time()
    lines = translator.translate(sources, glossary=glossary)
    return Translated(lines, time.process_time() - began)


def main() -> int:
    """Make the glossary, translate with and without, print, record."""
    options = record.parser(__doc__)
    record.add_data_option(options)
    options.add_argument("--run", type=Path, required=True)
    options.add_argument("--corpus", default="multi30k-en-de", choices=list(runs.CORPORA))
    options.add_argument("--lines", type=int, default=1000)
    options.add_argument("--repeat", type=int, default=1, help="the shortest time of so many")
    options.add_argument("--show", type=int, default=8, help="lines that the glossary changed")
    record.add_record_option(options)
    given = options.parse_args()
    corpus = runs.CORPORA[given.corpus]
    pairs = list(zip(*corpus.lines(given.data, corpus.train), strict=True))
    chosen = most_sure(pairs[:: max(1, len(pairs) // MOST_PAIRS)], N_TERMS)
    torch.set_num_threads(1)
    translator = Translator.load(given.run, device="cpu")
    sources, references = (
        lines[: given.lines] for lines in corpus.lines(given.data, corpus.tests[0])
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "terms.tsv"
        file.write_text("".join(f"{a}\t{b}\n" for a, b in chosen), encoding="utf-8")
        glossary = Terms.read([file], translator.settings.data)
    translated(translator, sources[:20], glossary)
    runs_of = {"without": None, "with": glossary}
    made: dict[str, Translated] = {}
    for _ in range(given.repeat):
        for name, terms in runs_of.items():
            again = translated(translator, sources, terms)
            if name not in made or again.seconds < made[name].seconds:
                made[name] = again
    rows = [
        figures_of(name, one, glossary, sources, references, corpus.target, chosen)
        for name, one in made.items()
    ]
    header = ["", "terms kept", "BLEU", "BLEU of the rest", "seconds"]
    cells = [
        [
            row["glossary"],
            f"{row['kept']:.2%} of {row['terms']:,}",
            f"{row['bleu']['score']:.2f}",
            f"{row['rest']['score']:.2f}",
            f"{row['seconds']:.1f}",
        ]
        for row in rows
    ]
    ratio = made["with"].seconds / made["without"].seconds
    changed = [n for n in range(len(sources)) if made["with"].lines[n] != made["without"].lines[n]]
    print(
        f"\n{given.corpus} {corpus.tests[0]}, {len(sources):,} lines, {len(chosen)} terms; time "
        f"x {ratio:.2f}; {len(changed):,} lines changed\n\n{record.table(header, cells)}\n"
    )
    for n in changed[:: max(1, len(changed) // max(1, given.show))][: given.show]:
        asked = ", ".join(f"{a} = {b}" for a, b in chosen if a in sources[n].lower().split())
        print(f"  {sources[n]}  [{asked}]\n    without {made['without'].lines[n]}")
        print(f"    with    {made['with'].lines[n]}\n    should  {references[n]}")
    figures = {
        "corpus": given.corpus, "test": corpus.tests[0], "lines": len(sources),
        "n_terms": len(chosen), "time_ratio": ratio, "changed": len(changed), "rows": rows,
        **runs.facts(given.run),
    }  # fmt: skip
    record.write(given.record, "terms", seeds=[figures["seed"]], figures=figures)
    return 0


def figures_of(
    name: str,
    made: Translated,
    glossary: Terms,
    sources: Sequence[str],
    references: Sequence[str],
    language: str,
    chosen: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    """Shares of terms, and BLEU of all and of the rest."""
    found = list(uses(glossary, sources, references, made.lines))
    targets = [target for _, target in chosen]
    whole = score_translations(made.lines, references, target_language=language)
    others = score_translations(
        rest(made.lines, targets), rest(references, targets), target_language=language
    )
    return {
        "glossary": name,
        "terms": len(found),
        "kept": sum(use.kept for use in found) / max(1, len(found)),
        "bleu": asdict(whole.bleu),
        "rest": asdict(others.bleu),
        "seconds": made.seconds,
    }


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
