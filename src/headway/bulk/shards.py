"""The folder that shards are written to, and what is noted there of each: `DIR/.headway/`."""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from gzip import GzipFile
from pathlib import Path
from typing import Any, NamedTuple

from headway.bulk.attempts import BlockOutput
from headway.core.disk import (
    DiskError,
    checksum,
    clear_asides,
    disk_errors,
    whole_text,
    write_text,
    written_aside,
)
from headway.core.errors import ConfigError, DataError
from headway.operations.locks import TakenError, only_writer
from headway.operations.turns import alone

_MANY = 10
_SHARE = 0.1
"""Of a shard's lines: with more than so many blank, and more than this share, it is no text."""
MOST_NUMBERED = 100_000
"""Files of a job, and shards of a file: with more, the names would be out of order."""
_LEVEL = 6
"""Of gzip: twice as quick as its default, and 2% larger."""


class Shard(NamedTuple):
    file: int
    """Place of its file in the job, from 0."""
    number: int
    """Of the shard in its file, from 0."""
    source: Path

    @property
    def key(self) -> str:
        return f"{self.file:05}-{self.number:05}"

    @property
    def name(self) -> str:
        """Alphabetical order is the order of the lines; the end is the name of the file."""
        return f"{self.key}.{self.source.name}"


class ShardWriter:
    """The translations of one shard, as they come; nobody else writes it meanwhile."""

    def __init__(self, shard: Shard, place: Path, receipt: Path, lock: ExitStack) -> None:
        """`lock` is held from then on, by the writer alone."""
        self.shard, self._place, self._receipt = shard, place, receipt
        self._written = ExitStack()
        tries = _noted(receipt).get("tries", 0) + 1
        self._noted: dict[str, Any] = {"tries": tries, "lines": 0, "cut": 0}
        self._blank: list[tuple[int, str]] = []
        self._began = time.monotonic()
        for file in (receipt, place):
            clear_asides(file.parent, file.name)
        write_text(receipt, json.dumps({"tries": tries}))
        aside = self._written.enter_context(written_aside(place))
        raw = self._written.enter_context(aside.open("wb"))
        self._file: Any = raw
        if place.suffix.lower() == ".gz":
            packed = GzipFile("", "wb", _LEVEL, raw, mtime=0)
            self._file = self._written.enter_context(packed)
        self._lock = lock.pop_all()

    def add(self, made: BlockOutput) -> None:
        """Write the next lines down."""
        self._blank += ((self._noted["lines"] + line, why) for line, why in made.blank)
        self._noted["lines"] += made.n_lines
        self._noted["cut"] += made.n_cut
        with disk_errors(self._place):
            self._file.write(made.text)

    def finish(self) -> None:
        """Have the shard take its place, and note what it is.

        Raises:
            DataError: so many of its lines are blank, or all of several, that this is no text.
            DiskError: it cannot be written.
        """
        n_blank, n_lines = len(self._blank), self._noted["lines"]
        if n_blank > max(1, min(_MANY, n_lines - 1), _SHARE * n_lines):
            self.discard()
            line, why = self._blank[0]
            raise DataError(
                f"a line that cannot be translated is left blank, but {n_blank:,} of the "
                f"{n_lines:,} lines of shard {self.shard.name} cannot ({line + 1:,}: {why}). "
                "If it is text of another encoding, convert it: iconv -f ENCODING -t UTF-8"
            )
        self._written.close()
        with self._lock:
            found = {
                **self._noted,
                "bytes": self._place.stat().st_size,
                "sha256": checksum(self._place),
                "seconds": round(time.monotonic() - self._began, 1),
                "blank": self._blank,
            }
            write_text(self._receipt, json.dumps(found))

    def discard(self) -> None:
        """Leave nothing of it; once it is finished that changes nothing."""
        with self._lock, suppress(GeneratorExit, DiskError):  # of a full disk it was told
            self._written.__exit__(GeneratorExit, GeneratorExit(), None)


