"""Do we read real PO files as polib does, and does gettext still take them once they are filled?

For each PO file of DIR/tm (`expected.tsv` says what polib counted in it):
- units, translated, empty, fuzzy and obsolete entries and plurals are as expected, or it is argued
  below why not; what polib refuses is refused in one sentence, or argued;
- filled with nothing, the file comes back byte for byte; filled in one place, nothing changes
  outside of that entry; filled everywhere, polib finds the same entries with the new translations,
  and `msgfmt -c` and `msgfmt -c --use-fuzzy` (gettext) complain about nothing new.

Run: python benchmarks/po_agree.py --data DIR [--record FILE]
Exit status 1 if anything disagrees for a reason that is not argued here.
"""

import csv
import random
import re
import subprocess
import tempfile
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import polib
from record import add_data_option, add_record_option, exit_status, parser, table, write

from headway.core.errors import DataError
from headway.core.lines import open_bytes
from headway.localization.formats.documents import Document
from headway.localization.formats.po import open_document
from headway.localization.formats.po_entries import read_entries, read_header
from headway.localization.placeholders.segments import Segment

ARGUED = {
    "polib-test_pofile_helpers.po": "of 13 units polib counts 12: one with an empty plural form is "
    "neither translated nor untranslated to it; here it is empty",
    "toolkit-f43.tgif.fr.po": "polib does not see the encoding behind a space (charset= koi8-r)",
}
"""Files that are counted otherwise than polib does, and why that is right."""

COUNTS = ("units", "translated", "empty", "fuzzy", "plural", "obsolete")
SINGLE_FILLINGS = 25


class Outcome(NamedTuple):
    """One file's row of the table."""

    name: str
    encoding: str
    counts: str
    filled: str
    trouble: str


def counted(path: Path) -> dict[str, int]:
    """What `expected.tsv` counts."""
    everything = list(read_entries(path, read_header(path).encoding))
    units = [entry for entry in everything if not entry.obsolete and not entry.header]
    settled = [entry for entry in units if not entry.fuzzy]
    return {
        "units": len(units),
        "translated": sum(entry.complete for entry in settled),
        "empty": sum(not entry.complete for entry in settled),
        "fuzzy": sum(entry.fuzzy for entry in units),
        "plural": sum("msgid_plural" in entry.texts for entry in units),
        "obsolete": sum(entry.obsolete for entry in everything),
    }


def examine(path: Path, row: dict[str, str], folder: Path) -> Outcome:
    """Count, fill and ask the others."""
    name = row["file"]
    try:
        counts = counted(path)
    except DataError as error:
        refused = row["units"] == "?"
        return Outcome(name, "", "refused", "", "" if refused else str(error))
    wrong = [
        f"{row[what]} {what} expected, {counts[what]} found"
        for what in COUNTS
        if name not in ARGUED and str(counts[what]) != row[what]
    ]
    document = open_document(path, None, None, True)
    return Outcome(
        name,
        read_header(path).encoding,
        " ".join(str(counts[what]) for what in COUNTS),
        str(len(document.gaps)),
        "; ".join([*wrong, *fill(path, document, folder)]),
    )


def fill(path: Path, document: Document, folder: Path) -> list[str]:
    """Fill the file in several ways; what went wrong."""
    with open_bytes(path) as file:
        original = file.read()
    troubles = []
    nothing: list[Segment | None] = [None] * len(document.gaps)
    if document.filled(nothing) != original:
        troubles.append("changed without a translation")
    new = [Segment((gap.source.text.strip("\n") + " [mt]",)) for gap in document.gaps]
    singles = [n for n, gap in enumerate(document.gaps) if alone(document, n)]
    random.Random(1).shuffle(singles)
    for number in islice(singles, SINGLE_FILLINGS):
        after = document.filled([*nothing[:number], new[number], *nothing[number + 1 :]])
        if not only_changed_in(document, number, original, after):
            troubles.append(f"more changed than line {document.gaps[number].line}")
    before_file, after_file = folder / "before.po", folder / "after.po"
    before_file.write_bytes(original)
    after_file.write_bytes(document.filled(new))
    return [*troubles, *misread(before_file, after_file), *complaints(before_file, after_file)]


def alone(document: Document, number: int) -> bool:
    """Whether a gap is the only one of its entry."""
    line = document.gaps[number].line
    return sum(gap.line == line for gap in document.gaps[max(0, number - 1) : number + 2]) == 1


