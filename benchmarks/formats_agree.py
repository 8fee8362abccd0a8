"""Do we read the translation files of real users as independent parsers do, and fill them safely?

For each file of DIR/tm (`expected.tsv` says what other parsers counted in it):
- units read, units with a translation, and pieces of inline markup are as expected, or it is argued
  below why not; what those parsers refuse is refused in one sentence;
- filled with nothing, the file comes back byte for byte; filled in one place, nothing changes
  outside of that unit; filled everywhere, every translation is read back with every code.

Run: python benchmarks/formats_agree.py --data DIR [--kind tmx] [--record FILE]
Exit status 1 if anything disagrees for a reason that is not argued here.
"""

import csv
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from record import add_data_option, add_record_option, exit_status, parser, table, write

from headway.core.cleaning import Report
from headway.core.errors import DataError
from headway.core.lines import open_bytes
from headway.corpora.corpus import Corpus
from headway.localization.formats import tmx, xliff
from headway.localization.formats.documents import Document
from headway.localization.formats.file_kinds import reader_of, suffix_of
from headway.localization.formats.xliff_units import XliffUnits
from headway.localization.formats.xml_encoding import read_contents
from headway.localization.placeholders.segments import Code, Segment

ARGUED = {
    "kit-ImportTest1J_many.tmx": "the third unit lacks UK English; a comment in the file says that "
    "only the others are to be imported from US to UK English",
    "kit-ImportTest1K.tmx": "one unit is German to English, the other French to English",
    "omegat-test-multiple-tuv.tmx": "the second unit lacks Spanish, which is the first translation "
    "of the first unit",
    "omegat-en-ca.xlf": 'the fourth unit says translate="no"',
}
"""Files from which fewer pairs are taken than the other parser counted, and why that is right."""

ARGUED_INLINE = {
    "omegat-file-xliff-BUGS1221.xlf": "seg-source and the marks of segments were counted too",
    "kit-ImportTest2C.tmx": "a third language is not read",
    "omegat-invalid.tmx": "its unit holds nothing but codes: there is nothing to translate",
}
"""Files in which fewer inline elements are seen than the other parser counted, and why."""

OPEN = {".tmx": tmx.open_document, ".xlf": xliff.open_document, ".xliff": xliff.open_document}
SINGLE_FILLINGS = 25
INLINE = re.compile(r"<[A-Za-z]")
UNKNOWN_LANGUAGE = "qq"
"""Translated into where a file does not name a language."""

TargetsOf = Callable[[Path, Document], Iterator[Segment]]


class Kind(NamedTuple):
    """How one kind of file is looked into, besides reading and filling it."""

    targets: TargetsOf
    """What stands in the target of each unit."""
    has_target: frozenset[str]
    """Reasons to drop a unit that the other parser counted as translated: in TMX all that are there
    in two languages, be they empty."""


def tmx_targets(path: Path, document: Document) -> Iterator[Segment]:
    """The same memory read in the other direction."""
    if not document.target_language:
        return iter(())
    turned = tmx.open_document(path, document.target_language, document.source_language, True)
    return (gap.source for gap in turned.gaps)


def xliff_targets(path: Path, _document: Document) -> Iterator[Segment]:
    data = read_contents(path).data
    for unit in XliffUnits(path, data).read([data]):
        if unit.target is not None and unit.translate:
            yield unit.target.segment


KINDS = {
    "tmx": Kind(tmx_targets, frozenset({"fuzzy", "untranslated", "blank_side"})),
    "xliff": Kind(xliff_targets, frozenset({"fuzzy"})),
}


def pseudo(source: Segment, number: int) -> Segment:
    """A translation that tells whose it is and keeps every code; its letters are beyond Latin-1."""
    letters = (p if isinstance(p, Code) else re.sub(r"[^\W\d_]", "ж", p) for p in source.parts)
    return Segment((*letters, f"№{number}<&>"))


class Outcome(NamedTuple):
    """One file's row of the table."""

    name: str
    units: str
    translated: str
    inline: str
    filled: str
    trouble: str


def examine(kind: str, path: Path, row: dict[str, str], folder: Path) -> Outcome:
    """Read, fill and read again."""
    report = Report()
    reader = reader_of(path).pairs
    try:
        n_pairs = sum(1 for _ in reader(path, Corpus(), report))
    except DataError as error:
        refused = row["units"] == "?" or "refuses" in row["note"]
        return Outcome(row["file"], "refused", "", "", "", "" if refused else str(error))
    n_translated = n_pairs + sum(report.dropped[reason] for reason in KINDS[kind].has_target)
    troubles = []
    if str(report.read) != row["units"]:
        troubles.append(f"{row['units']} units expected")
    if str(n_translated) != row["translated"] and row["file"] not in ARGUED:
        troubles.append(f"{row['translated']} translated expected")
    document = opened(path)
    n_inline = inline_elements(kind, path, document)
    if str(n_inline) != row["inline_elements"] and row["file"] not in ARGUED_INLINE:
        troubles.append(f"{row['inline_elements']} inline elements expected")
    return Outcome(
        row["file"],
        str(report.read),
        str(n_translated),
        str(n_inline),
        str(len(document.gaps)),
        "; ".join([*troubles, *fill(kind, path, document, folder)]),
    )


