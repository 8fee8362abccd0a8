"""Where the cache is, of which nobody else may write a part, and what a folder in it is called."""

import os
from pathlib import Path
from typing import Any

from headway.core.disk import digest
from headway.core.errors import ConfigError
from headway.operations.locks import is_own


def silent(_message: str) -> None:
    """Say nothing."""


def cache_root() -> Path:
    """Where it is: $HEADWAY_CACHE, else $XDG_CACHE_HOME/headway, else ~/.cache/headway.

    Raises:
        ConfigError: none of them is set, and this user has no home.
    """
    if own := os.environ.get("HEADWAY_CACHE"):
        return own_folder(Path(own))
    shared = os.environ.get("XDG_CACHE_HOME")
    try:
        return own_folder((Path(shared) if shared else Path.home() / ".cache") / "headway")
    except RuntimeError:
        raise ConfigError(
            "encoded text is kept in a folder of the user's home; this user has none. "
            "Set HEADWAY_CACHE to a folder."
        ) from None


def own_folder(root: Path) -> Path:
    """A folder of which what lies in it is believed and run: none that others can write to."""
    if not os.path.exists(root) or is_own(root.stat()):
        return root
    from headway.corpora.shared_cache import own_part  # a side room

    return own_part(root)


def key_of(description: dict[str, Any]) -> str:
    """A short name for everything that a result depends on."""
    return digest(description)[:24]
