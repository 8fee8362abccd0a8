"""A user's own patterns of what is a code: read from a file, and kept from taking for ever."""

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from headway.errors import ConfigError, DataError
from headway.text.lines import check_file, read_lines

Patterns = tuple[re.Pattern[str], ...]

MOST_CHARACTERS = 300
"""How far `*`, `+` and `{n,}` reach."""
_MOST_WAYS = 100_000
"""Ways to divide a text among the repetitions of a pattern, from each place of it."""
_ENDLESS = 1 << 62
_LONGEST = 500
_MOST = 200

_PART = re.compile(
    r"""(?P<kind>\[\^?\]?(?:\\.|[^\]\\])*\])
    | (?P<whole>\(\?(?:[aims]+|P=\w+|\#[^)]*)\))
    | (?P<opens>\((?:\?(?:P<\w+>|<?[=!]|[:>]|\(\w+\)|[aims-]+:))?)
    | (?P<closes>\)) | (?P<bar>\|)
    | (?P<times>[*+?]|\{(?=\d|,\d)\d*(?:,\d*)?\})(?P<how>[+?]?)
    | (?P<atom>\\(?:x..|u....|U.{8}|N\{[^}]*\}|\d{1,3}|.)|.)""",
    re.VERBOSE | re.DOTALL,
)
_LITERAL = re.compile(r"\\[^\w]|[^\\.^$\[]", re.DOTALL)


class _Piece(NamedTuple):
    """One character's worth of a pattern, or a group, with its repetition."""

    text: str
    """Of a single character; empty for a group."""
    inside: tuple[Any, ...] = ()
    """Of a group: its pieces."""
    least: int = 1
    most: int = 1
    settled: bool = False
    """Possessive or atomic: never gone back on."""
    bar: bool = False
    """It stands between alternatives."""

    @property
    def varies(self) -> bool:
        return self.most > self.least and not self.settled

    @property
    def literal(self) -> str:
        """The very character that it begins with, if that is one and always there."""
        if not self.least:
            return ""
        if self.inside:
            return "" if any(one.bar for one in self.inside) else self.inside[0].literal
        return self.text[-1] if _LITERAL.fullmatch(self.text) else ""

    def may_be(self, character: str) -> bool:
        """Whether a varying part of it may match a character."""
        if self.inside:
            return any(one.may_be(character) for one in self.inside)
        return not self.bar and bool(re.match(self.text, character, re.IGNORECASE | re.DOTALL))


def read_patterns(path: Path) -> list[str]:
    """The patterns of a file: a regular expression (Python's) a line, `#` before a comment.

    Raises:
        DataError: it cannot be read, a line is no pattern or takes too long; names the line.
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
    """Patterns ready for use, with no repetition without end.

    Raises:
        ConfigError: one cannot be used; says why.
    """
    for pattern in patterns:
        if why := why_refused(pattern):
            raise ConfigError(
                f"text.own_codes are regular expressions; got {pattern[:80]!r}: {why}. Mend it."
            )
    return tuple(re.compile(_bounded(pattern)) for pattern in patterns)


def why_refused(pattern: str) -> str:
    """Why a pattern cannot be used; empty if it can."""
    if len(pattern) > _LONGEST:
        return f"it has more than {_LONGEST} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if re.compile(pattern).match(""):
                return "it fits nothing at all, so it would stand everywhere"
            re.compile(_bounded(pattern))
    except (re.error, FutureWarning, DeprecationWarning, OverflowError, RecursionError) as error:
        return f"it is no regular expression of Python's ({error})"
    return _why_slow(_pieces(iter(_PART.finditer(pattern))))


def _bounded(pattern: str) -> str:
    """The same with every repetition reaching `MOST_CHARACTERS` at most."""
    parts = []
    for part in _PART.finditer(pattern):
        if part["times"]:
            least, most = _bounds(part["times"])
            parts.append(f"{{{least},{max(least, most)}}}{part['how']}")
        else:
            parts.append(part[0])
    return "".join(parts)


def _bounds(times: str) -> tuple[int, int]:
    if times in "*+?":
        return int(times == "+"), 1 if times == "?" else MOST_CHARACTERS
    least, comma, most = times[1:-1].partition(",")
    return int(least or 0), int(most or MOST_CHARACTERS) if comma else int(least)


def _pieces(parts: Iterator[re.Match[str]]) -> tuple[_Piece, ...]:
    """Those up to the end of the group that was opened last."""
    pieces: list[_Piece] = []
    for part in parts:
        if part["closes"]:
            break
        if part["opens"]:
            pieces.append(_Piece("", _pieces(parts), settled=part["opens"] == "(?>"))
        elif part["times"] and pieces:
            least, most = _bounds(part["times"])
            settled = pieces[-1].settled or part["how"] == "+"
            pieces[-1] = pieces[-1]._replace(least=least, most=most, settled=settled)
        elif part["bar"]:
            pieces.append(_Piece("", bar=True))
        elif not part["whole"]:
            pieces.append(_Piece(part["kind"] or part["atom"]))
    return tuple(pieces)


def _why_slow(pieces: Iterable[_Piece]) -> str:
    ways = _ways(tuple(pieces), last=True)
    if ways <= _MOST_WAYS:
        return ""
    return (
        "it may take for ever, as there are very many ways to fit it. Part repetitions by a "
        "character that is in neither of them, or make them possessive (*+, ++)"
    )


def _ways(pieces: tuple[_Piece, ...], *, last: bool) -> int:
    """How many ways there may be to fit some pieces; `last`: nothing comes behind them."""
    ways, barred = _alternatives(pieces), any(one.bar for one in pieces)
    for one, behind in pairwise((*pieces, None)):
        if one is None or one.bar:
            continue
        if one.inside and not one.settled:
            inner = _ways(one.inside, last=False)
            if one.most > 1 and inner > 1 and not _parted(one.inside):
                return _ENDLESS
            ways *= inner
        follows = "" if behind is None else behind.literal
        ends = last and behind is None and not barred
        if one.varies and not ends and (not follows or one.may_be(follows)):
            ways *= one.most - one.least + 1
    return min(ways, _ENDLESS)


def _alternatives(pieces: tuple[_Piece, ...]) -> int:
    """Of how many alternatives more than one may fit at a place."""
    begins = [pieces[0], *(behind for one, behind in pairwise(pieces) if one.bar)] if pieces else []
    signs = [one.literal.lower() for one in begins]
    return 1 if len(set(signs)) == len(signs) and (all(signs) or len(signs) == 1) else len(signs)


def _parted(inside: tuple[_Piece, ...]) -> bool:
    """Whether repetitions of a group are parted by a character that nothing varying in it fits."""
    if any(one.bar for one in inside):
        return False
    varying = [one for one in inside if one.varies or one.inside]
    ends = (inside[0], inside[-1])
    parted = (one.literal for one in ends if not one.inside and one.most == 1)
    return any(sign and not any(one.may_be(sign) for one in varying) for sign in parted)
