"""Settings: TOML files and `--section.key value` flags become checked dataclasses.

A run is described by sections (`[model]`, `[training]`, ..), each a flat table of keys. The
dataclasses live beside what they configure; this file knows none of them, and no torch. Layers of
text (preset, file, flags) are merged first and checked once, by `build`.
"""

import dataclasses
import difflib
import re
import tomllib
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from headway.errors import ConfigError

SECTIONS = ("run", "text", "data", "model", "training", "decoding", "runtime")

T = TypeVar("T")
Sections = dict[str, dict[str, Any]]


# ---------------------------------------------------------------------------------------------
# reading


def parse_overrides(tokens: Sequence[str], *, options: Iterable[str] = ()) -> Sections:
    """Read `--section.key value`, `--section.key=value`, `--section.key` and `--no-section.key`.

    A key without a value is `true`, with `--no-` in front `false`. All values stay text; `build`
    converts them. `options` are the command's other options, only used to suggest one of them
    when an option is misspelt. Raises `ConfigError` on anything else.
    """
    sections: Sections = {}
    waiting = list(tokens)
    while waiting:
        token = waiting.pop(0)
        if not token.startswith("-"):
            raise ConfigError(
                f"a setting is written --section.key VALUE; got {token!r} on its own. "
                "Several values for one option are given by repeating the option."
            )
        flag, equals, value = token.partition("=")
        negated = flag.startswith("--no-") and "." in flag
        name = flag.removeprefix("--no-" if negated else "--").replace("-", "_")
        section, dot, key = name.partition(".")
        if not flag.startswith("--") or not dot or not section or not key:
            raise ConfigError(_unknown_option(flag, options))
        _check_section(section, f"in option {flag}", written=lambda known: f"--{known}.")
        if negated and equals:
            raise ConfigError(f"{flag} takes no value; got {value!r}. Leave out '={value}'.")
        if negated:
            value = "false"
        elif not equals and waiting and not waiting[0].startswith("--"):
            value = waiting.pop(0)
        elif not equals:
            value = "true"
        sections.setdefault(section, {})[key] = value
    return sections


