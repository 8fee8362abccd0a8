"""Small files of every kind, filled in and read back: does every untouched byte stay?

For each file of `format_samples.py`:
- filled with nothing, it comes back byte for byte;
- filled in one place, nothing changes outside of that unit's lines;
- filled everywhere, each translation stands in it once for each of its gaps, an independent parser
  (xml.etree, json, csv) reads the file, and opened again every gap has what was put there.

Run: python benchmarks/formats_small.py [--record FILE]
Exit status 1 if anything is otherwise.
"""

import csv
import io
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from format_samples import SAMPLES
from formats_agree import n_same
from record import add_record_option, exit_status, parser, table, write

from headway.localization.formats.file_kinds import KEYED
from headway.localization.formats.fillers import FILLERS
from headway.localization.placeholders.segments import Code, Document, Segment


class Outcome(NamedTuple):
    """One file's row of the table."""

    kind: str
    size: int
    units: int
    filled: int
    trouble: str


def decoded(data: bytes) -> str:
    """A file as text; the byte order mark stays, so that it is compared too."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16-le" if data[:1] == b"\xff" else "utf-16-be")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def pseudo(source: Segment, number: int) -> Segment:
    """A text that tells whose it is, with every code of the source."""
    codes = (part for part in source.parts if isinstance(part, Code))
    return Segment((f"T{number:03}t é ", *codes))


def examine(suffix: str, data: bytes, folder: Path) -> Outcome:
    """Fill a file in several ways."""
    path = folder / f"a{suffix}"
    path.write_bytes(data)
    alone = suffix in KEYED
    document = FILLERS[suffix](path, "en", "ru" if alone else "de", True)
    new = [pseudo(gap.source, n) for n, gap in enumerate(document.gaps)]
    troubles = []
    nothing: list[Segment | None] = [None] * len(new)
    if document.filled(nothing) != data:
        troubles.append("changed without a translation")
    for number in range(len(new)):
        one = [*nothing[:number], new[number], *nothing[number + 1 :]]
        if not only_here(document, number, decoded(data), decoded(document.filled(one))):
            troubles.append(f"more changed than line {document.gaps[number].line}")
    after = document.filled(new)
    text = decoded(after)
    troubles += [
        f"T{n:03}t is there {text.count(f'T{n:03}t')} times"
        for n in range(len(new))
        if text.count(f"T{n:03}t") != 1
    ]
    path.write_bytes(after)
    troubles += unread(suffix, text, after)
    again = FILLERS[suffix](path, "en", "ru" if alone else "de", True)
    read = [gap.source if alone else gap.there for gap in again.gaps]
    found = [one.text.split()[0] if one else "" for one in read]
    if sorted(found) != sorted(f"T{n:03}t" for n in range(len(new))):
        troubles.append("read back otherwise")
    return Outcome(suffix, len(data), document.counts.units, len(new), "; ".join(troubles[:4]))


def only_here(document: Document, number: int, old: str, new: str) -> bool:
    """Whether all that differs lies between the lines of this unit and the next one's."""
    if old == new:
        return True  # one of several plural forms alone changes nothing
    same_start = n_same(old, new)
    same_end = n_same(old[same_start:][::-1], new[same_start:][::-1])
    line = document.gaps[number].line
    later = [gap.line for gap in document.gaps if gap.line > line]
    first = old.count("\n", 0, same_start) + 1
    last = old.count("\n", 0, len(old) - same_end) + 1
    # a comment of flags stands in front of an entry's first keyword; a sentence has several cues
    return line - 2 <= first and (not later or last <= min(later))


def unread(suffix: str, text: str, data: bytes) -> Sequence[str]:
    """What an independent parser cannot read."""
    text = text.removeprefix("\ufeff")
    try:
        if suffix in (".tmx", ".xlf", ".sdlxliff", ".mqxliff", ".ts", ".resx"):
            ElementTree.fromstring(data)
        elif suffix in (".json", ".arb"):
            json.loads(text)
        elif suffix == ".jsonl":
            for line in text.splitlines():
                json.loads(line)
        elif suffix == ".csv":
            sign = ";" if ";" in text[:20] else ","
            widths = {len(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=sign)}
            if len(widths) > 1:
                return ["rows of different lengths"]
    except (ValueError, ElementTree.ParseError) as error:
        return [f"not read by another parser: {error}"]
    return []


def main() -> int:
    """Examine all files, print, and say how many are in trouble."""
    options = parser(__doc__)
    add_record_option(options)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = [
            examine(suffix, data, Path(folder)) for suffix, some in SAMPLES.items() for data in some
        ]
    print(table(Outcome._fields, [tuple(map(str, outcome)) for outcome in outcomes]))
    in_trouble = sum(bool(outcome.trouble) for outcome in outcomes)
    figures = {
        "files": len(outcomes),
        "in_trouble": in_trouble,
        "units": sum(outcome.units for outcome in outcomes),
        "filled": sum(outcome.filled for outcome in outcomes),
    }
    print(", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in figures.items()))
    write(asked.record, "formats_small", seeds=[], figures=figures)
    return 1 if in_trouble else 0


if __name__ == "__main__":
    raise SystemExit(exit_status(main))
