"""Files of lines read once, from their beginning to their end, in shards and blocks."""

import codecs
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from headway.bulk.attempts import LineBlock
from headway.bulk.shards import Shard, ShardFolder, ShardWriter
from headway.core.disk import DiskError
from headway.core.errors import DataError
from headway.core.lines import bounded_lines, open_bytes

_LINES_AT_ONCE = 2000
_BYTES_AT_ONCE = 1 << 18
"""Of a block: as much as `headway translate` takes at once."""


class ShardPlace(NamedTuple):
    """Where a block belongs."""

    writer: ShardWriter
    end: Literal["", "whole", "damaged"]
    """What its shard is with this block: its file may break off."""


@dataclass
class ReadingState:
    """How far the files were read."""

    sizes: Sequence[int]
    """Bytes of each file, as they lie on the disk."""
    n_bytes: int = 0
    n_lines: int = 0
    damaged: list[str] = field(default_factory=list)
    """What was said of files that break off."""
    writer: ShardWriter | None = None
    """Of the shard that is being read."""


def shard_blocks(
    files: Sequence[Path],
    folder: ShardFolder,
    shard_lines: int,
    mine: Callable[[Shard], bool],
    state: ReadingState,
) -> Generator[LineBlock, None, None]:
    """The lines of all shards that are to be done, in order; what lies between is read over.

    A file that is damaged ends there; the shard in which it does is not whole. Raises DiskError:
    one cannot be written.
    """
    n_bytes = 0
    for number, source in enumerate(files):
        known = folder.shards_of(number, source)
        if known is not None and all(map(folder.is_finished, filter(mine, known))):
            state.n_lines += folder.n_lines_of(number)
        else:
            try:
                yield from _of_file(number, source, folder, shard_lines, mine, state)
            except DiskError:
                raise
            except DataError as error:
                state.damaged.append(str(error))
                writer, state.writer = state.writer, None
                if writer is not None:
                    yield LineBlock([], ShardPlace(writer, "damaged"))
        n_bytes += state.sizes[number]
        state.n_bytes = n_bytes


def _of_file(
    number: int,
    source: Path,
    folder: ShardFolder,
    shard_lines: int,
    mine: Callable[[Shard], bool],
    state: ReadingState,
) -> Generator[LineBlock, None, None]:
    before, n_before, n_shards = state.n_bytes, state.n_lines, 0
    with open_bytes(source) as file:
        on_disk = getattr(file.raw, "fileobj", file)  # of a packed file what was read of the disk
        lines = bounded_lines(file)
        if file.peek(3).startswith(codecs.BOM_UTF8):
            file.read(3)
        while file.peek(1):
            shard = Shard(number, n_shards, source)
            n_shards += 1
            state.writer = writer = folder.begin(shard) if mine(shard) else None
            if writer is None:
                state.n_lines += sum(1 for _ in islice(lines, shard_lines))
                state.n_bytes = before + on_disk.tell()
            n_left = shard_lines if writer is not None else 0
            while writer is not None and n_left:
                some = _some(lines, n_left)
                n_left = n_left - len(some) if file.peek(1) else 0
                state.n_lines += len(some)
                state.n_bytes = before + on_disk.tell()
                yield LineBlock(some, ShardPlace(writer, "" if n_left else "whole"))
            state.writer = None
    folder.note_read(number, state.n_lines - n_before, n_shards)


def _some(lines: Iterator[bytes | None], most: int) -> list[bytes | None]:
    """The next lines, as many as are translated at once."""
    found, n_bytes = list[bytes | None](), 0
    for line in islice(lines, min(most, _LINES_AT_ONCE)):
        found.append(line)
        n_bytes += len(line or b"")
        if n_bytes >= _BYTES_AT_ONCE:
            break
    return found
