"""How long until `headway neighbours FILE word` answers, for a file of 3 million vectors?

A file in word2vec's binary format is written, of words that mean nothing with vectors that point
anywhere, the hardest to search. A process of its own reads it for the first time, then whole
commands ask for one word each, and what they say is compared with all cosines, made here of the
vectors themselves. With --gensim N the same by gensim in whole processes: the file is read by its
reader, and its own format mapped into memory.

It needs 2.3 times the file's 3.6 GB on the disk (3.4 with --gensim); all is removed at the end.
Exit status 1 where an answer is wrong, or the median of later commands is above 0.3 s.
Run: python benchmarks/vector_files.py [--rows 3000000] [--size 300] [--folder /tmp]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import record
from numpy.typing import NDArray

LIMIT_S = 0.3
TOP = 10
_CHUNK = 10_000
PEAK = 'print(next(line.split()[1] for line in open("/proc/self/status") if line[:5] == "VmHWM"))'
"""The most memory that a process had at once, in kB: the system's own figure knows its parent's."""
OPEN = f"""
import sys; from headway.vectors.files import open_vectors
open_vectors(sys.argv[1]); {PEAK}
"""
READ = f"""
import sys; from gensim.models import KeyedVectors
KeyedVectors.load_word2vec_format(sys.argv[1], binary=True).save(sys.argv[2]); {PEAK}
"""
ASK = """
import sys; from gensim.models import KeyedVectors
print(KeyedVectors.load(sys.argv[1], mmap="r").most_similar(sys.argv[2], topn=10))
"""


class Spent(NamedTuple):
    """What a whole process took."""

    wall_s: float
    cpu_s: float
    """Of all threads, the system's part with it."""
    said: str


def spent(command: Sequence[str], env: dict[str, str]) -> Spent:
    """Run a process to its end."""
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, env=env, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, list(command))
        out.seek(0)
        taken = time.perf_counter() - started
        return Spent(taken, usage.ru_utime + usage.ru_stime, out.read())


Times = dict[str, list[Spent]]


def words(n: int) -> list[str]:
    """Words of one to seven letters, each once."""
    letters = "etaoinshrdlucmfw"
    return ["".join(letters[int(digit, 16)] for digit in f"{row:x}") for row in range(n)]


def write(file: Path, names: Sequence[str], size: int) -> None:
    """The file, some rows at a time."""
    with file.open("wb") as out:
        out.write(f"{len(names)} {size}\n".encode())
        left = iter(names)
        for vectors in _rows(len(names), size):
            pairs = zip(vectors, left, strict=False)
            out.write(b"".join(f"{name} ".encode() + one.tobytes() + b"\n" for one, name in pairs))


def nearest(rows: int, size: int, asked: Sequence[int]) -> list[list[int]]:
    """The rows nearest to some of those that `write` wrote, by all cosines in float64."""
    queries = np.zeros((len(asked), size))
    for place, vectors in enumerate(_rows(rows, size)):
        for query, row in enumerate(asked):
            if row // _CHUNK == place:
                queries[query] = vectors[row % _CHUNK]
    queries /= np.linalg.norm(queries, axis=1)[:, None]
    cosines = np.concatenate(
        [
            (some @ queries.T) / np.linalg.norm(some, axis=1)[:, None]
            for some in (vectors.astype(np.float64) for vectors in _rows(rows, size))
        ]
    )
    cosines[list(asked), range(len(asked))] = -1
    return [np.argsort(-of_one, kind="stable")[:TOP].tolist() for of_one in cosines.T]


def _rows(rows: int, size: int) -> Iterator[NDArray[np.float32]]:
    """The vectors that `write` wrote."""
    random = np.random.default_rng(1)
    for begin in range(0, rows, _CHUNK):
        yield random.standard_normal((min(_CHUNK, rows - begin), size), dtype=np.float32)


def answers(said: str) -> list[str]:
    """The words that the command printed."""
    return [one["word"] for one in json.loads(said)["neighbours"]]


def ours(file: Path, asked: Sequence[str], before: list[str], env: dict[str, str]) -> Times:
    """The first reading, the first command behind it, and the others."""
    headway = shutil.which("headway", path=str(Path(sys.executable).parent))
    ask = [*([headway] if headway else [sys.executable, "-m", "headway"]), "neighbours", str(file)]
    first = spent([sys.executable, "-c", OPEN, str(file)], env)
    later = [spent([*before, *ask, word, "--top", str(TOP), "--json"], env) for word in asked]
    return {"reading": [first], "first command": later[:1], "later commands": later[1:]}


def gensims(file: Path, asked: Sequence[str], before: list[str], env: dict[str, str]) -> Times:
    """The same by gensim, which maps only its own format."""
    own = str(file.with_suffix(".kv"))
    first = spent([sys.executable, "-c", READ, str(file), own], env)
    later = [spent([*before, sys.executable, "-c", ASK, own, word], env) for word in asked]
    return {"reading": [first], "first command": later[:1], "later commands": later[1:]}


def main() -> int:
    """Measure, print, record; exit status 1 if an answer is wrong or the limit is missed."""
    parser = record.parser(__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000, metavar="N")
    parser.add_argument("--size", type=int, default=300, metavar="N", help="of a vector")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), metavar="DIR")
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="words that are asked")
    parser.add_argument("--gensim", type=int, default=0, metavar="N", help="words asked of gensim")
    parser.add_argument("--before", default="", help='in front of each command, as "chrt -f 1"')
    record.add_record_option(parser)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        file, env = Path(folder, "vectors.bin"), {**os.environ, "HEADWAY_CACHE": f"{folder}/cache"}
        names = words(asked.rows)
        write(file, names, asked.size)
        rows = np.random.default_rng(2).choice(asked.rows, asked.runs, replace=False).tolist()
        chosen = [names[row] for row in rows]
        before = asked.before.split()
        found = {"headway": ours(file, chosen, before, env)}
        if asked.gensim:
            found["gensim"] = gensims(file, chosen[: asked.gensim], before, env)
        size_mb = file.stat().st_size / 1e6
    _, *commands = chain(*found["headway"].values())
    said = [one.said for one in commands]
    expected = nearest(asked.rows, asked.size, rows)
    right = [answers(one) for one in said] == [[names[row] for row in of] for of in expected]
    table, figures = [], dict[str, dict[str, list[float]]]()
    for program, times in found.items():
        for what, runs in times.items():
            wall = [one.wall_s for one in runs]
            middle = [f"{median(one[at] for one in runs):.3f}" for at in (0, 1)]
            peak = f"{int(runs[0].said) / 1024:,.0f}" if what == "reading" else ""
            table.append([program, what, *middle, f"{min(wall):.3f} to {max(wall):.3f}", peak])
            figures.setdefault(program, {})[what] = [round(one, 4) for one in wall]
    header = ["program", "what", "median s", "processor s", "from least to most s", "peak MB"]
    print(record.table(header, table))
    later = median(one.wall_s for one in found["headway"]["later commands"])
    print(f"\n{size_mb:,.0f} MB; answers right: {right}; within {LIMIT_S} s: {later <= LIMIT_S}")
    how = {"rows": asked.rows, "size": asked.size, "answers_right": right, "table": table}
    record.write(asked.record, "vector_files", seeds=[1, 2], figures={**how, "wall_s": figures})
    return 0 if right and later <= LIMIT_S else 1


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
