"""A translation memory: its index, look-ups, what is found and what is filled in.

Generates units of made-up words (their frequencies as in natural text; some with numbers and
codes), and measures in a process of its own: seconds to read them and to build the index, memory,
milliseconds of one look-up; limits hold for processor time, as other work may be beside it.
Compares near matches in a smaller memory with those that brute force finds. With --data, empties
every unit of real files (tm/), fills it from the file's own memory and reads the file again. Run:
python benchmarks/translation_memory.py [--units 1000000] [--data DIR] [--record FILE]
Exit status 1 if a limit is missed.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from record import add_record_option, exit_status, parser, table, write

BUILT_WITHIN_S, MEMORY_LIMIT_MB, MEDIAN_LIMIT_MS = 60.0, 1_000, 5.0
N_QUERIES = 1_000
N_WORDS = 200_000
RECALL_UNITS, RECALL_QUERIES, RECALL_AT = 100_000, 200, (85, 70)
SEED = 1


class Writer:
    """Writes units of made-up words, the n-th most frequent one 1/n as often as the first."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        onsets, vowels = "bdfgklmnprstvz", [*"aeiouaeiouaeiouäé"]
        draw = self.chance.choice
        self.words = [
            "".join(draw(onsets) + draw(vowels) for _ in range(self.chance.randint(1, 5)))
            for _ in range(N_WORDS)
        ]
        self._weights = list(accumulate(1 / n for n in range(1, N_WORDS + 1)))

    def drawn(self, n: int) -> list[str]:
        """So many words."""
        return self.chance.choices(self.words, cum_weights=self._weights, k=n)

    def unit(self) -> str:
        """2 to 25 words, in one of ten a number, in one of ten a code."""
        words = self.drawn(self.chance.randint(2, 25))
        kind = self.chance.random()
        if kind < 0.1:
            words[self.chance.randrange(len(words))] = str(self.chance.randint(2, 2_000))
        elif kind < 0.2:
            words[self.chance.randrange(len(words))] = self.chance.choice(("%s", "<b>", "{name}"))
        return " ".join(words)

    def edited(self, text: str) -> str:
        """The same text with up to a fifth of its words put in, taken out or changed."""
        words = text.split()
        for _ in range(self.chance.randint(0, max(1, len(words) // 5))):
            place = self.chance.randrange(len(words) + 1)
            words[place : place + self.chance.randint(0, 1)] = self.drawn(self.chance.randint(0, 1))
            words = words or ["x"]
        return " ".join(words)


def generate(path: Path, n_units: int) -> None:
    """Write a table of units and their translations."""
    writer = Writer(SEED)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for _ in range(n_units):
            source = writer.unit()
            file.write(f"{source}\t{source[::-1]}\n")


def measure(path: Path) -> dict[str, float]:
    """Read, build, keep and look up, in this process."""
    from headway.languages.codes import LanguagePair
    from headway.localization.formats.units import Unit
    from headway.localization.memory.building import cached_memory
    from headway.localization.memory.memory import Memory
    from headway.localization.placeholders.segments import Segment

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, started = time.process_time(), time.perf_counter()
    memory = cached_memory([path], LanguagePair(), root=path.parent / "cache")
    built_s, built_cpu_s = time.perf_counter() - started, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    memory = cached_memory([path], LanguagePair(), root=path.parent / "cache")
    opened_s = time.perf_counter() - started
    writer, chance = Writer(SEED + 1), random.Random(SEED)
    chosen = [chance.randrange(len(memory)) for _ in range(N_QUERIES)]
    queries = [writer.edited(memory.store.entries.entry(number).source) for number in chosen]
    units = [Unit(Segment((query,))) for query in queries]
    memory.near(units[0])  # loads what is loaded once

    def timed(look_up: Any, clock: Callable[[], float]) -> list[float]:
        times = []
        for unit in units:
            at = clock()
            look_up(memory, unit)
            times.append(1_000 * (clock() - at))
        return sorted(times)

    near, exact = (timed(look_up, time.process_time) for look_up in (Memory.near, Memory.exact))
    by_the_wall = timed(Memory.near, time.perf_counter)
    kept = sum(file.stat().st_size for file in path.parent.glob("cache/memory-*/*"))
    return {
        "units": len(memory),
        "built_s": round(built_s, 1),
        "built_cpu_s": round(built_cpu_s, 1),
        "peak_mb_above_imports": round((peak - before) / 1024),
        "on_disk_mb": round(kept / 1e6),
        "opened_s": round(opened_s, 2),
        "near_median_cpu_ms": round(near[N_QUERIES // 2], 2),
        "near_95_cpu_ms": round(near[N_QUERIES * 95 // 100], 2),
        "near_median_ms": round(by_the_wall[N_QUERIES // 2], 2),
        "exact_median_cpu_ms": round(exact[N_QUERIES // 2], 3),
    }


def measured(path: Path) -> dict[str, float]:
    """The same in a fresh process."""
    command = [sys.executable, __file__, "--measure", str(path)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return dict(json.loads(result.stdout))


def recall() -> list[dict[str, int]]:
    """Near matches that are found, and that brute force finds."""
    from rapidfuzz.distance import Levenshtein

    from headway.localization.memory.index import Keys

    writer = Writer(SEED + 2)
    texts = [" ".join(writer.drawn(writer.chance.randint(2, 25))) for _ in range(RECALL_UNITS)]
    queries = [writer.edited(writer.chance.choice(texts)) for _ in range(RECALL_QUERIES)]
    keys = Keys()
    for text in texts:
        keys.add(text.split())
    index, key_of = keys.index()
    letters = {word: chr(0x4E00 + n) for n, word in enumerate(dict.fromkeys(writer.words))}
    coded = ["".join(letters[word] for word in text.split()) for text in texts]
    found = [{"at": at, "true": 0, "found": 0, "wrong": 0} for at in RECALL_AT]
    for query in queries:
        code = "".join(letters.get(word, "?") for word in query.split())
        alike = []
        for text in coded:
            most = max(len(text), len(code)) * (100 - min(RECALL_AT)) // 100
            n_edits = Levenshtein.distance(code, text, score_cutoff=most)
            if n_edits <= most:
                alike.append(100 - 100 * n_edits / max(len(text), len(code)))
            else:
                alike.append(0)
        for row in found:
            true = {int(key_of[n]) for n, score in enumerate(alike) if score >= row["at"]}
            near = {one.key for one in index.near(query.split(), row["at"])}
            row["true"] += len(true)
            row["found"] += len(true & near)
            row["wrong"] += len(near - true)
    return found


def real_files(folder: Path) -> Iterator[dict[str, Any]]:
    """Files whose every unit is emptied and filled from the file's own memory."""
    from headway.core.errors import HeadwayError
    from headway.languages.codes import LanguagePair
    from headway.localization.memory.building import memory_of

    for path in sorted(folder.rglob("*.*")):
        try:
            memory = memory_of([path], LanguagePair())
        except HeadwayError:
            continue
        if len(memory):
            yield {"file": path.name, **_filled_from(path, memory)}


def _filled_from(path: Path, memory: Any) -> dict[str, int]:
    from headway.languages.codes import LanguagePair
    from headway.localization.formats.file_kinds import opener_of
    from headway.localization.memory.building import memory_of, wanted_languages
    from headway.localization.memory.memory import Memories
    from headway.localization.memory.words import normal
    from headway.localization.placeholders.segments import Segment

    languages = wanted_languages([path], LanguagePair())
    document = opener_of(path)(path, *languages, True)
    entries = [memory.store.entries.entry(number) for number in range(len(memory))]
    known = {entry.source for entry in entries}
    memories = Memories([memory])
    matches = [memories.exact(gap) for gap in document.gaps]
    expected = sum(normal(gap.source.text) in known for gap in document.gaps)
    taken: Sequence[Segment | None] = [match.target if match else None for match in matches]
    data = document.filled(taken, [100 if segment else None for segment in taken])
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / path.name.removesuffix(".gz")
        again.write_bytes(data)
        read = memory_of([again], languages)
    return {
        "units": len(document.gaps),
        "with_exact": expected,
        "found": sum(match is not None for match in matches),
        "in_context": sum(bool(one and one.in_context) for one in map(memory.exact, document.gaps)),
        "read_back": len(read),
        "read_before": len(memory),
    }


def main() -> int:
    """Generate, measure, print; exit status 1 if a limit is missed."""
    options = parser(__doc__)
    options.add_argument("--units", type=int, default=1_000_000)
    options.add_argument("--data", type=Path, metavar="DIR", help="folder that holds tm/")
    options.add_argument("--folder", type=Path, help="for the generated files")
    options.add_argument("--measure", type=Path, help="only read this file and look things up")
    add_record_option(options)
    asked = options.parse_args()
    if asked.measure:
        print(json.dumps(measure(asked.measure)))
        return 0
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        path = Path(folder) / "memory.tsv"
        generate(path, asked.units)
        index = measured(path)
    print(table(list(index), [list(index.values())]))
    found = recall()
    print(table(list(found[0]), [list(row.values()) for row in found]))
    files = list(real_files(asked.data / "tm")) if asked.data else []
    total = (
        {name: sum(file[name] for file in files) for name in files[0] if name != "file"}
        if files
        else {}
    )
    if files:
        print(table(("files", *total), [(len(files), *total.values())]))
    write(
        asked.record,
        "translation_memory",
        seeds=[SEED],
        figures={"index": index, "recall": found, "files": total},
    )
    good = (
        index["built_cpu_s"] <= BUILT_WITHIN_S
        and index["peak_mb_above_imports"] <= MEMORY_LIMIT_MB
        and index["near_median_cpu_ms"] <= MEDIAN_LIMIT_MS
        and all(row["found"] >= 0.99 * row["true"] and not row["wrong"] for row in found)
        and all(file["found"] == file["with_exact"] for file in files)
    )
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(exit_status(main))
