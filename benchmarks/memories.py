"""Translation memories: how fast are they read, in how much memory, and what do hostile files cost?

Generates a TMX of about 100 MB (made-up words, a fifth of the units with inline codes) and XML made
to do harm, and reads each in a process of its own as `headway train` would. Prints units a second
of processor time and megabytes above the imports; what does harm has to be refused within a second
and 100 MB. Run: python benchmarks/memories.py [--megabytes 100] [--folder DIR] [--record FILE]
Exit status 1 if a limit is missed.
"""

import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from record import add_record_option, exit_status, parser, table, write

LEAST_UNITS_PER_S = 50_000
MEMORY_LIMIT_MB = 150
REFUSED_WITHIN_S = 1.0
REFUSED_WITHIN_MB = 100
HEAD = b'<?xml version="1.0"?>\n<tmx version="1.4"><header srclang="en"/><body>\n'
UNIT = b"<tu><tuv xml:lang='en'><seg>a</seg></tuv><tuv xml:lang='de'><seg>b</seg></tuv></tu>\n"
HUGE = 300
"""Megabytes of what has no end."""


def generate(path: Path, megabytes: int) -> None:
    """Write a memory of about so many megabytes, 6 to 18 words a side."""
    chance = random.Random(1)
    onsets, vowels = "bdfgklmnprstvz", ["a", "e", "i", "o", "u", "ä", "é"]
    words = [
        "".join(chance.choice(onsets) + chance.choice(vowels) for _ in range(chance.randint(1, 4)))
        for _ in range(20_000)
    ]

    def text(coded: bool) -> str:
        drawn = chance.choices(words, k=chance.randint(6, 18))
        if coded:
            drawn[2] = f'<bpt i="1">&lt;b&gt;</bpt>{drawn[2]}<ept i="1">&lt;/b&gt;</ept>'
        return " ".join(drawn)

    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n')
        file.write('<tmx version="1.4">\n  <header srclang="en"/>\n  <body>\n')
        n_units = 0
        while file.tell() < megabytes * 1_000_000:
            n_units += 1
            coded = n_units % 5 == 0
            file.write(
                f'    <tu>\n      <tuv xml:lang="en">\n        <seg>{text(coded)}</seg>\n'
                '      </tuv>\n      <tuv xml:lang="de" changeid="me" usagecount="7">\n'
                f"        <seg>{text(coded)}</seg>\n      </tuv>\n    </tu>\n"
            )
        file.write("  </body>\n</tmx>\n")


