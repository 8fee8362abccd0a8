"""Translation memories in the cache: the index of large files is made once."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from headway.core.cleaning import VERSION as READING
from headway.core.cleaning import Pair
from headway.core.disk import checksum
from headway.core.lines import check_file
from headway.corpora.cache import (
    Say,
    cache_root,
    key_of,
    made_once,
    read_sealed,
    sealed_folder,
    silent,
)
from headway.languages.codes import Languages
from headway.localization.memory import building, store, words
from headway.localization.memory.memory import Memory
from headway.localization.placeholders.codes import VERSION as CODES

SMALL_BYTES = 300_000
"""What is not larger is read anew each time, which takes a second at most."""


def cached_memory(
    paths: Sequence[Path],
    languages: Languages,
    *,
    root: Path | None = None,
    say: Say = silent,
    progress: building.Progress = building.silent,
) -> Memory:
    """`memory_of` these files, from the cache where they are large.

    Raises:
        DataError: as `memory_of`, or the disk is full or the cache cannot be written.
    """
    for path in paths:
        check_file(path)

    def make() -> Memory:
        return building.memory_of(paths, languages, progress=progress)

    if sum(path.stat().st_size for path in paths) <= SMALL_BYTES:
        return make()
    wanted = building.wanted_languages(paths, languages)
    files = [[str(path), checksum(path)] for path in paths]
    return _cached({"files": files, "languages": list(wanted)}, make, root, say)


def cached_memory_of_pairs(
    pairs: Callable[[], Iterable[Pair]],
    depends_on: dict[str, Any],
    *,
    root: Path | None = None,
    say: Say = silent,
) -> Memory:
    """`memory_of_pairs` of whatever `depends_on` describes, made once.

    Raises:
        DataError: the pairs cannot be read, the disk is full or the cache cannot be written.
    """
    return _cached(depends_on, lambda: building.memory_of_pairs(pairs()), root, say)


def _cached(
    depends_on: dict[str, Any], make: Callable[[], Memory], root: Path | None, say: Say
) -> Memory:
    key = {"versions": [store.VERSION, words.VERSION, CODES, READING], **depends_on}
    directory = (cache_root() if root is None else root) / f"memory-{key_of(key)}"

    def write(_work: Path) -> None:
        with sealed_folder(directory) as (folder, content):
            memory = make()
            memory.store.save(folder)
            content["files"] = list(memory.files)

    def opened() -> Memory:
        return Memory(store.MemoryStore.load(directory), read_sealed(directory)["files"])

    return made_once(directory, opened, write, say)
