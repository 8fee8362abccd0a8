"""What may be said of a file of pairs: asked where anything is said of one."""

import re
import unicodedata

from headway.errors import ConfigError
from headway.text.languages import is_language

LEAST_WEIGHT, GREATEST_WEIGHT = 1e-3, 1e3

_TAG = re.compile(r"[\w-]+")


def check_use(weight: float, tag: str, source: str | None, target: str | None) -> None:
    """Raise ConfigError for a value that no file could be used with."""
    if not LEAST_WEIGHT <= weight <= GREATEST_WEIGHT:
        raise ConfigError(
            f"a weight says how often a pair is seen in a pass, from {LEAST_WEIGHT:g} to "
            f"{GREATEST_WEIGHT:g}; got {weight:g}. Try @2, or leave the file out."
        )
    if tag:
        check_tag(tag)
    for code in (source, target):
        if code is not None and not is_language(code):
            raise ConfigError(
                f"a language is given by its code, such as en or pt_BR; got {code!r}."
            )


def check_tag(tag: str) -> str:
    """The tag as it is written in text; raises ConfigError for one that cannot be told apart."""
    composed = unicodedata.normalize("NFC", tag)
    if not _TAG.fullmatch(composed):
        raise ConfigError(
            f"a tag is one word of letters, digits, - and _; got {tag!r}. Try tag=mine."
        )
    return composed
