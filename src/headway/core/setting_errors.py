"""Why a setting is refused, in words: entered only once one is."""

import dataclasses
import difflib
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from headway.core.errors import ConfigError

_WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    Path: "a path",
    type(None): "none",
}


def unknown_section(
    section: str, known: Sequence[str], where: str, written: Callable[[str], str]
) -> ConfigError:
    """`written` says how a section is written there, for the suggestion."""
    close = difflib.get_close_matches(section, known, n=1, cutoff=0.5)
    remedy = f"did you mean {written(close[0])}?" if close else f"there are {', '.join(known)}."
    return ConfigError(f"unknown section {section!r} {where}; {remedy}")


def outside_of_sections(key: str, sections: Sequence[str], path: Path) -> ConfigError:
    """For a key at the top of a TOML file."""
    return ConfigError(
        f"{path}: every key belongs to a section; got {key!r} outside of one. "
        f"Put it below one of {', '.join(f'[{known}]' for known in sections)}."
    )


def unreadable(path: Path, error: Exception) -> ConfigError:
    """For a TOML file, and what was raised when it was read."""
    try:
        raise error
    except FileNotFoundError:
        return ConfigError(f"settings file not found: {path}. Check the path.")
    except IsADirectoryError:
        return ConfigError(f"a settings file must be a TOML file; {path} is a directory.")
    except UnicodeDecodeError as found:
        line = found.object[: found.start].count(b"\n") + 1
        return ConfigError(
            f"a settings file must be UTF-8; {path}, line {line} is not. Save it as UTF-8."
        )
    except OSError as found:
        return ConfigError(f"cannot read settings file {path}: {found.strerror}.")
    except Exception:
        return ConfigError(f"{path} is not valid TOML: {error}. Correct that line.")


def unknown_key(key: str, known: Iterable[str], section: str) -> ConfigError:
    """For a key that a section has not."""
    close = difflib.get_close_matches(key, list(known), n=1)
    remedy = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known) or 'no keys'}."
    return ConfigError(f"unknown key {key!r} in [{section}]; {remedy}")


def missing_key(key: str, section: str) -> ConfigError:
    """For a key that has no default."""
    return ConfigError(f"[{section}] needs {key!r}; give it with --{_flag(section, key)}.")


def wrong_value(
    value: Any, annotation: Any, default: Any, *, section: str, key: str
) -> ConfigError:
    """For a value that is not of the key's type; `default` is shown as an example, if it can be."""
    choices = [
        str(choice)
        for option in _options(annotation)
        if typing.get_origin(option) is Literal
        for choice in typing.get_args(option)
    ]
    close = difflib.get_close_matches(_shown(value).strip("'"), choices, n=1)
    if close:
        remedy = f"Did you mean {close[0]!r}?"
    elif default in (None, dataclasses.MISSING) or isinstance(default, tuple):
        remedy = f"Give it as --{_flag(section, key)} VALUE, or as {key} = VALUE in TOML."
    else:
        example = str(default).lower() if isinstance(default, bool) else str(default)
        remedy = f"For example (the default): --{_flag(section, key)} {example}"
    small = " between -2^63 and 2^63" if int in _options(annotation) and _is_whole(value) else ""
    return ConfigError(
        f"[{section}] {key} must be {described_type(annotation)}{small}; got {_shown(value)}. "
        f"{remedy}"
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and value.lstrip("+-").isdecimal())


def _shown(value: Any) -> str:
    """The value as Python writes it, its beginning where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or of lists in lists
        return f"too long a {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:200]} .."


def unknown_name(option: str, given: str, known: Iterable[str]) -> ConfigError:
    """For one of several names, such as a preset's, that is none of them."""
    return ConfigError(
        f"{option} must be one of {', '.join(known)}; got {given!r}.{suggestion(given, known)}"
    )


def out_of_range(key: str, rule: str, value: int, *, usual: int) -> ConfigError:
    """For a number of [runtime] that is too small or too large."""
    return ConfigError(f"[runtime] {key} must be {rule}; got {value}. Try --runtime.{key} {usual}")


def too_small(key: str, value: object, *, least: int | float) -> ConfigError:
    """For a number of [training]."""
    rule = f"must be at least {least}" if least else "must not be negative"
    return ConfigError(f"{key} {rule}; got {value}.")


def described_type(annotation: Any) -> str:
    """What a value of this type is, in words."""
    described = []
    for option in _options(annotation):
        arguments = typing.get_args(option)
        if typing.get_origin(option) is Literal:
            described.append("one of " + ", ".join(repr(choice) for choice in arguments))
        elif typing.get_origin(option) is tuple:
            inner = " and ".join(described_type(part) for part in arguments if part is not ...)
            described.append(f"a list, each item {inner}")
        else:
            described.append(_WORDS.get(option, getattr(option, "__name__", str(option))))
    return " or ".join(described)


def _options(annotation: Any) -> Sequence[Any]:
    """The members of a union, or the type itself."""
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if union else (annotation,)


def suggestion(given: str, known: Iterable[str]) -> str:
    """` Did you mean ..?`, where something known is close."""
    close = difflib.get_close_matches(given, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _flag(section: str, key: str) -> str:
    return f"{section}.{key.replace('_', '-')}"