def read_toml(path: Path) -> Sections:
    """The sections of a TOML file, values as TOML gave them; d-model is read as d_model.

    Raises `ConfigError` if the file is missing, no file, not UTF-8, not TOML (with the line), or
    has a section or a top-level key that headway does not know.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"settings file not found: {path}. Check the path.") from None
    except IsADirectoryError:
        raise ConfigError(f"a settings file must be a TOML file; {path} is a directory.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(
            f"a settings file must be UTF-8; {path}, line {line} is not. Save it as UTF-8."
        ) from None
    except OSError as error:
        raise ConfigError(f"cannot read settings file {path}: {error.strerror}.") from None
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}. Correct that line.") from None

    sections: Sections = {}
    for section, table in tables.items():
        if not isinstance(table, dict):
            raise ConfigError(
                f"{path}: every key belongs to a section; got {section!r} outside of one. "
                f"Put it below one of {_listed(f'[{known}]' for known in SECTIONS)}."
            )
        _check_section(section, f"in {path}", written=lambda known: f"[{known}]")
        sections[section] = {key.replace("-", "_"): value for key, value in table.items()}
    return sections


def merge(*layers: Mapping[str, Mapping[str, Any]]) -> Sections:
    """One set of sections out of several; a key in a later layer replaces the earlier one."""
    merged: Sections = {}
    for layer in layers:
        for section, values in layer.items():
            merged.setdefault(section, {}).update(values)
    return merged


# ---------------------------------------------------------------------------------------------
# checking


def build(kind: type[T], values: Mapping[str, Any], *, section: str) -> T:
    """The dataclass `kind` filled with `values`, each checked against its field's type.

    Values are TOML values, or text from flags: "3", "0.1", "true", "a,b" for a tuple, "none"
    where None is allowed. A `ConfigError` raised by the dataclass itself passes through. Raises
    `ConfigError` for an unknown or missing key and for a value of the wrong type.
    """
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}  # type: ignore[arg-type]
    annotations = typing.get_type_hints(kind)
    for key in values:
        if key not in fields:
            raise ConfigError(_unknown_key(key, fields, section))
    for key, field in fields.items():
        required = (field.default, field.default_factory) == (dataclasses.MISSING,) * 2
        if required and key not in values:
            raise ConfigError(f"[{section}] needs {key!r}; give it with --{_flag(section, key)}.")
    converted = {
        key: _convert(value, annotations[key], section=section, key=key, field=fields[key])
        for key, value in values.items()
    }
    return kind(**converted)


def _convert(
    value: Any, annotation: Any, *, section: str, key: str, field: "dataclasses.Field[Any]"
) -> Any:
    options = _options(annotation)
    given = value
    if isinstance(value, str):
        if type(None) in options and value.lower() == "none":
            return None
        if any(typing.get_origin(option) is tuple for option in options):
            given = [part.strip() for part in value.split(",")] if value else []
    truth_for_a_number = isinstance(value, bool) and bool not in options
    if not truth_for_a_number:
        adapter = TypeAdapter(annotation, config=ConfigDict(allow_inf_nan=False))
        try:
            return adapter.validate_python(given)
        except ValidationError:
            pass
    raise ConfigError(
        f"[{section}] {key} must be {_described(annotation)}; got {value!r}. "
        f"{_remedy(value, options, section=section, key=key, field=field)}"
    )


def _options(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, or the type itself."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def _described(annotation: Any) -> str:
    words = {
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        str: "text",
        Path: "a path",
        type(None): "none",
    }
    described = []
    for option in _options(annotation):
        arguments = typing.get_args(option)
        if typing.get_origin(option) is Literal:
            described.append("one of " + _listed(repr(choice) for choice in arguments))
        elif typing.get_origin(option) is tuple:
            inner = " and ".join(_described(part) for part in arguments if part is not ...)
            described.append(f"a list, each item {inner}")
        else:
            described.append(words.get(option, getattr(option, "__name__", str(option))))
    return " or ".join(described)


def _remedy(
    value: Any, options: tuple[Any, ...], *, section: str, key: str, field: "dataclasses.Field[Any]"
) -> str:
    choices = [
        str(choice)
        for option in options
        if typing.get_origin(option) is Literal
        for choice in typing.get_args(option)
    ]
    close = difflib.get_close_matches(str(value), choices, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    default = field.default
    if default is dataclasses.MISSING or default is None or isinstance(default, tuple):
        return f"Give it as --{_flag(section, key)} VALUE, or as {key} = VALUE in TOML."
    example = str(default).lower() if isinstance(default, bool) else str(default)
    return f"For example (the default): --{_flag(section, key)} {example}"


def _unknown_key(key: str, fields: Mapping[str, Any], section: str) -> str:
    close = difflib.get_close_matches(key, fields, n=1)
    if close:
        return f"unknown key {key!r} in [{section}]; did you mean {close[0]!r}?"
    return f"unknown key {key!r} in [{section}]; it has {_listed(fields) or 'no keys'}."


def _unknown_option(flag: str, options: Iterable[str]) -> str:
    close = difflib.get_close_matches(flag, list(options), n=1)
    if close:
        return f"unknown option {flag}; did you mean {close[0]}?"
    return (
        f"unknown option {flag}. Settings are written --section.key VALUE, with the sections "
        f"{_listed(SECTIONS)}; --help lists the other options."
    )


def _check_section(section: str, where: str, *, written: Callable[[str], str]) -> None:
    if section in SECTIONS:
        return
    close = difflib.get_close_matches(section, SECTIONS, n=1, cutoff=0.5)
    if close:
        raise ConfigError(f"unknown section {section!r} {where}; did you mean {written(close[0])}?")
    raise ConfigError(f"unknown section {section!r} {where}; there are {_listed(SECTIONS)}.")


def _flag(section: str, key: str) -> str:
    return f"{section}.{key.replace('_', '-')}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


# ---------------------------------------------------------------------------------------------
# writing


def write_toml(path: Path, sections: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the sections as TOML, UTF-8; `read_toml` gives the same values back.

    Values are text, numbers, truth values, paths (as text), and lists or tuples of these; a key
    whose value is None is left out, so that its default applies again.
    """
    path.write_text(format_toml(sections), encoding="utf-8", newline="\n")


def format_toml(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """The text that `write_toml` writes."""
    blocks = []
    for section, values in sections.items():
        lines = [f"[{_format_key(section)}]"]
        lines += [
            f"{_format_key(key)} = {_format_value(value)}"
            for key, value in values.items()
            if value is not None
        ]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _format_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _format_text(key)


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str | Path):
        return _format_text(str(value))
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_format_value(item) for item in value) + "]"
    raise TypeError(f"TOML settings hold no {type(value).__name__}: {value!r}")


def _format_text(text: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ConfigError(f"settings must be valid Unicode; got {text!r}. Rename the file.")
    return (
        '"'
        + "".join(
            short.get(c, f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c) for c in text
        )
        + '"'
    )
