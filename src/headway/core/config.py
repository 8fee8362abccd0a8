"""Settings: TOML files and `--section.key value` flags become checked dataclasses.

A run is described by sections (`[model]`, `[training]`, ..), each a flat table of keys. The
dataclasses live beside what they configure; this file knows none of them, and no torch. Layers of
text (preset, file, flags) are merged first and checked once, by `build`.
"""

import dataclasses
import functools
import json
import re
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from headway.core import setting_errors as refused
from headway.core.errors import ConfigError

SECTIONS = ("run", "text", "data", "model", "training", "decoding", "runtime")

T = TypeVar("T")
Sections = dict[str, dict[str, Any]]
_type_hints = functools.cache(typing.get_type_hints)  # both take longer than to translate a line


@functools.cache
def _adapter(hint: Any) -> Any:
    from pydantic import ConfigDict, TypeAdapter  # takes as long as all the rest of --help

    return TypeAdapter(hint, config=ConfigDict(allow_inf_nan=False))


def read_toml(path: Path) -> Sections:
    """The sections of a TOML file, values as TOML gave them; d-model is read as d_model.

    Raises `ConfigError` if the file is missing, no file, not UTF-8, not TOML (with the line), or
    has a section or a top-level key that headway does not know.
    """
    try:
        return parse_toml(path.read_text(encoding="utf-8-sig"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise refused.unreadable(path, error) from None


def parse_toml(text: str, path: Path) -> Sections:
    """The same of what stands in the file `path`."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise refused.unreadable(path, error) from None
    sections: Sections = {}
    for section, table in tables.items():
        if not isinstance(table, dict):
            raise refused.outside_of_sections(section, table, path, SECTIONS)
        if section not in SECTIONS:
            raise refused.unknown_section(section, SECTIONS, f"in {path}", "[{}]".format)
        sections[section] = {key.replace("-", "_"): value for key, value in table.items()}
    return sections


def merge(*layers: Mapping[str, Mapping[str, Any]]) -> Sections:
    """One set of sections out of several; a key in a later layer replaces the earlier one."""
    merged: Sections = {}
    for layer in layers:
        for section, values in layer.items():
            merged.setdefault(section, {}).update(values)
    return merged


def build(kind: type[T], values: Mapping[str, Any], *, section: str) -> T:
    """The dataclass `kind` filled with `values`, each checked against its field's type.

    Values are TOML values, or text from flags: "3", "0.1", "true", "a,b" for a tuple, "none"
    where None is allowed. A `ConfigError` raised by the dataclass itself passes through. Raises
    `ConfigError` for an unknown or missing key and for a value of the wrong type.
    """
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}  # type: ignore[arg-type]
    annotations = _type_hints(cast(Any, kind))
    converted = {}
    for key, value in values.items():
        if key not in fields:
            raise refused.unknown_key(key, fields, section)
        try:
            converted[key] = _convert(value, annotations[key])
        except ValueError:
            wanted, default = annotations[key], fields[key].default
            raise refused.wrong_value(value, wanted, default, section=section, key=key) from None
    for key, field in fields.items():
        required = (field.default, field.default_factory) == (dataclasses.MISSING,) * 2
        if required and key not in values:
            flag = f"--{section}.{key.replace('_', '-')}"
            raise ConfigError(f"[{section}] needs {key!r}; give it with {flag}.")
    return kind(**converted)


def _convert(value: Any, annotation: Any) -> Any:
    """The value as its field's type wants it; raises ValueError where it cannot be."""
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    options = typing.get_args(annotation) if union else (annotation,)
    if isinstance(value, str):
        if type(None) in options and value.lower() == "none":
            return None
        if any(typing.get_origin(option) is tuple for option in options):
            value = [part.strip() for part in value.split(",")] if value else []
    if isinstance(value, bool) and bool not in options:  # pydantic takes it for 0 or 1
        raise ValueError
    converted = _adapter(annotation).validate_python(value)
    if isinstance(converted, int) and abs(converted) >= 1 << 63:  # no tensor, nor seed, takes it
        raise ValueError
    return converted


def format_toml(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """The sections as TOML; `read_toml` gives the same values back.

    Values are text, numbers, truth values, paths (as text), and lists or tuples of these; a key
    whose value is None is left out, so that its default applies again.
    """
    lines = []
    for section, values in sections.items():
        given = {_format_key(key): value for key, value in values.items() if value is not None}
        written = [f"{key} = {_format_value(value)}" for key, value in given.items()]
        lines += [f"[{_format_key(section)}]", *written, ""]
    return "\n".join(lines)


def _format_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _format_text(key)


def _format_value(value: Any) -> str:
    if isinstance(value, str | Path):
        return _format_text(str(value))
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_format_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    raise TypeError(f"TOML settings hold no {type(value).__name__}: {value!r}")


def _format_text(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ConfigError(f"settings must be valid Unicode; got {text!r}. Rename the file.")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
