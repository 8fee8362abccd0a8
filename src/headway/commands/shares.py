"""What the verbs have in common that share a job out to several machines."""

import re
import sys

from headway.core.errors import ConfigError


def share(part: str) -> tuple[int, int]:
    """The numbers of `--part 3/16`, 1 of 1 for an empty one; raises ConfigError for others."""
    found = re.fullmatch(r"(\d+)/(\d+)", part or "1/1")
    number, n_parts = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= n_parts:
        raise ConfigError(f"--part is one of several, such as 3/16; got {part}.")
    return number, n_parts


def this_command(*left_out: str) -> list[str]:
    """As headway was called, without these options and their values."""
    kept, words = ["headway"], iter(sys.argv[1:])
    for word in words:
        if word in left_out:
            next(words, None)
        elif word.partition("=")[0] not in left_out:
            kept.append(word)
    return kept
