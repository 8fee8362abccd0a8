"""What is prepared, how it is shared out, and whether there is room: settled before it is read."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from gzip import GzipFile
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.cleaning import VERSION as CLEANING_VERSION
from headway.core.disk import clear_asides, disk_errors, free_bytes, write_text
from headway.core.errors import ConfigError, DataError
from headway.core.lines import open_bytes
from headway.corpora.cache_place import silent
from headway.corpora.cleaned import names_of
from headway.corpora.corpus import Corpus
from headway.corpora.pieces import ROW
from headway.corpora.settings import TranslationText
from headway.corpora.sharded import NAME
from headway.operations.locks import Say
from headway.operations.turns import alone
from headway.translation.pairs import TranslationData, absolute

VERSION = 2
"""Raised whenever the same files and settings give other shards, or work of another form."""
STRIPE_BYTES = 1 << 30
"""A file with more text is shared by several processes, each of which reads all of it and cleans
every so many-th block."""
MOST_STRIPES = 16
SEED = 1
"""What is held out and what sub-words are learned from is drawn with it."""

_PROBE = 1 << 22
_KEY_BYTES = 12  # of a pair, a hash and its row; twice as many hashes stay with the text
_STORED_BYTES = 36  # of a pair in a shard, beside its ids


class ShardUnit(NamedTuple):
    """What one process cleans and encodes at a time: a file, or every `of`-th block of one."""

    number: int
    part: int
    """Which of the corpus's parts."""
    first: int
    of: int


@dataclass(frozen=True)
class ShardPlan:
    """A corpus on its way into shards in a folder."""

    directory: Path
    data: TranslationData
    text: TranslationText
    units: tuple[ShardUnit, ...] = field(init=False)

    def __post_init__(self) -> None:
        units: list[ShardUnit] = []
        for number, part in enumerate(self.corpus.parts):
            n_bytes = sum(map(text_bytes, part.files))
            n_stripes = min(MOST_STRIPES, math.ceil(max(1, n_bytes) / STRIPE_BYTES))
            units += [ShardUnit(len(units) + k, number, k, n_stripes) for k in range(n_stripes)]
        object.__setattr__(self, "units", tuple(units))

    @cached_property
    def corpus(self) -> Corpus:
        """The files to learn from."""
        return self.data.corpus()

    @property
    def files(self) -> list[Path]:
        """Every file that is read, once."""
        valid = self.data.validation()
        return list(dict.fromkeys([*self.corpus.files, *(valid.files if valid else ())]))

    @property
    def names(self) -> list[str]:
        """What pairs say that they are from."""
        return names_of(self.corpus, self.data.validation())

    @property
    def work(self) -> Path:
        """Where what is needed on the way lies; gone at the end."""
        return self.directory / "work"

    def place(self, kind: str, number: int) -> Path:
        """Where a part of the work lies: work/KIND-00012."""
        return self.work / f"{kind}-{number:05}"

    def known(self, unit: int) -> dict[str, Any]:
        """What was found when a unit was cleaned."""
        found: dict[str, Any] = json.loads(self.place("unit", unit).read_text("utf-8"))
        return found

    def shard(self, unit: int) -> Path:
        """Where the pairs of a unit are when they are encoded."""
        return self.directory / f"train-{unit:05}"

    @property
    def finished(self) -> Path:
        """The last file that is written: training begins with it."""
        return self.directory / NAME

    def begin(self, say: Say = silent) -> None:
        """Write down what is prepared here, or see that it is the same as before; of several that
        begin at once one does, and the others wait, which is said.

        Raises:
            ConfigError: the folder was begun with other settings, or holds something else.
            DataError: a file has changed since.
        """
        described, file = self._described(), self.directory / "plan.json"
        with disk_errors(file):
            self.directory.mkdir(parents=True, exist_ok=True)
            with alone(self.directory / ".plan.lock", say):
                if not file.exists():
                    if any(one.name[:6] != ".plan." for one in self.directory.iterdir()):
                        raise ConfigError(
                            f"shards go to a folder of their own; {self.directory} holds "
                            "something else. Name a new one."
                        )
                    clear_asides(self.directory)
                    write_text(file, json.dumps(described))
        before = json.loads(file.read_text("utf-8"))
        for section in ("data", "text", "versions"):
            for key, value in described[section].items():
                if before.get(section, {}).get(key) != value:
                    raise ConfigError(
                        f"{self.directory} was begun with {key} = "
                        f"{before.get(section, {}).get(key)!r}; now it is {value!r}. Give the same "
                        "again, or another folder."
                    )
        for path, size, time in described["files"]:
            if [path, size, time] not in before["files"]:
                raise DataError(
                    f"files stay as they are while they are prepared; {path} has changed since "
                    f"{self.directory} was begun. Remove that folder, and begin again."
                )
        self.work.mkdir(exist_ok=True)

    def sweep(self) -> None:
        """Remove what killed processes left unfinished; nobody else may be at work."""
        for folder in (self.directory, self.work):
            clear_asides(folder)

    def _described(self) -> dict[str, Any]:
        data = json.loads(json.dumps({**absolute(self.data), "workers": 0}))
        status = [(path.absolute(), path.stat()) for path in self.files]
        return {
            "data": data,
            "text": json.loads(json.dumps(asdict(self.text))),
            "files": [[str(path), of.st_size, of.st_mtime_ns] for path, of in status],
            "versions": {"shards": VERSION, "cleaning": CLEANING_VERSION},
        }


def text_bytes(path: Path) -> int:
    """About how many bytes of text a file has, judged by the beginning of a packed one.

    Raises DataError: it is damaged there.
    """
    size = path.stat().st_size
    if path.suffix.lower() != ".gz":
        return size
    with open_bytes(path, packed=False) as raw, GzipFile(fileobj=raw) as file:
        n_read = len(file.read(_PROBE))
        return n_read if not file.read(1) else round(size * n_read / raw.tell())


class DiskNeed(NamedTuple):
    """About how many bytes the folder has while it is made, and at the end."""

    n_pairs: int
    most: int
    final: int


def disk_need(plan: ShardPlan) -> DiskNeed:
    """Judged by the length of the first lines of each file, as if every pair was kept."""
    n_bytes = n_pairs = 0.0
    for part in plan.corpus.parts:
        n_bytes += sum(map(text_bytes, part.files))
        n_pairs += text_bytes(part.files[0]) / max(1.0, _line_bytes(part.files[0]))
    of_pair = ROW.itemsize + 16 + _KEY_BYTES
    ids = 2 * n_bytes / 3  # two bytes for a token of three or more
    final = ids + _STORED_BYTES * n_pairs
    return DiskNeed(int(n_pairs), int(max(n_bytes + of_pair * n_pairs, final)), int(final))


def _line_bytes(path: Path) -> float:
    with open_bytes(path) as file:
        some = file.read(_PROBE)
    return len(some) / max(1, some.count(b"\n"))


def refuse_no_room(plan: ShardPlan, need: DiskNeed) -> None:
    """Raise DataError where the disk has less room than is needed besides what is there."""
    there = sum(file.stat().st_size for file in _all_files(plan.directory))
    free = free_bytes(plan.directory)
    if free + there < need.most:
        raise DataError(
            f"about {gigabytes(need.most)} are needed on the disk of {plan.directory} while "
            f"{need.n_pairs:,} pairs are prepared; {gigabytes(free)} are free. Free some, or name "
            "a folder on another disk."
        )


def _all_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def gigabytes(n_bytes: float) -> str:
    """For people: 12.3 GB."""
    return f"{n_bytes / 1e9:,.1f} GB"
