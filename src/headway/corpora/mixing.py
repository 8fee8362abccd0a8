"""How several files become one corpus: how often each is seen, and what stands before its text."""

import difflib
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.core.errors import ConfigError
from headway.languages.codes import is_language
from headway.operations.argument_types import string

USE_KEYS = {"tag": "tag", "source": "source_language", "target": "target_language"}
"""What is said of a file by `key=value`, and how it is called here."""

LEAST_WEIGHT, GREATEST_WEIGHT = 1e-3, 1e3

_TAG = re.compile(r"[\w-]+")
_LAST_KEY = re.compile(r"(.*):(\w+)=([^:@/\\]*)", re.DOTALL)


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

    @property
    def keys(self) -> str:
        """The part of a specification behind path and weight: `:tag=mine:target=de`, or nothing."""
        values = {key: getattr(self, name) for key, name in USE_KEYS.items()}
        return "".join(f":{key}={value}" for key, value in values.items() if value)


PLAIN = Use()
"""Seen once a pass, without a tag, in the corpus's languages."""


def checked(use: Use) -> Use:
    """The same; raises ConfigError for a value that no file could be used with."""
    if not LEAST_WEIGHT <= use.weight <= GREATEST_WEIGHT:
        raise ConfigError(
            f"a weight says how often a pair is seen in a pass, from {LEAST_WEIGHT:g} to "
            f"{GREATEST_WEIGHT:g}; got {use.weight:g}. Try @2, or leave the file out."
        )
    if use.tag:
        check_tag(use.tag)
    for code in (use.source_language, use.target_language):
        if code is not None and not is_language(code):
            raise ConfigError(
                f"a language is given by its code, such as en or pt_BR; got {code!r}."
            )
    return use


def check_tag(tag: str) -> str:
    """The tag as it is written in text; raises ConfigError for one that cannot be told apart."""
    composed = unicodedata.normalize("NFC", tag)
    if not _TAG.fullmatch(composed):
        raise ConfigError(
            f"a tag is one word of letters, digits, - and _; got {tag!r}. Try tag=mine."
        )
    return composed


def refuse_weights(texts: Sequence[str], uses: Iterable[Use]) -> None:
    """Raise ConfigError where a file of validation pairs has a weight; `texts` say how each was
    given."""
    for text, use in zip(texts, uses, strict=True):
        if use.weight != PLAIN.weight:
            raise ConfigError(
                "every validation pair is scored once, whatever the weights in training; got "
                f"--valid-pairs {text}. Leave @{use.weight:g} out."
            )


def tagged(text: str, tag: str) -> str:
    """The text as the model reads it: `<tag> text`; without a tag, or blank, it stays."""
    return f"<{tag}> {text}" if tag and text.strip() else text


def tags_read(uses: Iterable[Use], before: Sequence[str] = ()) -> tuple[str, ...]:
    """Every tag that a model reads, after those `before`; empty text stands for untagged text.

    Nothing at all where no text has a tag.
    """
    found = tuple(dict.fromkeys([*before, *(use.tag for use in uses)]))
    return () if found == ("",) else found


def chosen_tag(asked: str | None, known: Sequence[str]) -> str:
    """The tag for a text, where `known` are those of training (see `tags_read`).

    Where none is asked for that is no tag, if the model has read text without one, else its only
    tag.

    Raises:
        ConfigError: a tag that was not there in training, or none where there is a choice to make.
    """
    names = ", ".join(tag for tag in known if tag)
    if asked:
        tag = check_tag(string(asked, "tag"))
        if tag not in known:
            remedy = f"Its tags: {names}." if names else "It has none: leave the tag out."
            raise ConfigError(f"a model knows the tags of its training; got {tag!r}. {remedy}")
        return tag
    if not known or "" in known:
        return ""
    if len(known) > 1 or asked is not None:
        raise ConfigError(
            f"this model has read no text without a tag: it must be told which. Its tags: {names}. "
            f"Add --tag {known[0]}, or another of them."
        )
    return known[0]


def both_ways(directions: Iterable[tuple[str | None, str | None]]) -> bool:
    """Whether a side is in several languages, so that its texts may be on the other side too."""
    return any(len({*codes} - {None}) > 1 for codes in zip(*directions, strict=True))


def parse_pairs_file(text: str, exists: Callable[[str], bool] = os.path.exists) -> tuple[Path, Use]:
    """Read `PATH[@WEIGHT][:key=value ...]` with the keys `tag`, `source` and `target`.

    A file that `exists` under a longer name wins: `a@2` is the file of that name, if there is one.

    Raises:
        ConfigError: an unknown or repeated key, no path, or a value that `checked` refuses.
    """
    rest, keys = text, dict[str, str]()
    while not exists(rest) and (found := _LAST_KEY.fullmatch(rest)):
        rest, key, value = found.groups()
        _check_key(key, value, keys, text)
        keys[key] = unicodedata.normalize("NFC", value)
    rest, weight = (rest, 1.0) if exists(rest) else _without_weight(rest, exists, text)
    if not rest:
        raise ConfigError(f"a file of pairs is written PATH[@WEIGHT][:key=value]; got {text!r}.")
    use = Use(weight, **{USE_KEYS[key]: value for key, value in keys.items()})
    return Path(rest), checked(use)


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
    if key not in USE_KEYS:
        close = difflib.get_close_matches(key, USE_KEYS, n=1)
        remedy = f"did you mean {close[0]!r}?" if close else f"it may be {', '.join(USE_KEYS)}."
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
