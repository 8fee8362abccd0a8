"""Files that hold both sides, damaged at random: is each read or refused, and neither slowly?

Takes small files of each kind, changes a few bytes (flipped, deleted, repeated, cut off, pieces of
markup put in), then reads them for training and fills them in. It is a failure if there is an
exception that is not meant for users, if it takes more than a second of processor time, or if more
pairs have sides that do not belong together than changes were made (a change may join two units,
but must not shift those behind it).

Run: python benchmarks/fuzz_memories.py [--files 100000] [--seed 1] [--keep DIR] [--record FILE]
Exit status 1 if anything failed.
"""

import gzip
import random
import re
import signal
import time
import traceback
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from record import add_record_option, exit_status, parser, table, write

from headway.commands.filling import KINDS
from headway.errors import UserError
from headway.text.cleaning import Report
from headway.text.corpora import Corpus
from headway.text.memories.segments import Code, Segment
from headway.text.readers import READERS

LIMIT_S = 1.0
GIVE_UP_S = 20
MARKS = [f"k{n}x" for n in range(100, 130)]
"""Each stands on both sides of one unit."""

PIECES = [
    piece.encode()
    for piece in (
        "<",
        ">",
        "/>",
        "</seg>",
        "<seg>",
        "<tu>",
        "</tu>",
        "<g id='1'>",
        "</g>",
        "<mrk mtype='seg' mid='0'>",
        "<target/>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "&amp;",
        "&#0;",
        "&nbsp;",
        "&lt",
        '"',
        "'",
        "\x00",
        "\r",
        "\n\n",
        "\\",
        "\ufeff",
        "\U0001d400",
        'msgstr ""\n',
        "msgid_plural",
        "#~ ",
        "#, fuzzy\n",
        "\t",
        "{",
        "encoding='utf-16'",
        "<!DOCTYPE x [",
        "<?pi?>",
        "xml:lang='de'",
        "state='new'",
    )
]


def tmx_file() -> str:
    """A memory with codes, a third language, an empty target and one that is missing."""
    units = []
    for n, mark in enumerate(MARKS):
        german = f"<bpt i='1'>&lt;b></bpt>Satz<ept i='1'>&lt;/b></ept> {mark} ä"
        other = [
            f"<tuv xml:lang='de'><seg>{german}</seg></tuv>",
            "<tuv xml:lang='de'><seg/></tuv>",
            "<tuv xml:lang='fr'><seg>rien</seg></tuv>",
        ][max(0, n - 27)]
        units.append(
            f"<tu>\n  <tuv xml:lang='en'><seg>Text {mark} <ph x='1'/> <hi>so</hi></seg></tuv>\n"
            f"  {other}\n</tu>\n"
        )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
        f"<tmx version='1.4'><header srclang='en'/><body>\n{''.join(units)}</body></tmx>\n"
    )


def xliff_file() -> str:
    """Version 1.2 with groups, segments, an alternative and states."""
    units = []
    for n, mark in enumerate(MARKS):
        source = f"Text {mark} <g id='1'>so <x id='2'/></g>"
        target = f"<target state='translated'>Satz {mark} <g id='1'>so</g><x id='2'/></target>"
        cut = (
            f"<seg-source><mrk mtype='seg' mid='0'>Text {mark} </mrk> "
            "<mrk mtype='seg' mid='1'><g id='1'>so <x id='2'/></g></mrk></seg-source>"
        )
        units.append(
            f"<trans-unit id='{n}' approved='yes'>\n  <source>{source}</source>"
            f"{cut if n % 3 == 0 else ''}{target if n < 20 else ''}\n"
            "<alt-trans><target>nein</target></alt-trans></trans-unit>\n"
        )
    return (
        "<xliff version='1.2' xmlns='urn:oasis:names:tc:xliff:document:1.2'>"
        "<file source-language='en' target-language='de' original='a' datatype='plaintext'><body>"
        f"<group>\n{''.join(units)}</group></body></file></xliff>\n"
    )


def xliff_2_file() -> str:
    """Version 2 with native codes."""
    units = "".join(
        f"<unit id='{n}'><originalData><data id='d'>%s</data></originalData>\n<segment><source>"
        f"Text {mark} <ph id='1' dataRef='d'/><pc id='2'>so</pc></source>"
        f"<target>Satz {mark} <ph id='1' dataRef='d'/></target></segment></unit>\n"
        for n, mark in enumerate(MARKS)
    )
    return (
        "<xliff version='2.0' srcLang='en' trgLang='de' "
        f"xmlns='urn:oasis:names:tc:xliff:document:2.0'><file id='f'>\n{units}</file></xliff>\n"
    )


def po_file() -> str:
    """A catalogue with plural, fuzzy and obsolete entries."""
    entries = [
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: de\\n"\n'
    ]
    for n, mark in enumerate(MARKS):
        if n % 4 == 1:
            entries.append(
                f'msgid "Text {mark} %d"\nmsgid_plural "Texts {mark} %d"\n'
                f'msgstr[0] "Satz {mark} %d"\nmsgstr[1] "Sätze {mark} %d"\n'
            )
        else:
            flag = "#, fuzzy\n" if n % 4 == 2 else ""
            entries.append(f'{flag}msgid ""\n"Text {mark} "\n"%s\\n"\nmsgstr "Satz {mark} %s\\n"\n')
    return "\n".join([*entries, '#~ msgid "old"\n#~ msgstr "alt"\n'])


