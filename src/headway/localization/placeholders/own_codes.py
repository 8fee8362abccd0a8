"""A user's own patterns of what is a code: read from a file, found in linear time.

They are found by RE2, which never goes back on what it read: no pattern and no text takes it for
ever. What it cannot do (looking around, referring back) is refused.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from headway.core.errors import ConfigError, DataError
from headway.core.lines import check_file, read_lines

CodeHandling = Literal["mask", "keep"]
"""What is done with codes: each is one symbol to the model, or text like any other."""

MOST_CHARACTERS = 500
"""A code of so many characters is found wherever it stands; of a longer one, perhaps a part."""
_LONGEST = 500
_MOST = 200
_MOST_BYTES = 4 << 20
"""Of memory for a pattern."""

_KINDS = {"w": r"\p{L}\p{N}_", "d": r"\p{Nd}", "s": r"\t-\r\x1c-\x20\x{85}\p{Z}"}
"""What Python means by these; to RE2 they are ASCII."""
_PART = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\u[0-9a-fA-F]{4}|\\.|\{,|.", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)


@dataclass(frozen=True)
class OwnPattern:
    pattern: str
    """As it was written."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it stands in a text (start, end), from left to right; nothing empty."""
        search, place = _engine(self.pattern).search, 0
        text = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
        while place < len(text):
            begin = max(0, place - 1)  # a character of what stands before, for \b and ^
            stretch = text[begin : place + 2 * MOST_CHARACTERS]
            match = search(stretch, place - begin)
            start, end = match.span() if match else (len(stretch), 0)
            if begin + start >= place + MOST_CHARACTERS:  # seen whole from nearer by
                place += MOST_CHARACTERS
                continue
            if end > start:
                yield begin + start, begin + end
            place = begin + max(end, start + 1)

    def stands_in(self, text: str) -> bool:
        return any(True for _ in self.spans(text))


Patterns = tuple[OwnPattern, ...]


def read_patterns(path: Path) -> list[str]:
    """The patterns of a file: a regular expression (Python's) a line, `#` before a comment.

    Raises DataError: it cannot be read, or a line is none that can be used; names the line.
    """
    check_file(path)
    patterns: list[str] = []
    for number, line in enumerate(read_lines(path), 1):
        text = (line or "").strip()
        if line is not None and (not text or text.startswith("#")):
            continue
        why = "it is too long" if line is None else why_refused(text)
        if why:
            raise DataError(
                f"--codes takes a file with one regular expression on each line; {path}:{number} "
                f"has {text[:80]!r}: {why}. Mend that line, or put # in front of it."
            )
        patterns.append(text)
    if not 1 <= len(patterns) <= _MOST:
        raise DataError(
            f"--codes takes a file with 1 to {_MOST} regular expressions, one on each line; {path} "
            f"has {len(patterns)}. Give another file, or leave --codes out."
        )
    return patterns


def patterns_of(files: Sequence[str]) -> list[str]:
    """The patterns of several files, each once: what `text.own_codes` has for `--codes`."""
    return list(dict.fromkeys(one for file in files for one in read_patterns(Path(file))))


@lru_cache(maxsize=16)
def compiled(patterns: tuple[str, ...]) -> Patterns:
    """Patterns ready for use.

    Raises ConfigError: one cannot be used, or there are too many; says why.
    """
    if len(patterns) > _MOST:
        raise ConfigError(
            f"text.own_codes are at most {_MOST} regular expressions; got {len(patterns):,}. "
            "Leave some out."
        )
    for pattern in patterns:
        if why := why_refused(pattern):
            raise ConfigError(
                f"text.own_codes are regular expressions; got {pattern[:80]!r}: {why}. Mend it."
            )
    return tuple(map(OwnPattern, patterns))


def why_refused(pattern: str) -> str:
    """Why a pattern cannot be used; empty if it can."""
    if len(pattern) > _LONGEST:
        return f"it has more than {_LONGEST} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern)
    except (re.error, FutureWarning, DeprecationWarning, OverflowError, RecursionError) as error:
        return f"it is no regular expression of Python's ({error})"
    import re2  # a side room

    try:
        if _engine(pattern).match(""):
            return "it fits nothing at all, so it would stand everywhere"
    except (re2.error, UnicodeEncodeError) as error:
        said = error.args[0].decode() if isinstance(error, re2.error) else "half a character"
        return (
            f"it cannot be found in time that grows with the text ({said}). Write it without "
            r"(?=..), (?!..), (?<..), (?P=..), \1, (?>..), *+, ++, \Z, and over 1,000 repetitions"
        )
    return ""


@lru_cache(maxsize=4 * _MOST)
def _engine(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors, options.never_capture, options.max_mem = False, True, _MOST_BYTES
    return re2.compile(_for_re2(pattern), options)


def _for_re2(pattern: str) -> str:
    r"""A pattern of Python's with the same meaning to RE2, but for `\b`, which is ASCII there."""

    def outside(part: re.Match[str]) -> str:
        if part[0].startswith("["):
            return _ESCAPE.sub(_inside, part[0])
        kind, negated = _KINDS.get(part[0][-1].lower(), ""), part[0][-1].isupper()
        if kind and len(part[0]) == 2:
            return f"[^{kind}]" if negated else f"[{kind}]"
        return "{0," if part[0] == "{," else _ESCAPE.sub(_inside, part[0])

    return _PART.sub(outside, pattern)


def _inside(part: re.Match[str]) -> str:
    r"""The same of an escape within brackets; RE2 refuses the `\W` and `\S` that it cannot say."""
    sign = part[1]
    if sign[0] == "u":
        return f"\\x{{{sign[1:]}}}"
    return {"D": r"\P{Nd}", "W": r"\_", "S": r"\_"}.get(sign, _KINDS.get(sign, part[0]))
