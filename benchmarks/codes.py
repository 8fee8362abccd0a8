"""Placeholders: of 160 kinds, how many arrive in files of each kind, or are flagged?

Each code of `code_kinds.tsv` is put into sentences in a file of each kind that `headway translate`
fills in, and into lines of text; the files are translated with default flags and read back by
readers that are not ours (polib, lxml, json, csv, ..). A code is *kept* if it stands in the
translation, byte for byte, as often as in the source; *flagged* if it is not, and the report has
the unit; *lost* otherwise: nobody is told.
Run: python benchmarks/codes.py --run RUN [--run RUN ..] [--record FILE]
"""

import csv
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import record
from code_files import KINDS, Kind

import headway

TABLE = Path(__file__).with_name("code_kinds.tsv")
TEMPLATES = ("A dog {}runs{} in the street.", "{}Two cats{} are in the house.", "I see a {}dog{}")
FATES = ("kept", "flagged", "lost")
SHOWN = 40


class Text(NamedTuple):
    """A sentence with a code in it."""

    kind: str
    """Of the code."""
    codes: tuple[str, ...]
    text: str


def texts_for(suffix: str) -> list[Text]:
    """Every code that is one in files of this kind, in each sentence."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    found = []
    for name, code, where in rows:
        if where.startswith(".") and suffix not in where.split():
            continue
        opening, framing, closing = code.partition(" … ")
        both = (opening, closing) if framing else (f"{opening} ", "")
        codes = (opening, closing) if framing else (opening,)
        found += [Text(name, codes, one.format(*both).strip()) for one in TEMPLATES]
    return found


def fate(text: Text, translation: str, *, flagged: bool) -> str:
    """What became of the codes of a text."""
    kept = all(text.text.count(code) == translation.count(code) for code in text.codes)
    return "kept" if kept else "flagged" if flagged else "lost"


def fates(run: str, kind: Kind, language: str, folder: Path) -> list[tuple[Text, str, str]]:
    """Each text, its translation and its fate."""
    source = folder / kind.name
    texts = texts_for(source.suffix)
    kind.save(source, [one.text for one in texts], language)
    out = folder / "out" / kind.name
    report = folder / "report.json"
    [told] = headway.translate_files(run, str(source), out=str(out), report=str(report))
    translations = kind.load(out.read_bytes())
    if len(translations) != len(texts):
        raise SystemExit(f"{kind.name}: {len(translations)} texts of {len(texts)} were read back")
    flagged = {row["source"].strip() for row in told.rows if row["reasons"]}
    return [
        (one, translation, fate(one, translation, flagged=one.text in flagged))
        for one, translation in zip(texts, translations, strict=True)
    ]


def table_of(counts: Sequence[tuple[str, Counter[str]]]) -> str:
    """Shares of each row, and of all."""
    whole = sum((counter for _, counter in counts), Counter[str]())
    rows = [
        [name, counter.total(), *(f"{counter[one] / counter.total():.1%}" for one in FATES)]
        for name, counter in [*counts, ("all", whole)]
    ]
    return record.table(["file", "texts", *FATES], rows)


def main() -> int:
    """Translate, count, print, record."""
    parser = record.parser(__doc__)
    parser.add_argument("--run", action="append", required=True, metavar="RUN")
    parser.add_argument("--kind", action="append", help="only files of this suffix")
    record.add_record_option(parser)
    asked = parser.parse_args()
    kinds = [one for one in KINDS if not asked.kind or Path(one.name).suffix in asked.kind]
    for run in asked.run:
        language = headway.Translator.load(run).target_language or "de"
        counts, odd = [], []
        for kind in kinds:
            with tempfile.TemporaryDirectory() as folder:
                found = fates(run, kind, language, Path(folder))
            counts.append((Path(kind.name).suffix, Counter(what for *_, what in found)))
            odd += [(counts[-1][0], *one) for one in found if one[2] != "kept"]
        print(f"\n{run}\n\n{table_of(counts)}\n")
        for suffix, text, translation, what in odd[:: max(1, len(odd) // SHOWN)]:
            print(f"  {what} {suffix} {text.kind}: {text.text}\n    {translation}")
        by_code = Counter(text.kind for _, text, _, what in odd if what == "lost")
        print("\nlost:", ", ".join(f"{name} {n}" for name, n in by_code.most_common()) or "none")
        figures = {"run": run, "files": {name: dict(one) for name, one in counts}}
        record.write(asked.record, "codes", seeds=[], figures=figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