def table_file() -> str:
    """Rows of two languages, the last without a translation."""
    rows = [f"Text {mark}\tSatz {mark}" for mark in MARKS]
    return "\n".join(["en\tde", *rows[:-1], rows[-1].partition("\t")[0] + "\t"]) + "\n"


def lines_file() -> str:
    """An object a line."""
    return "".join(f'{{"en": "Text {mark}", "de": "Satz {mark}"}}\n' for mark in MARKS)


SEEDS = {
    ".tmx": [tmx_file().encode(), tmx_file().replace("UTF-8", "UTF-16").encode("utf-16")],
    ".xlf": [xliff_file().encode(), xliff_2_file().encode()],
    ".po": [po_file().encode(), po_file().replace("UTF-8", "latin-1").encode("latin-1")],
    ".tsv": [table_file().encode()],
    ".jsonl": [lines_file().encode()],
}


def damaged(data: bytes, n_changes: int, chance: random.Random) -> bytes:
    """The file with so many changes."""
    for _ in range(n_changes):
        place = chance.randrange(len(data) + 1)
        end = min(len(data), place + chance.randint(1, 30))
        change = chance.randrange(6)
        if change == 0:
            data = data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
        elif change == 1:
            data = data[:place] + data[end:]
        elif change == 2:
            data = (
                data[:place]
                + chance.choice(PIECES) * chance.choice([1, 1, 1, 3, 200])
                + data[place:]
            )
        elif change == 3:
            data = data[:end] + data[place:end] + data[end:]
        elif change == 4 and chance.random() < 0.2:
            data = data[:place]
        elif change == 5:
            data = data.replace(chance.choice([b"'", b"\n", b" ", b"id", b">"]), b"", 1)
    return data


def tried(path: Path, suffix: str, n_changes: int) -> str:
    """What became of a file: read, refused, or what is wrong."""
    started = time.process_time()
    try:
        pairs = list(READERS[suffix].pairs(path, Corpus(), Report()))
        shifted = [pair for pair in pairs if not together(pair.source, pair.target)]
        if len(shifted) > n_changes:
            return f"shifted by {n_changes} changes: {shifted}"[:1_000]
        document = KINDS[suffix](path, "en", "de", True)
        document.filled([translated(gap.source) for gap in document.gaps])
        outcome = "read"
    except UserError:
        outcome = "refused"
    except Exception:
        return traceback.format_exc()
    if time.process_time() - started > LIMIT_S:
        return f"took {time.process_time() - started:.1f} s"
    return outcome


def translated(source: Segment) -> Segment:
    """The codes in another order, so that nested ones may come out of step."""
    codes = [part for part in source.parts if isinstance(part, Code)]
    return Segment((*reversed(codes), "".join(p for p in source.parts if isinstance(p, str))))


def together(source: str, target: str) -> bool:
    """Whether the two may belong to the same unit."""
    left, right = (set(re.findall(r"k\d{3}x", side)) for side in (source, target))
    return not left or not right or bool(left & right)


def give_up(_signal: int, _frame: FrameType | None) -> None:
    """Break off what hangs."""
    raise TimeoutError(f"more than {GIVE_UP_S} s")


def main() -> int:
    """Damage, try, count; exit status 1 if anything failed."""
    options = parser(__doc__)
    options.add_argument("--files", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", type=Path, metavar="DIR", help="where files that fail are kept")
    add_record_option(options)
    asked = options.parse_args()
    chance = random.Random(asked.seed)
    counts: dict[str, Counter[str]] = {suffix: Counter() for suffix in SEEDS}
    failures = []
    signal.signal(signal.SIGALRM, give_up)
    with TemporaryDirectory() as folder:
        for number in range(asked.files):
            suffix = chance.choice(list(SEEDS))
            n_changes = chance.choice((1, 1, 1, 2, 3, 6))
            data = damaged(chance.choice(SEEDS[suffix]), n_changes, chance)
            packed = chance.random() < 0.05
            path = Path(folder) / f"file{suffix}{'.gz' if packed else ''}"
            path.write_bytes(gzip.compress(data, 1) if packed else data)
            signal.alarm(GIVE_UP_S)
            outcome = tried(path, suffix, n_changes)
            signal.alarm(0)
            failed = outcome not in ("read", "refused")
            counts[suffix]["failed" if failed else outcome] += 1
            if failed:
                failures.append(outcome)
                print(f"file {number}: {outcome}")
                if asked.keep:
                    asked.keep.mkdir(parents=True, exist_ok=True)
                    (asked.keep / f"{number}{path.name.removeprefix('file')}").write_bytes(
                        path.read_bytes()
                    )
    header = ("kind", "read", "refused", "failed")
    print(table(header, [(kind, *(n[name] for name in header[1:])) for kind, n in counts.items()]))
    figures = {kind: dict(n) for kind, n in counts.items()}
    write(asked.record, "fuzz_memories", seeds=[asked.seed], figures=figures)
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(exit_status(main))
