"""Words of text without spaces: by a segmenter that the user installs, or put together."""

import importlib
import logging
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, islice, pairwise
from typing import Any, Literal

from headway.core.errors import ConfigError
from headway.languages.scripts import HAN_OR_KANA

Segmenter = Literal["none", "jieba", "punctuation"]

_MARKS = re.compile(
    r"""(?<!\S)[(\[{"“‘«¿¡„]+(?=\w) | (?<=[\w%°+])[.,;:!?…)\]}"”’»']+(?!\S)""", re.VERBOSE
)
"""Punctuation in front of a word, and behind one: C++, U.S, 5% and don't stay whole."""

_UNSPACED = 15.0
"""Characters to a space, above which words are not what white space separates."""
_TOGETHER = 3.0
"""Of these letters in a row: 1.5 to 2 where words are cut, 5 to 8 where they are not."""


def segmenter(name: Segmenter) -> Callable[[str], str]:
    """What puts spaces between the words of a text: where there are none (`jieba`), or between
    words and punctuation.

    Raises ConfigError: it is not installed.
    """
    if name == "none":
        return _as_it_is
    if name == "punctuation":
        return _parted
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


def _parted(text: str) -> str:
    return " ".join(_MARKS.sub(lambda found: f" {' '.join(found[0])} ", text).split())


def has_marks(word: str) -> bool:
    """Whether punctuation stands at an end of a word."""
    return _MARKS.search(word) is not None


def unspaced(lines: Iterable[str]) -> bool:
    """Whether the words of a text, by its first lines, are not separated by spaces.

    Where a quarter of it is Chinese or Japanese, their letters tell: cut into words they stand in
    ones and twos. Lines may be short, and names and code may have spaces around them.
    """
    some = list(islice(filter(None, lines), 1_000))
    n_characters, n_spaces = sum(map(len, some)), sum(len(line.split()) for line in some)
    stretches = [len(found) for line in some for found in HAN_OR_KANA.findall(line)]
    if sum(stretches) > n_characters / 4:
        return sum(stretches) > _TOGETHER * len(stretches)
    return parts_no_words(n_characters, n_spaces)


def parts_no_words(n_characters: int, n_parts: int) -> bool:
    """Whether what white space parts is too long for words."""
    return n_characters > _UNSPACED * max(1, n_parts)


# -- words of single characters, put together ------------------------------------------------------

_CHINESE = re.compile("[\u4e00-\u9fff]")
_NOT_CHINESE = re.compile("[\u3041-\u30ff\uac00-\ud7a3]")
"""Japanese and Korean letters."""

Spans = Sequence[tuple[int, int]]
Looks = Mapping[int, Counter[int]]
"""How often each word of the translation looks at each word of the source."""


def whole_words(text: str, words: Spans, tokens: Spans, looks: Looks) -> list[tuple[int, int]]:
    """The words of a text, of which `words` has characters one by one where no spaces part them.

    Of Chinese, where jieba is installed, words are those of its dictionary; elsewhere what one
    sub-word of `tokens` has written belongs together. Other characters do that look at the same
    word of the source.
    """
    listed = _listed(text)
    bound = _inner(tokens if listed is None else listed)
    settled = {at for start, end in listed or () for at in range(start, end) if end - start > 1}
    joined: list[tuple[int, int]] = []
    for n, (start, end) in enumerate(words):
        if n and _side_by_side(text, words[n - 1], words[n]):
            open_to = settled.isdisjoint((start - 1, start))
            if start in bound or (open_to and _look_alike(looks, n - 1, n)):
                joined[-1] = joined[-1][0], end
                continue
        joined.append((start, end))
    return joined


def _listed(text: str) -> list[tuple[int, int]] | None:
    """The words of a Chinese text by the dictionary; None for other text, and without one."""
    if not _CHINESE.search(text) or _NOT_CHINESE.search(text):
        return None
    found = dictionary_words(text)
    return None if found is None else list(pairwise(accumulate(map(len, found), initial=0)))


def _inner(spans: Iterable[tuple[int, int]]) -> set[int]:
    """The places between two characters of a span."""
    return {place for start, end in spans for place in range(start + 1, end)}


def _side_by_side(text: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether these are two letters, each a word by itself as far as is known, without a gap."""
    letters = (end - start == 1 and text[start].isalpha() for start, end in (one, other))
    return one[1] == other[0] and all(letters)


def _look_alike(looks: Looks, one: int, other: int) -> bool:
    """Whether two words look at the same word of the source more than at others."""
    both = [looks[n].most_common(1)[0][0] for n in (one, other) if looks.get(n)]
    return len(both) == 2 and both[0] == both[1]
