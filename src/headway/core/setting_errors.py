"""Why a setting is refused, in words: entered only once one is."""

import dataclasses
import difflib
import typing
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from types import UnionType
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

ELSEWHERE = {
    "lr": "learning_rate", "batch_size": "batch_tokens", "max_tokens": "batch_tokens",
    "epochs": "max_steps", "max_epochs": "max_steps", "steps": "max_steps", "time": "budget",
    "gpu": "device", "cuda": "device", "fp16": "precision", "num_workers": "workers",
    "beam_size": "beam", "num_beams": "beam", "vocab_size": "vocabulary_size",
    "hidden_size": "d_model", "ffn_dim": "d_ff", "num_heads": "heads", "layers": "encoder_layers",
    "warmup": "warmup_steps", "grad_clip": "clip_norm", "save_every": "checkpoint_every",
    "early_stopping": "patience", "src": "source", "tgt": "target", "output": "out",
    "validate_every": "checkpoint_every", "eval_every": "checkpoint_every",
    "eval_steps": "checkpoint_every", "save_steps": "checkpoint_every", "save_dir": "out",
    "arch": "preset", "scheduler": "schedule",
}  # fmt: skip
"""What other toolkits call them."""


def closest(given: str, known: Iterable[str]) -> str:
    """What is known and most like it; nothing where none is close."""
    return next(iter(difflib.get_close_matches(given, list(known), n=1)), "")


def suggestion(given: str, known: Iterable[str]) -> str:
    """` Did you mean ..?`, where something known is close."""
    close = closest(given, known)
    return f" Did you mean {close!r}?" if close else ""


def unknown_name(option: str, given: str, known: Iterable[str]) -> ConfigError:
    """For one of several names, such as a preset's, that is none of them."""
    return ConfigError(
        f"{option} must be one of {', '.join(known)}; got {given!r}.{suggestion(given, known)}"
    )


def unknown_preset(given: str, known: Collection[str], task: str) -> ConfigError:
    """For what is no preset of a task, which may have none."""
    if known:
        return unknown_name("--preset", given, known)
    return ConfigError(
        f"the task {task} has no presets; got --preset {given}. Leave it out: --model.type names a "
        "model, which has sizes of its own (headway settings tells them)."
    )


def unknown_section(
    section: str, known: Sequence[str], where: str, written: Callable[[str], str]
) -> ConfigError:
    """`written` says how a section is written there, for the suggestion."""
    close = difflib.get_close_matches(section, known, n=1, cutoff=0.5)
    remedy = f"did you mean {written(close[0])}?" if close else f"there are {', '.join(known)}."
    return ConfigError(f"unknown section {section!r} {where}; {remedy}")


def unknown_key(key: str, known: Iterable[str], section: str) -> ConfigError:
    """For a key that a section has not; it may have another name elsewhere."""
    known = list(known)
    elsewhere = ELSEWHERE.get(key.lower(), "")
    close = elsewhere if elsewhere in known else closest(key, known)
    remedy = f"did you mean {close!r}?" if close else f"it has {', '.join(known) or 'no keys'}."
    return ConfigError(f"unknown key {key!r} in [{section}]; {remedy}")


_FLAGS = ("preset", "task", "out", "resume")
_SECTION_OF = {"seed": "runtime", "threads": "runtime", "budget": "training", "source": "data"}


def outside_of_sections(key: str, value: Any, path: Path, known: Sequence[str]) -> ConfigError:
    """For a key of a TOML file that stands above all sections."""
    if key in _FLAGS:
        return ConfigError(
            f"{path}: every key belongs to a section; got {key!r} outside of one. It is given on "
            f"the command line: --{key} {value}"
        )
    section = _SECTION_OF.get(key)
    remedy = f"[{section}]" if section else f"one of [{'], ['.join(known)}]"
    return ConfigError(
        f"{path}: every key belongs to a section; got {key!r} outside of one. "
        f"Put it below {remedy}."
    )


def unreadable(path: Path, error: Exception) -> ConfigError:
    """For a TOML file, and what was raised when it was read."""
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return ConfigError(f"settings are text in UTF-8; {path}, line {line} is not. Save it so.")
    if isinstance(error, FileNotFoundError):
        return ConfigError(f"settings file not found: {path}. Check the path.")
    if isinstance(error, OSError):
        return ConfigError(f"cannot read settings file {path}: {error.strerror}. Name a file.")
    return ConfigError(f"{path} is not valid TOML: {error}. Correct that line.")


def wrong_value(
    value: Any, annotation: Any, default: Any, *, section: str, key: str
) -> ConfigError:
    """For a value that is not of the key's type; `default` is shown as an example, if it can be."""
    options = _options(annotation)
    choices = [c for option in options if _is(option, Literal) for c in typing.get_args(option)]
    flag = f"--{section}.{key.replace('_', '-')}"
    remedy = suggestion(value, map(str, choices)) if isinstance(value, str) else ""
    if not remedy and (default in (None, dataclasses.MISSING) or isinstance(default, tuple)):
        remedy = f" Give it as {flag} VALUE, or as {key} = VALUE in TOML."
    elif not remedy:
        example = str(default).lower() if isinstance(default, bool) else str(default)
        remedy = f" For example (the default): {flag} {example}"
    whole = isinstance(value, int) or (isinstance(value, str) and value.lstrip("+-").isdecimal())
    small = " between -2^63 and 2^63" if int in options and whole else ""
    try:
        given = f"{value!r:.200}"
    except (ValueError, RecursionError):  # thousands of digits, or of lists in lists
        given = f"too long a {type(value).__name__}"
    rule = described_type(annotation) + small
    return ConfigError(f"[{section}] {key} must be {rule}; got {given}.{remedy}")


def described_type(annotation: Any) -> str:
    """What a value of this type is, in words."""
    described = []
    for option in _options(annotation):
        arguments = typing.get_args(option)
        if _is(option, Literal):
            described.append("one of " + ", ".join(repr(choice) for choice in arguments))
        elif _is(option, tuple):
            inner = " and ".join(described_type(part) for part in arguments if part is not ...)
            described.append(f"a list, each item {inner}")
        else:
            described.append(_WORDS.get(option, getattr(option, "__name__", str(option))))
    return " or ".join(described)


def _options(annotation: Any) -> Sequence[Any]:
    """The members of a union, or the type itself."""
    union = _is(annotation, typing.Union) or _is(annotation, UnionType)
    return typing.get_args(annotation) if union else (annotation,)


def _is(annotation: Any, kind: Any) -> bool:
    return typing.get_origin(annotation) is kind