def only_changed_in(document: Document, number: int, before: bytes, after: bytes) -> bool:
    """Whether the lines that differ lie between the entry before this one and the next."""
    old, new = before.split(b"\n"), after.split(b"\n")
    shorter = min(len(old), len(new))
    first = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    last = next((n for n in range(1, shorter) if old[-n] != new[-n]), shorter)
    line = document.gaps[number].line
    earlier = max((gap.line for gap in document.gaps if gap.line < line), default=0)
    later = min((gap.line for gap in document.gaps if gap.line > line), default=len(old) + 1)
    return earlier < first + 1 and len(old) - last + 1 < later


def misread(before: Path, after: Path) -> list[str]:
    """What polib finds other than it should."""
    encoding = read_header(before).encoding
    try:
        old, new = (polib.pofile(str(file), encoding=encoding) for file in (before, after))
    except (OSError, UnicodeDecodeError):
        return []  # not for polib, be it filled in or not
    if old.metadata != new.metadata or len(old) != len(new):
        return ["another header, or another number of entries"]
    return [
        f"line {two.linenum} reads otherwise"
        for one, two in zip(old, new, strict=True)
        if described(one) != described(two)
        or not (two.obsolete or not any(map(str.isalnum, two.msgid)) or filled(two))
    ][:3]


def described(entry: polib.POEntry) -> tuple[object, ...]:
    """All of an entry that filling leaves alone; what tells of an earlier source goes with the
    translation that was of it."""
    flags = [flag for flag in entry.flags if flag != "fuzzy"]
    return (
        entry.msgctxt, entry.msgid, entry.msgid_plural, entry.comment, entry.tcomment, flags,
        entry.occurrences, entry.obsolete,
    )  # fmt: skip


def filled(entry: polib.POEntry) -> bool:
    """Whether what stands there is what was meant, and says that nobody has gone over it."""
    texts = {0: entry.msgstr, **entry.msgstr_plural} if entry.msgid_plural else {0: entry.msgstr}
    sources = entry.msgid, entry.msgid_plural or entry.msgid
    return entry.fuzzy and all(
        text.strip("\n") in {source.strip("\n") + " [mt]" for source in sources}
        and text.endswith("\n") == sources[0].endswith("\n")
        for text in texts.values()
    )


def complaints(before: Path, after: Path) -> list[str]:
    """What msgfmt did not say before."""
    new = [said(after, *options) - said(before, *options) for options in ((), ("--use-fuzzy",))]
    return sorted(set().union(*new))[:3]


def said(file: Path, *options: str) -> set[str]:
    """The messages of `msgfmt -c`, without names and numbers of lines."""
    command = ["msgfmt", "-c", "-o", "/dev/null", *options, str(file)]
    result = subprocess.run(command, capture_output=True, check=False, env={"LC_ALL": "C.UTF-8"})
    lines = result.stderr.decode("utf-8", "replace").splitlines()
    messages = (re.sub(r"\S*\.po(:\d+)*: |\d+", "", line).strip() for line in lines)
    return {message for message in messages if "fatal error" not in message}


def main() -> int:
    """Examine all files, print, and say how many are in trouble."""
    options = parser(__doc__)
    add_data_option(options)
    add_record_option(options)
    asked = options.parse_args()
    folder = asked.data / "tm"
    with (folder / "expected.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["kind"] == "po"]
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = [examine(folder / "po" / row["file"], row, Path(scratch)) for row in rows]
    print(
        table(
            ("file", "encoding", " ".join(COUNTS), "filled", "argued or in trouble"),
            [(*one[:4], one.trouble or ARGUED.get(one.name, "")) for one in outcomes],
        )
    )
    in_trouble = sum(bool(one.trouble) for one in outcomes)
    figures = {
        "files": len(outcomes),
        "refused": sum(one.counts == "refused" for one in outcomes),
        "argued": len(ARGUED),
        "in_trouble": in_trouble,
        "filled": sum(int(one.filled or 0) for one in outcomes),
    }
    print(", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in figures.items()))
    write(asked.record, "po_agree", seeds=[1], figures=figures)
    return 1 if in_trouble else 0


if __name__ == "__main__":
    raise SystemExit(exit_status(main))
