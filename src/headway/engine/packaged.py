"""Libraries that a wheel brings, compiled for several processors (`deploy/wheels.py` makes them).

They lie in `libraries/` beside a list: for each library the checksum of its sources, and for each
level its file and checksum. One that is damaged, or of other sources, is as none.
"""

import ctypes
import json
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from headway.core.disk import checksum, digest
from headway.core.errors import DataError
from headway.engine.levels import possible_levels

PACKAGE = Path(__file__).parent.parent
PACKAGED = PACKAGE / "engine" / "libraries"
CONTENTS = "contents.json"
LIBRARIES = {
    "engine": "engine/engine.c engine/*.h engine/instructions/*.h engine/ensemble/*.h "
    "engine/variants/*.h",
    "training": "engine/training_step/step.c engine/**/*.h",
    "nearest": "vectors/nearest.c",
    "word2vec": "word2vec/kernel.c engine/vectors.h engine/instructions/*.h",
}
"""Every library in C: the file that is compiled, and all that it depends on, below the package."""
Opened = TypeVar("Opened")


def sources_digest(sources: Iterable[Path]) -> str:
    """One checksum of all files."""
    return digest({file.name: file.read_text(encoding="utf-8") for file in sources})


def packaged_library(
    name: str, sources: Sequence[Path], opened: Callable[[Path], Opened]
) -> Opened | None:
    """What `opened` makes of the best one for this processor, or of the one that
    $HEADWAY_ENGINE_LEVEL names; None where none is whole and of these sources."""
    level = os.environ.get("HEADWAY_ENGINE_LEVEL")
    with suppress(OSError, ValueError, KeyError, TypeError):
        packaged = json.loads((PACKAGED / CONTENTS).read_text(encoding="utf-8"))[name]
        if packaged["sources"] != sources_digest(sources):
            return None
        for one in [level] if level else reversed(possible_levels()):
            file, sealed = packaged["files"].get(one, ("", ""))
            with suppress(DataError, OSError):
                if file and checksum(PACKAGED / Path(file).name) == sealed:
                    return opened(PACKAGED / Path(file).name)
    return None


def origin(library: ctypes.CDLL) -> str:
    """Where a library came from and for which processor, in words."""
    file = Path(library._name)
    by = file.stem.partition("-")[2]
    if file.parent == PACKAGED:
        return f"packaged, for {by}"
    level = os.environ.get("HEADWAY_ENGINE_LEVEL") or "native"
    return f"compiled here by {by} for {'this processor' if level == 'native' else level}"
