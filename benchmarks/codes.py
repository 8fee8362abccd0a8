"""Inline codes: on how many lines do tags, placeholders and markup all arrive, and at what BLEU?

Translates a test set of technical text with a finished run and its own beam, and counts the lines
whose codes all arrive. The codes asked for are those that source and reference share, as often in
one as in the other; they are looked for in the text that comes out. Each line is scored as the
model likes it best, as the hypothesis that was chosen for its codes, and as it was mended.
Run: python benchmarks/codes.py --data DIR --run RUN [--corpus pydocs-en-zh] [--record FILE]
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import record
import runs

from headway import Translator
from headway.metrics.translation import score_translations
from headway.text.code_patterns import find
from headway.translator import Translation

SHOWN = 8


class Line(NamedTuple):
    """A line of the test set and what became of it."""

    wanted: Counter[str]
    """Codes that source and reference share."""
    source: Counter[str]
    translation: Translation


def codes(text: str) -> Counter[str]:
    """Every code of a text."""
    return Counter(text[start:end] for start, end, _ in find(text))


def shared(source: Counter[str], reference: Counter[str]) -> Counter[str]:
    """Those that stand as often in both."""
    return Counter({code: n for code, n in source.items() if reference[code] == n})


def stages(translation: Translation) -> dict[str, str]:
    """The text that the model gives most probability, the chosen one, and the mended one."""
    if not translation.n_best:
        return {"best score": "", "codes complete first": "", "mended": ""}
    chosen = translation.n_best[0]
    best = max(translation.n_best, key=lambda alternative: alternative.score)
    return {
        "best score": best.written,
        "codes complete first": chosen.written,
        "mended": chosen.target,
    }


def figures_of(
    stage: str, lines: Sequence[Line], references: Sequence[str], language: str
) -> dict[str, Any]:
    """Shares of lines, and BLEU, of one stage."""
    texts = [stages(line.translation)[stage] for line in lines]
    arrived = [not line.wanted - codes(text) for line, text in zip(lines, texts, strict=True)]
    invented = [bool(codes(text) - line.source) for line, text in zip(lines, texts, strict=True)]
    coded = [place for place, line in enumerate(lines) if line.wanted]
    scores = score_translations(texts, references, target_language=language)
    return {
        "stage": stage,
        "lines_with_codes": len(coded),
        "arrive": sum(arrived[place] for place in coded) / max(1, len(coded)),
        "arrive_of_all_lines": sum(arrived) / len(lines),
        "lines_with_other_codes": sum(invented),
        "bleu": asdict(scores.bleu),
        "chrf": asdict(scores.chrf),
    }


def main() -> int:
    """Translate, count, print, record."""
    parser = record.parser(__doc__)
    record.add_data_option(parser)
    parser.add_argument("--run", type=Path, metavar="RUN", required=True, help="a finished run")
    parser.add_argument("--corpus", choices=runs.CORPORA, default="pydocs-en-zh")
    parser.add_argument("--beam", type=int, help="instead of the run's own")
    record.add_record_option(parser)
    asked = parser.parse_args()
    corpus = runs.CORPORA[asked.corpus]
    translator = Translator.load(asked.run)
    own = translator.settings.decoding
    beam = asked.beam or own.beam
    search = replace(own, method="beam", beam=beam, n_best=beam)
    [test] = corpus.tests[:1]
    sources, references = corpus.lines(asked.data, test)
    translations = translator.translate_fully(sources, **asdict(search))
    lines = [
        Line(shared(codes(source), codes(reference)), codes(source), translation)
        for source, reference, translation in zip(sources, references, translations, strict=True)
    ]
    names = list(stages(translations[0]))
    rows = [figures_of(stage, lines, references, corpus.target) for stage in names]
    n_mended = sum(not translation.codes_complete for translation in translations)
    n_cut = sum(translation.n_cut > 0 for translation in translations)
    header = ["stage", "codes all arrive", "of all lines", "lines with others", "BLEU", "chrF"]
    cells = [
        [
            row["stage"],
            f"{row['arrive']:.2%} of {row['lines_with_codes']:,}",
            f"{row['arrive_of_all_lines']:.2%}",
            row["lines_with_other_codes"],
            f"{row['bleu']['score']:.2f}",
            f"{row['chrf']['score']:.2f}",
        ]
        for row in rows
    ]
    handling = translator.settings.text.codes
    print(
        f"\n{asked.corpus} {test}, {len(lines):,} lines, codes: {handling}, beam {beam}; "
        f"{n_mended:,} lines mended, {n_cut:,} cut\n\n{record.table(header, cells)}\n\n"
        f"`{rows[0]['bleu']['signature']}`\n"
    )
    mended = [line.translation for line in lines if not line.translation.codes_complete]
    for translation in mended[:: max(1, len(mended) // SHOWN)][:SHOWN]:
        best = translation.n_best[0]
        print(f"  {translation.source}\n    {best.written}\n    {best.target}")
    figures = {
        "corpus": asked.corpus, "test": test, "codes": handling, "beam": beam, "mended": n_mended,
        "cut": n_cut, "stages": rows, **runs.facts(asked.run),
    }  # fmt: skip
    record.write(asked.record, "codes", seeds=[figures["seed"]], figures=figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
