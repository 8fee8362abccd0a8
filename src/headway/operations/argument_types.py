"""What a caller from Python gives: texts in any usual shape, paths; all else is refused."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from headway.core.errors import ConfigError, UserError

MOST_AT_ONCE = 1024
"""Texts of an iterator that are read before the first of them is given back, at most."""

Found = TypeVar("Found")


class ArgumentTypeError(UserError, TypeError):
    """An argument of a Python call is of a type that it cannot be."""


def in_shape(
    texts: Any, find: Callable[[list[str]], Sequence[Found]], name: str = "texts"
) -> Found | list[Found] | Iterator[Found]:
    """What `find` makes of texts, in the shape in which they came.

    Of a string that is one result; of an iterator an iterator, which reads 1, 2, 4, .. texts at a
    time and may be endless; of any other row of strings (list, tuple, array, column) a list.

    Raises:
        ArgumentTypeError: they are none of these; of an iterator, once it comes to what is no text.
    """
    if isinstance(texts, str):
        return find([str(texts)])[0]
    if isinstance(texts, Iterator):
        return _lazily(texts, find, name)
    return list(find(strings(texts, name)))


def _lazily(
    texts: Iterator[Any], find: Callable[[list[str]], Sequence[Found]], name: str
) -> Iterator[Found]:
    n_read, n_wanted = 0, 1
    while some := list(islice(texts, n_wanted)):
        yield from find(strings(some, name, n_read))
        n_read, n_wanted = n_read + len(some), min(2 * n_wanted, MOST_AT_ONCE)


def strings(given: Any, name: str, first: int = 0) -> list[str]:
    """A row of strings as a list; `first` is the number of the first one.

    Raises:
        ArgumentTypeError: it is no row, has no order, or one of them is no string.
    """
    odd = isinstance(given, (str, bytes, bytearray, Mapping, set, frozenset, os.PathLike))
    if odd or not isinstance(given, Iterable) or getattr(given, "ndim", 1) != 1:
        rule = "a string, a list of strings or an iterator of them"
        raise _wrong(given, name, rule, _remedy(given, name))
    return [string(one, f"{name}[{number}]") for number, one in enumerate(given, first)]


def string(given: Any, name: str) -> str:
    """A single string; raises ArgumentTypeError for anything else."""
    if not isinstance(given, str):
        remedy = _remedy(given, name)
        if isinstance(given, (list, tuple)):
            flat = name.endswith("]")
            remedy = "Give one flat list of strings." if flat else "Give one text at a time."
        raise _wrong(given, name, "a string", remedy)
    return str(given)


def path(given: Any, name: str) -> Path:
    """The path of a file or folder; raises ArgumentTypeError for anything else."""
    if given == "":
        raise ArgumentTypeError(f"{name} must be the name of a file or folder; got ''. Give one.")
    if not isinstance(given, (str, Path)):
        in_memory = isinstance(given, (list, tuple, Mapping))
        remedy = "Texts that are in memory are written to a file first." if in_memory else ""
        rule = "the path of a file or folder, a string or a Path"
        raise _wrong(given, name, rule, remedy)
    return Path(given)


def paths(given: Any, name: str) -> list[Path]:
    """One path or several; raises ArgumentTypeError for anything else."""
    if not isinstance(given, (list, tuple, Iterator)):
        return [path(given, name)]
    return [path(one, f"{name}[{number}]") for number, one in enumerate(given)]


def table(given: Any, name: str, example: str = '{"beam": 5}') -> dict[str, Any]:
    """Settings of one section; raises ArgumentTypeError for anything else."""
    if not isinstance(given, Mapping):
        raise _wrong(given, name, f"a mapping such as {example}", "")
    return dict(given)


def refuse_no_unicode(*texts: str) -> None:
    """Raise ConfigError for a text that held bytes other than UTF-8 where it was typed."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            shown = text[:80].encode(errors="backslashreplace").decode()
            raise ConfigError(
                f"a text that is typed must be UTF-8; got '{shown}'. Type it in a "
                "terminal whose LANG ends in UTF-8."
            ) from None


def _wrong(given: Any, name: str, rule: str, remedy: str) -> ArgumentTypeError:
    kind, shown = type(given).__name__, "None"
    if isinstance(given, (bool, int, float, bytes, os.PathLike)):
        shown = f"{given!r:.60}, of type {kind}"
    elif given is not None:
        shown = f"an object of type {kind}"
    return ArgumentTypeError(f"{name} must be {rule}; got {shown}. {remedy}".rstrip())


def _remedy(given: Any, name: str) -> str:
    """What to give in the place of what is no text."""
    if isinstance(given, (bytes, bytearray)):
        return "Decode it first, such as .decode('utf-8')."
    if given is None or (isinstance(given, float) and given != given):
        return "A text that is missing is ''."
    if isinstance(given, Mapping):
        return f"Give its values: list({name}.values())."
    if isinstance(given, (set, frozenset)):
        return "It has no order: give a list."
    if isinstance(given, os.PathLike):
        return "Read it first: open(.., encoding='utf-8') gives its lines."
    if getattr(given, "ndim", 1) != 1:
        return "Give one column of it."
    return "What is no text can be made one: str(..)."
