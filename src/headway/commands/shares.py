"""What the verbs have in common that share a job out to several machines."""

import re
import sys

from headway.core.errors import ConfigError
from headway.operations.processes import JobPart


def share(part: str) -> JobPart:
    """What `--part 3/16` says, 1 of 1 for an empty one; raises ConfigError for others."""
    found = re.fullmatch(r"(\d+)/(\d+)", part or "1/1")
    named = JobPart(*map(int, found.groups())) if found else JobPart(0, 0)
    if not 1 <= named.number <= named.of:
        raise ConfigError(f"--part is one of several, such as 3/16; got {part}.")
    return named


def this_command(*left_out: str) -> list[str]:
    """As headway was called, without these options and their values."""
    kept, words = ["headway"], iter(sys.argv[1:])
    for word in words:
        if word in left_out:
            next(words, None)
        elif word.partition("=")[0] not in left_out:
            kept.append(word)
    return kept
