"""Translation files of every kind, damaged at random: is each read or refused, and neither slowly?

Takes a small file of each kind (`format_samples.py`), changes a few bytes (flipped, deleted,
repeated, cut off, pieces of markup put in), then reads them for training and fills them in. It is a
failure if there is an exception that is not meant for users, if it takes more than a second of
processor time, or if more pairs have sides that do not belong together than changes were made (a
change may join two units, but must not shift those behind it).

Run: python benchmarks/fuzz_formats.py [--files 100000] [--seed 1] [--kind .po] [--keep DIR]
     [--record FILE]
Exit status 1 if anything failed.
"""

import gzip
import random
import re
import signal
import time
import traceback
from collections import Counter
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from zipfile import ZipFile

from format_samples import SAMPLES
from record import add_record_option, exit_status, parser, table, write

from headway.core.cleaning import Report
from headway.core.errors import UserError
from headway.corpora.corpus import Corpus
from headway.localization.formats.branches import branches_of
from headway.localization.formats.file_kinds import keyed, opener_of, paired, reader_of
from headway.localization.placeholders.segments import Code, Segment

LIMIT_S = 1.0
GIVE_UP_S = 20
PIECES = [
    piece.encode()
    for piece in (
        "<", ">", "/>", "</seg>", "<seg>", "<tu>", "</tu>", "<g id='1'>", "</g>",
        "<mrk mtype='seg' mid='0'>", "<target/>", "<!--", "-->", "<![CDATA[", "]]>", "&amp;",
        "&#0;", "&nbsp;", "&lt", '"', "'", "\x00", "\r", "\n\n", "\\", "\ufeff", "\U0001d400",
        'msgstr ""\n', "msgid_plural", "#~ ", "#, fuzzy\n", "\t", "{", "encoding='utf-16'",
        "<!DOCTYPE x [", "<?pi?>", "xml:lang='de'", "state='new'", ",", ";", "=", "}", "|",
        "{n, plural, one {", "other {}}", "<numerusform>", "<translation>", "<value>", " --> ",
        "\n00:00:01,000 --> 00:00:02,000\n", "*/", "/*", "\\u12", "locked='true'",
    )
]  # fmt: skip


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


def damaged_word(data: bytes, n_changes: int, chance: random.Random) -> bytes:
    """A document of Word with so many changes: of its text, or of the archive."""
    if chance.random() < 0.3:
        return damaged(data, n_changes, chance)
    packed = BytesIO()
    with ZipFile(BytesIO(data)) as old, ZipFile(packed, "w") as new:
        for name in old.namelist():
            whole = old.read(name)
            new.writestr(name, damaged(whole, n_changes, chance) if "document" in name else whole)
    return packed.getvalue()


def tried(path: Path, suffix: str, n_changes: int) -> str:
    """What became of a file: read, refused, or what is wrong."""
    started = time.process_time()
    try:
        if suffix in keyed():
            for _ in opener_of(path)(path, None, None, False).texts:
                pass
        elif suffix in paired():
            pairs = list(reader_of(path).pairs(path, Corpus(), Report()))
            shifted = [pair for pair in pairs if not together(pair.source, pair.target)]
            if len(shifted) > n_changes:
                return f"shifted by {n_changes} changes: {shifted}"[:1_000]
        document = opener_of(path)(path, "en", "ru" if suffix in keyed() else "de", True)
        for gap in document.gaps:
            if branches := branches_of(gap.source, "ru"):
                branches.together(branches.sources)
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
    options.add_argument("--kind", default="", choices=list(SAMPLES), help="only this kind")
    options.add_argument("--keep", type=Path, metavar="DIR", help="where files that fail are kept")
    add_record_option(options)
    asked = options.parse_args()
    chance = random.Random(asked.seed)
    kinds = [kind for kind in SAMPLES if asked.kind in ("", kind)]
    counts: dict[str, Counter[str]] = {suffix: Counter() for suffix in kinds}
    failures = []
    signal.signal(signal.SIGALRM, give_up)
    with TemporaryDirectory() as folder:
        for number in range(asked.files):
            suffix = chance.choice(kinds)
            n_changes = chance.choice((1, 1, 1, 2, 3, 6))
            change = damaged_word if suffix == ".docx" else damaged
            data = change(chance.choice(SAMPLES[suffix]), n_changes, chance)
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
    write(asked.record, "fuzz_formats", seeds=[asked.seed], figures=figures)
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(exit_status(main))