def _repeated(piece: bytes, megabytes: int = HUGE) -> Iterator[bytes]:
    for _ in range(megabytes):
        yield piece * (1_000_000 // len(piece))


def _bomb() -> Iterator[bytes]:
    """Ten entities, each of which is ten of the one before."""
    declared = b"".join(
        b'<!ENTITY e%d "%b">' % (level, b"&e%d;" % (level - 1) * 10) for level in range(1, 11)
    )
    yield b'<!DOCTYPE tmx [<!ENTITY e0 "ha">%b]><tmx>&e10;</tmx>' % declared


HOSTILE: dict[str, Callable[[], Iterator[bytes]]] = {
    "entity bomb": _bomb,
    "internal subset": lambda: iter([b"<!DOCTYPE tmx [<!ELEMENT tmx ANY>]><tmx/>"]),
    "external entity": lambda: iter(
        [b'<!DOCTYPE tmx [<!ENTITY e SYSTEM "file:///etc/passwd">]><tmx>&e;</tmx>']
    ),
    "undeclared entity": lambda: iter([b'<!DOCTYPE tmx SYSTEM "t.dtd"><tmx>&e;</tmx>']),
    "200,000 levels": lambda: iter([HEAD, b"<a>" * 200_000]),
    "endless attribute": lambda: iter([HEAD, b'<tu a="', *_repeated(b"x")]),
    "endless attributes": lambda: iter([HEAD, b"<tu ", *_repeated(b"a='' ")]),
    "endless text": lambda: iter([HEAD, b"<tu><tuv xml:lang='en'><seg>", *_repeated(b"x")]),
    "endless comment": lambda: iter([HEAD, b"<!--", *_repeated(b"x")]),
    "endless codes": lambda: iter([HEAD, b"<tu><tuv xml:lang='en'><seg>", *_repeated(b"<ph/>x")]),
    "endless unit": lambda: iter([HEAD, b"<tu>", *_repeated(b"<tuv><seg/></tuv>")]),
    "cut off": lambda: iter([HEAD, UNIT * 1_000, UNIT[:40]]),
    "wrong encoding": lambda: iter([HEAD, UNIT * 1_000, "ä".encode("latin-1")]),
    "UTF-16 declared only": lambda: iter([b"<?xml version='1.0' encoding='UTF-16'?><tmx/>"]),
    "encoding is zlib": lambda: iter([b"<?xml version='1.0' encoding='zlib'?><tmx/>"]),
}


def memory_mb() -> tuple[float, float]:
    """Resident memory of this process: now, and at its highest."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    now, highest = (int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
    return now, highest


def measure(path: Path) -> dict[str, float | str]:
    """Read once, in this process."""
    from headway.core.cleaning import Report
    from headway.core.errors import DataError
    from headway.corpora.corpus import Corpus
    from headway.localization.formats.file_kinds import reader_of

    before, _ = memory_mb()
    started, report, refused = time.process_time(), Report(), ""
    try:
        n_pairs = sum(1 for _ in reader_of(path).pairs(path, Corpus(), report))
    except DataError as error:
        n_pairs, refused = 0, str(error)
    cpu_s = time.process_time() - started
    return {
        "pairs": n_pairs,
        "units": report.read,
        "cpu_s": round(cpu_s, 3),
        "units_per_s": round(report.read / cpu_s),
        "peak_mb_above_imports": round(memory_mb()[1] - before, 1),
        "refused": refused,
    }


def measured(path: Path) -> dict[str, float | str]:
    """The same in a fresh process."""
    command = [sys.executable, __file__, "--measure", str(path)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=os.environ)
    return dict(json.loads(result.stdout))


def main() -> int:
    """Generate, measure, print; exit status 1 if a limit is missed."""
    options = parser(__doc__)
    options.add_argument("--megabytes", type=int, default=100)
    options.add_argument("--folder", type=Path, help="for the generated files")
    options.add_argument("--measure", type=Path, help="only read this file")
    add_record_option(options)
    asked = options.parse_args()
    if asked.measure:
        print(json.dumps(measure(asked.measure)))
        return 0
    figures: dict[str, dict[str, float | str]] = {}
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        memory = Path(folder) / "large.tmx"
        generate(memory, asked.megabytes)
        figures["large"] = measured(memory)
        memory.unlink()
        for name, pieces in HOSTILE.items():
            path = Path(folder) / "hostile.tmx.gz"
            with gzip.open(path, "wb", compresslevel=1) as file:
                file.writelines(pieces())
            figures[name] = measured(path)
    header = ("pairs", "units", "cpu_s", "units_per_s", "peak_mb_above_imports", "refused")
    print(table(("file", *header), [(n, *(f[h] for h in header)) for n, f in figures.items()]))
    write(asked.record, "memories", seeds=[1], figures=figures)
    large = figures.pop("large")
    fast = float(large["units_per_s"]) >= LEAST_UNITS_PER_S
    small = float(large["peak_mb_above_imports"]) < MEMORY_LIMIT_MB
    harmless = all(
        f["refused"]
        and float(f["cpu_s"]) < REFUSED_WITHIN_S
        and float(f["peak_mb_above_imports"]) < REFUSED_WITHIN_MB
        for f in figures.values()
    )
    refused = f"refused within {REFUSED_WITHIN_S:g} s and {REFUSED_WITHIN_MB} MB: {harmless}"
    print(
        f"{LEAST_UNITS_PER_S:,} units/s: {fast}; under {MEMORY_LIMIT_MB} MB: {small}; "
        f"hostile files {refused}"
    )
    return 0 if fast and small and harmless else 1


if __name__ == "__main__":
    raise SystemExit(exit_status(main))
