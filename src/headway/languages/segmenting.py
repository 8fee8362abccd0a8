"""Chinese and other text without spaces, cut into words by a segmenter that the user installs."""

import importlib
import logging
import warnings
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Literal

from headway.core.errors import ConfigError

Segmenter = Literal["none", "jieba"]

_UNSPACED = 15.0
"""Characters to a space, above which words are not what white space separates."""


def segmenter(name: Segmenter) -> Callable[[str], str]:
    """What puts spaces between the words of a text.

    Raises:
        ConfigError: it is not installed.
    """
    if name == "none":
        return _as_it_is
    jieba = _jieba()
    if jieba is None:
        raise ConfigError(
            "words of text without spaces are found by jieba, which is not installed. "
            "Install it (pip install 'headway[chinese]'), put spaces between the words, or take "
            "--text.unit characters."
        )
    return lambda text: " ".join(word for word in jieba.cut(text) if not word.isspace())


def dictionary_words(text: str) -> list[str] | None:
    """A Chinese text cut into words of jieba's dictionary and single characters; None without it.

    Words that it only guesses at are left in characters.
    """
    jieba = _jieba()
    return None if jieba is None else list(jieba.cut(text, HMM=False))


def _jieba() -> Any:
    """The segmenter; None where it is not installed."""
    try:
        with warnings.catch_warnings():  # of its own old ways
            warnings.simplefilter("ignore")
            jieba = importlib.import_module("jieba")
    except ImportError:
        return None
    jieba.setLogLevel(logging.WARNING)
    return jieba


def _as_it_is(text: str) -> str:
    return text


def unspaced(lines: Iterable[str]) -> bool:
    """Whether the words of a text, by its first lines, are not separated by spaces."""
    some = list(islice(filter(None, lines), 1_000))
    n_characters, n_spaces = sum(map(len, some)), sum(len(line.split()) for line in some)
    return parts_no_words(n_characters, n_spaces)


def parts_no_words(n_characters: int, n_parts: int) -> bool:
    """Whether what white space parts is too long for words."""
    return n_characters > _UNSPACED * max(1, n_parts)
