"""How several files become one corpus: how often each is seen, and what stands before its text."""

import difflib
import math
import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.errors import ConfigError

LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
"""A language code, such as `en` or `pt_BR`."""

_TAG = re.compile(r"[\w-]+")
_LAST_KEY = re.compile(r"(.*):(\w+)=([^:@/\\]*)", re.DOTALL)
_FIELDS = {"tag": "tag", "source": "source_language", "target": "target_language"}


@dataclass(frozen=True)
class Use:
    """How the pairs of one file are used."""

    weight: float = 1.0
    """How often a pair is seen in one pass through the corpus; 0.5 is every other pass."""
    tag: str = ""
    """Put in front of the source text as `<tag> `; empty for none."""
    source_language: str | None = None
    target_language: str | None = None
    """Which languages of this file, where they are not those of the whole corpus."""

    def __post_init__(self) -> None:
        """Raise ConfigError for a value that no file could be used with."""
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise ConfigError(
                f"a weight says how often a pair is seen in a pass, and is above 0; got "
                f"{self.weight:g}. Try @2, or leave the file out."
            )
        if self.tag:
            check_tag(self.tag)
        for code in (self.source_language, self.target_language):
            if code is not None and not LANGUAGE.fullmatch(code):
                raise ConfigError(
                    f"a language is given by its code, such as en or pt_BR; got {code!r}."
                )

    @property
    def keys(self) -> str:
        """The part of a specification behind path and weight: `:tag=mine:target=de`, or nothing."""
        values = {key: getattr(self, name) for key, name in _FIELDS.items()}
        return "".join(f":{key}={value}" for key, value in values.items() if value)


PLAIN = Use()
"""Seen once a pass, without a tag, in the corpus's languages."""


def check_tag(tag: str) -> str:
    """The tag as it is written in text; raises ConfigError for one that cannot be told apart."""
    composed = unicodedata.normalize("NFC", tag)
    if not _TAG.fullmatch(composed):
        raise ConfigError(
            f"a tag is one word of letters, digits, - and _; got {tag!r}. Try tag=mine."
        )
    return composed


def tagged(text: str, tag: str) -> str:
    """The text as the model reads it: `<tag> text`; without a tag, or blank, it stays."""
    return f"<{tag}> {text}" if tag and text.strip() else text


def parse_pairs_file(text: str, exists: Callable[[str], bool] = os.path.exists) -> tuple[Path, Use]:
    """Read `PATH[@WEIGHT][:key=value ...]` with the keys `tag`, `source` and `target`.

    A file that `exists` under a longer name wins: `a@2` is the file of that name, if there is one.

    Raises:
        ConfigError: an unknown or repeated key, no path, or a value that `Use` refuses.
    """
    rest, keys = text, dict[str, str]()
    while not exists(rest) and (found := _LAST_KEY.fullmatch(rest)):
        rest, key, value = found.groups()
        _check_key(key, value, keys, text)
        keys[key] = unicodedata.normalize("NFC", value)
    rest, weight = (rest, 1.0) if exists(rest) else _without_weight(rest, exists, text)
    if not rest:
        raise ConfigError(f"a file of pairs is written PATH[@WEIGHT][:key=value]; got {text!r}.")
    return Path(rest), Use(weight, **{_FIELDS[key]: value for key, value in keys.items()})


def format_pairs_file(path: Path, use: Use) -> str:
    """The text that `parse_pairs_file` reads as these, wherever the files may be by then."""
    plain = str(path)
    if use == PLAIN and not _may_be_misread(plain):
        return plain
    return f"{plain}@{repr(use.weight).removesuffix('.0')}{use.keys}"


def absolute_pairs_files(texts: Sequence[str]) -> list[str]:
    """The same specifications, to be read from any folder."""
    parsed = (parse_pairs_file(text) for text in texts)
    return [format_pairs_file(path.absolute(), use) for path, use in parsed]


def _check_key(key: str, value: str, known: dict[str, str], text: str) -> None:
    if key in known:
        raise ConfigError(f"{key}= is given once for a file; got it twice in {text!r}.")
    if key not in _FIELDS:
        close = difflib.get_close_matches(key, _FIELDS, n=1)
        remedy = f"did you mean {close[0]!r}?" if close else f"it may be {', '.join(_FIELDS)}."
        raise ConfigError(f"unknown key {key!r} in {text!r}; {remedy}")
    if not value:
        raise ConfigError(f"{key}= needs a value; got none in {text!r}. Leave the key out.")


def _without_weight(rest: str, exists: Callable[[str], bool], text: str) -> tuple[str, float]:
    """The path, and the number behind its last @, if there is one."""
    path, at, number = rest.rpartition("@")
    if not at or "/" in number or "\\" in number:
        return rest, 1.0
    try:
        return path, float(number)
    except ValueError:
        if exists(path):
            raise ConfigError(
                f"a weight is a number, as in mine.tsv@8; got {number!r} in {text!r}."
            ) from None
    return rest, 1.0


def _may_be_misread(path: str) -> bool:
    try:
        return parse_pairs_file(path, lambda _path: False) != (Path(path), PLAIN)
    except ConfigError:
        return True
