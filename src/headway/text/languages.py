"""Codes of languages (`en`, `zh-Hans`, `pt_BR`): which of them go together, and who says so."""

import re
from typing import Protocol, runtime_checkable


@runtime_checkable
class Languages(Protocol):
    """Whatever says what is translated into what; None is for the file to say."""

    @property
    def source_language(self) -> str | None:
        """The language that is translated."""

    @property
    def target_language(self) -> str | None:
        """The language that it is translated into."""


def same_language(code: str, wanted: str | None) -> bool:
    """Case does not matter, and `zh-Hans` answers to `zh`."""
    if wanted is None:
        return False
    one, other = (re.split("[-_]", name.lower()) for name in (code, wanted))
    return one == other or (one[0] == other[0] and 1 in (len(one), len(other)))
