"""What a caller from Python gives: texts in any usual shape, paths; all else is refused."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from headway.operations import argument_errors as refused

MOST_AT_ONCE = 1024
"""Texts of an iterator that are read before the first of them is given back, at most."""

Found = TypeVar("Found")


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
    no_row = isinstance(given, (str, bytes, bytearray, Mapping, set, frozenset, os.PathLike))
    if no_row or not isinstance(given, Iterable) or getattr(given, "ndim", 1) != 1:
        raise refused.no_row(given, name)
    return [string(one, f"{name}[{number}]") for number, one in enumerate(given, first)]


def string(given: Any, name: str) -> str:
    """A single string; raises ArgumentTypeError for anything else."""
    if not isinstance(given, str):
        raise refused.no_string(given, name)
    return str(given)


def path(given: Any, name: str) -> Path:
    """The path of a file or folder; raises ArgumentTypeError for anything else."""
    if not isinstance(given, (str, Path)):
        raise refused.no_path(given, name)
    return Path(given)


def table(given: Any, name: str) -> dict[str, Any]:
    """Settings of one section; raises ArgumentTypeError for anything else."""
    if not isinstance(given, Mapping):
        raise refused.no_settings(given, name, '{"beam": 5}')
    return dict(given)


def paths(given: Any, name: str) -> list[Path]:
    """One path or several; raises ArgumentTypeError for anything else."""
    if not isinstance(given, (list, tuple, Iterator)):
        return [path(given, name)]
    return [path(one, f"{name}[{number}]") for number, one in enumerate(given)]
