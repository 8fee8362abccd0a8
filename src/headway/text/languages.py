"""Codes of languages (`en`, `zh-Hans`, `pt_BR`): what is one, and which of them go together."""

import re
from pathlib import Path
from typing import Protocol, runtime_checkable

_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_NOT_LANGUAGES = frozenset(
    "txt tsv tok raw src tgt trg ref hyp bpe out low lc gz bz xz zip csv tab json".split()
)


@runtime_checkable
class Languages(Protocol):
    """Whatever says what is translated into what; None is for the file to say."""

    @property
    def source_language(self) -> str | None:
        """The language that is translated."""

    @property
    def target_language(self) -> str | None:
        """The language that it is translated into."""


def is_language(name: str) -> bool:
    """Whether a suffix or a column's name looks like the code of a language."""
    return bool(_CODE.fullmatch(name)) and name.lower() not in _NOT_LANGUAGES


def suffix_language(path: Path) -> str | None:
    """The language that a file's name says it is in: `a.en`, `train.de.gz`."""
    unpacked = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return unpacked.suffix[1:] if is_language(unpacked.suffix[1:]) else None


def same_language(code: str, wanted: str | None) -> bool:
    """Case does not matter, and `zh-Hans` answers to `zh`."""
    if wanted is None:
        return False
    one, other = (re.split("[-_]", name.lower()) for name in (code, wanted))
    return one == other or (one[0] == other[0] and 1 in (len(one), len(other)))
