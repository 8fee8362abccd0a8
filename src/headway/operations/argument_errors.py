"""Why an argument of a Python call is refused, in words: entered only once one is."""

import os
from collections.abc import Mapping
from typing import Any

from headway.core.errors import ConfigError, UserError


class ArgumentTypeError(UserError, TypeError):
    """An argument of a Python call is of a type that it cannot be."""


def no_row(given: Any, name: str) -> ArgumentTypeError:
    """For what is neither a text nor a row of texts."""
    return ArgumentTypeError(
        f"{name} must be a string, a list of strings or an iterator of them; got {_shown(given)}. "
        f"{_remedy(given, name)}"
    )


def no_string(given: Any, name: str) -> ArgumentTypeError:
    """For what is no text; `name` may be that of one of a row, such as `texts[3]`."""
    remedy = _remedy(given, name)
    if isinstance(given, (list, tuple)):
        remedy = "Give one flat list of strings." if name[-1] == "]" else "Give one text at a time."
    return ArgumentTypeError(f"{name} must be a string; got {_shown(given)}. {remedy}")


def no_path(given: Any, name: str) -> ArgumentTypeError:
    """For what is no name of a file or folder."""
    in_memory = isinstance(given, (list, tuple, Mapping))
    remedy = " Texts that are in memory are written to a file first." if in_memory else ""
    return ArgumentTypeError(
        f"{name} must be the path of a file or folder, a string or a Path; got {_shown(given)}."
        f"{remedy}"
    )


def no_settings(given: Any, name: str, example: str) -> ArgumentTypeError:
    """For settings, or a section of them, that are no mapping."""
    return ArgumentTypeError(
        f"{name} must be a mapping such as {example}; got {_shown(given)} where one belongs."
    )


def _shown(given: Any) -> str:
    kind = type(given).__name__
    if given is None:
        return "None"
    short = isinstance(given, (bool, int, float, bytes, os.PathLike))
    return f"{given!r:.60}, of type {kind}" if short else f"an object of type {kind}"


def _remedy(given: Any, name: str) -> str:
    """What to give in its place."""
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