def opened(path: Path) -> Document:
    """The file with a gap for every unit that has something to translate."""
    open_document = OPEN[suffix_of(path)]
    document = open_document(path, None, None, True)
    if document.target_language is None:
        document = open_document(path, document.source_language, UNKNOWN_LANGUAGE, True)
    return document


def inline_elements(kind: str, path: Path, document: Document) -> int:
    """Elements inside of the sources and targets."""
    sources = (gap.source for gap in document.gaps)
    both = chain(sources, KINDS[kind].targets(path, document))
    return sum(len(INLINE.findall(code.raw)) for segment in both for code in segment.codes)


def fill(kind: str, path: Path, document: Document, folder: Path) -> list[str]:
    """Fill the file in several ways; what went wrong."""
    with open_bytes(path) as file:
        original = file.read()
    troubles = []
    nothing: list[Segment | None] = [None] * len(document.gaps)
    if document.filled(nothing) != original:
        troubles.append("changed without a translation")
    translations = [pseudo(gap.source, n) for n, gap in enumerate(document.gaps)]
    numbers = list(range(len(document.gaps)))
    random.Random(1).shuffle(numbers)
    for number in islice(numbers, SINGLE_FILLINGS):
        one = [*nothing[:number], translations[number], *nothing[number + 1 :]]
        if not only_changed_in(document, number, original, document.filled(one)):
            troubles.append(f"more changed than line {document.gaps[number].line}")
    return troubles + misread(kind, path, folder, document, translations)


def only_changed_in(document: Document, number: int, before: bytes, after: bytes) -> bool:
    """Whether all that differs lies between the lines of this unit and the next."""
    encoding = "utf-16" if before[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1"
    old, new = before.decode(encoding), after.decode(encoding)
    if " trgLang=" not in old:
        new = re.sub(r' trgLang="\w+"', "", new)
    same_start = n_same(old, new)
    same_end = n_same(old[same_start:][::-1], new[same_start:][::-1])
    line = document.gaps[number].line
    later = [gap.line for gap in document.gaps if gap.line > line]
    first = old.count("\n", 0, same_start) + 1
    last = old.count("\n", 0, len(old) - same_end) + 1
    return line <= first and (not later or last <= min(later))


def n_same(one: str, other: str) -> int:
    """Characters at the start that are the same."""
    both = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in both if a != b), min(len(one), len(other)))


def misread(
    kind: str, path: Path, folder: Path, document: Document, translations: Sequence[Segment]
) -> list[str]:
    """What of a file filled everywhere is not read back as it was meant."""
    out = folder / f"filled{suffix_of(path)}"
    out.write_bytes(document.filled(translations))
    languages = document.source_language, document.target_language
    again, left = (OPEN[suffix_of(path)](out, *languages, overwrite) for overwrite in (True, False))
    troubles = []
    if [gap.source for gap in again.gaps] != [gap.source for gap in document.gaps]:
        troubles.append("other sources after filling")
    if left.gaps:
        troubles.append("gaps left after filling")
    found = {plain(segment) for segment in KINDS[kind].targets(out, document)}
    lost = sum(plain(translation) not in found for translation in translations)
    if lost:
        troubles.append(f"{lost} translations lost or changed")
    return troubles


def plain(segment: Segment) -> tuple[object, ...]:
    """A segment to be compared: white space at its ends is the source's, in between it is one."""
    raw = "\0".join(p.raw if isinstance(p, Code) else p for p in segment.parts)
    return (" ".join(raw.replace("\0", "").split()), tuple(code.raw for code in segment.codes))


def argued(name: str) -> str:
    """Why we differ from the other parser, where we do and should."""
    return "; ".join(reasons[name] for reasons in (ARGUED, ARGUED_INLINE) if name in reasons)


def located(folder: Path, name: str) -> Path:
    """The file, which may be packed."""
    path = folder / name
    return path if path.exists() else folder / f"{name}.gz"


def main() -> int:
    """Examine all files, print, and say how many are in trouble."""
    options = parser(__doc__)
    add_data_option(options)
    add_record_option(options)
    options.add_argument("--kind", choices=KINDS, help="only this kind of file")
    asked = options.parse_args()
    folder = asked.data / "tm"
    with (folder / "expected.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    kinds = [asked.kind] if asked.kind else list(KINDS)
    outcomes = []
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows:
            if row["kind"] in kinds:
                path = located(folder / row["kind"], row["file"])
                outcomes.append(examine(row["kind"], path, row, Path(scratch)))
    print(table(Outcome._fields, [(*o[:5], o.trouble or argued(o.name)) for o in outcomes]))
    in_trouble = [outcome for outcome in outcomes if outcome.trouble]
    n_argued = sum(bool(argued(outcome.name)) for outcome in outcomes)
    figures = {
        "files": len(outcomes),
        "argued": n_argued,
        "in_trouble": len(in_trouble),
        "units": sum(int(o.units) for o in outcomes if o.units.isdigit()),
        "filled": sum(int(o.filled or 0) for o in outcomes),
    }
    print(", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in figures.items()))
    write(asked.record, "formats_agree", seeds=[1], figures=figures)
    return 1 if in_trouble else 0


if __name__ == "__main__":
    raise SystemExit(exit_status(main))
