"""Any rows of texts as ids in the cache: for tasks whose text is no pairs of a translation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from headway.corpora.cache import Say, cache_root, key_of, made_once, silent
from headway.corpora.store import FORMAT, SideEncoder, Store, write_store


def cached_store(
    rows: Callable[[], Iterable[Sequence[str]]],
    encoders: Mapping[str, SideEncoder],
    depends_on: dict[str, Any],
    *,
    max_length: int = 0,
    root: Path | None = None,
    say: Say = silent,
) -> Store:
    """The store of any rows of texts, one text for each side, made once and found in the cache.

    `depends_on` is everything that rows and ids depend on (checksums, fingerprints, settings). What
    was dropped is counted by reason in `Store.content["dropped"]`.

    Raises:
        DataError: the disk is full or the cache cannot be written.
    """
    key = {"format": FORMAT, "sides": list(encoders), "max_length": max_length, **depends_on}
    directory = (cache_root() if root is None else root) / f"encoded-{key_of(key)}"
    dropped = {"no_tokens": 0, "too_many_tokens": 0}

    def drop(reason: str, _row: Sequence[str]) -> None:
        dropped[reason] += 1

    def make(_work: Path) -> None:
        write_store(
            rows(),
            directory,
            encoders,
            texts=lambda row: row,
            max_length=max_length,
            on_drop=drop,
            known=lambda: {"dropped": dropped},
        )

    return made_once(directory, lambda: Store(directory), make, say)