class ShardFolder:
    """What a job has written so far, whichever process of whichever machine did."""

    def __init__(self, out: Path, say: Callable[[str], None]) -> None:
        self.out, self._say, self.n_taken = out, say, 0
        self.notes = out / ".headway"
        self._writers = list[ShardWriter]()

    def agree(self, plan: Mapping[str, Any]) -> None:
        """Begin a job, or go on with it.

        Raises:
            ConfigError: the folder holds another job, or other files; or there are too many.
        """
        if (n_files := len(plan["inputs"])) > MOST_NUMBERED:
            raise ConfigError(
                f"a job is of at most {MOST_NUMBERED:,} files, which the order of names is for; "
                f"got {n_files:,}. Put files together, or give a part of them and an --out of its "
                "own."
            )
        place = self.notes / "plan.json"
        with disk_errors(place):
            self.notes.mkdir(parents=True, exist_ok=True)
            with alone(self.notes / ".plan.lock", self._say):
                known = _noted(place)
                others = [one.name for one in self.out.iterdir() if one.name[0] != "."]
                if not known and others:
                    raise ConfigError(
                        f"shards go to a folder of their own; {self.out} has {min(others)}. "
                        "Give another --out."
                    )
                if not known:
                    write_text(place, json.dumps(plan, indent=1, ensure_ascii=False))
        for key, was in known.items():
            if (now := plan.get(key)) != was:
                raise ConfigError(
                    f"{self.out} holds the shards of another job: {key} {_difference(was, now)}. "
                    "Give the same files, run and settings to go on with it, or another --out."
                )

    def begin(self, shard: Shard) -> ShardWriter | None:
        """What writes a shard; None where it is finished, or another process is at it.

        Raises:
            ConfigError: its file has too many.
            DiskError: it cannot be written.
        """
        if shard.number >= MOST_NUMBERED:
            raise ConfigError(
                f"a file has at most {MOST_NUMBERED:,} shards, which the order of names is for; "
                f"{shard.source} has more. Give more --shard-lines, and another --out."
            )
        if self.is_finished(shard):
            return None
        place = self.out / shard.name
        with ExitStack() as lock, disk_errors(place):
            try:
                lock.enter_context(only_writer(place, self._say))
            except TakenError:
                self.n_taken += 1
                return None
            if self.is_finished(shard):  # by whoever had it until now
                return None
            self._writers.append(ShardWriter(shard, place, self._receipt(shard), lock))
        return self._writers[-1]

    def is_finished(self, shard: Shard) -> bool:
        """Whether it is there, of the size that was noted."""
        noted, place = _noted(self._receipt(shard)), self.out / shard.name
        return "sha256" in noted and place.exists() and place.stat().st_size == noted["bytes"]

    def note_read(self, file: int, n_lines: int, n_shards: int) -> None:
        """Note what a file has that was read to its end."""
        place = self.notes / f"file-{file:05}.json"
        if not _noted(place):
            with alone(place.with_suffix(".lock"), self._say):
                write_text(place, json.dumps({"lines": n_lines, "shards": n_shards}))

    def shards_of(self, file: int, source: Path) -> list[Shard] | None:
        """All of a file's, where it was read to its end before."""
        noted = _noted(self.notes / f"file-{file:05}.json")
        return [Shard(file, n, source) for n in range(noted["shards"])] if noted else None

    def n_lines_of(self, file: int) -> int:
        """The same: how many it has."""
        return int(_noted(self.notes / f"file-{file:05}.json").get("lines", 0))

    def close(self) -> None:
        """Leave nothing of shards that were begun and not finished."""
        for writer in self._writers:
            writer.discard()

    def write_manifest(self, files: Sequence[Path]) -> dict[str, Any]:
        """Write manifest.json and untranslated.tsv of what is finished; gives the first."""
        plan, shards = _noted(self.notes / "plan.json"), list[dict[str, Any]]()
        missing, blank, begun = 0, list[str](), defaultdict[int, list[int]](list)
        for receipt in self.notes.glob("[0-9]*-*.json"):
            file, _, shard_number = receipt.stem.partition("-")
            begun[int(file)].append(int(shard_number))
        for number, source in enumerate(files):
            known = self.shards_of(number, source)
            shards_begun = (Shard(number, n, source) for n in sorted(begun[number]))
            finished = [*filter(self.is_finished, shards_begun)]
            missing += 1 if known is None else len(known) - len(finished)
            for shard in finished:
                noted = _noted(self._receipt(shard))
                first = shard.number * plan["shard_lines"] + 1
                blank += (f"{source}\t{first + at}\t{why}\n" for at, why in noted.pop("blank"))
                names = {"file": shard.name, "input": source.name, "first_line": first}
                shards.append({**names, **noted})
        totals = {key: sum(one[key] for one in shards) for key in ("lines", "cut", "tries")}
        counts = {**totals, "untranslated": len(blank), "missing": missing}
        found = {**plan, **counts, "shards": shards}
        with alone(self.notes / ".plan.lock", self._say):
            write_text(self.notes / "manifest.json", json.dumps(found, indent=1))
            with whole_text(self.notes / "untranslated.tsv") as table:
                table.writelines(blank)
        return found

    def _receipt(self, shard: Shard) -> Path:
        return self.notes / f"{shard.key}.json"


def _noted(place: Path) -> dict[str, Any]:
    """What a file of JSON has; nothing where there is none, or a machine that went down left it
    without its end."""
    try:
        found = json.loads(place.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _difference(was: Any, now: Any) -> str:
    """The first of many values that differs."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in was | now:
            if was.get(key) != now.get(key):
                return f"{key} {_difference(was.get(key), now.get(key))}"
    return f"was {was}, and is now {now}"
