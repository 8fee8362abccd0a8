"""Codes of languages (`en`, `zh-Hans`, `pt_BR`): which go together."""

import re
from pathlib import Path
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


def base(code: str | None) -> str:
    """The language alone: `pt` of `pt-BR` and `PT_br`; empty where none is given."""
    return re.split("[-_]", code or "")[0].lower()


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


_LIKE_A_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_NOT_LANGUAGES = frozenset(
    "txt tsv tok raw src tgt trg ref hyp bpe out low lc gz bz xz zip csv tab json srt vtt".split()
)


def is_language(name: str) -> bool:
    """Whether a suffix or a column's name looks like the code of a language."""
    return bool(_LIKE_A_CODE.fullmatch(name)) and name.lower() not in _NOT_LANGUAGES


def suffix_of(path: Path) -> str:
    """What tells the kind of a file, or its language: its suffix in lower case, without `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix
