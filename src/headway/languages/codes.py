"""Codes of languages (`en`, `zh-Hans`, `pt_BR`): which of them go together, and who says so."""

import re
from typing import NamedTuple, Protocol, runtime_checkable


@runtime_checkable
class Languages(Protocol):
    """Whatever says what is translated into what; None is for the file to say."""

    @property
    def source_language(self) -> str | None:
        """The language that is translated."""

    @property
    def target_language(self) -> str | None:
        """The language that it is translated into."""


class LanguagePair(NamedTuple):
    """What is translated into what, as far as it is known."""

    source_language: str | None = None
    target_language: str | None = None


def folded(code: str) -> str:
    """Without its region: `en-GB` and `en_US` are both `en`, `sr-Latn-RS` is `sr-Latn`.

    Of Chinese the region stays, as it says the script.
    """
    language, *parts = re.split("[-_]", code)
    if language.lower() == "zh":
        return code
    scripts = [part for part in parts[:1] if len(part) == 4 and part.isalpha()]
    return "-".join([language.lower(), *scripts])


def same_language(code: str, wanted: str | None) -> bool:
    """Case does not matter; `zh-Hans` answers to `zh`, and `zh-Hans-CN` to both."""
    if wanted is None:
        return False
    one, other = (re.split("[-_]", name.lower()) for name in (code, wanted))
    n = min(len(one), len(other))
    return one[:n] == other[:n]
