"""The ids of many texts, looked up by word where that is sure to give the same."""

import json
import re
from collections.abc import Sequence
from itertools import chain

from headway.core.subword_training import WORDS
from headway.core.subwords import Encode, Subwords

_MOST = 1 << 17  # words remembered: some 30 MB

# Characters on which Python's classes and those of Unicode agree, whatever the version: ASCII,
# letters of Latin, Greek and Cyrillic, and the common punctuation around them.
_SIMPLE = re.compile("[ -~\u00a1\u00a7\u00ab\u00bb\u00bf\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0391-\u03a1\u03a3-\u03ce\u0400-\u0481\u048a-\u052f\u2010-\u2027\u20ac]*")  # fmt: skip # noqa: E501
_WORD = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def _simple(text: str) -> bool:
    return (text.isascii() and text.isprintable()) or _SIMPLE.fullmatch(text) is not None


class WordIds:
    """Encodes texts as `encode` does, which it asks for new words and for difficult texts.

    A byte-level BPE vocabulary that was learned here cuts a text into words, each of which becomes
    ids by itself. Where Python's regular expressions are sure to find the same words, the ids of
    those that were met before are known: half of the time of encoding text in simple scripts.
    """

    def __init__(self, encode: Encode) -> None:
        """Begin with no words."""
        self._encode = encode
        self._known: dict[str, list[int]] = {}

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        known = self._known
        words = [_WORD.findall(text) if _simple(text) else None for text in texts]
        new = list(set(chain.from_iterable(filter(None, words))).difference(known))
        others = [text for text, some in zip(texts, words, strict=True) if some is None]
        ids = self._encode([*new, *others])
        known.update(zip(new, ids, strict=False))
        others_ids = iter(ids[len(new) :])
        rows = [
            next(others_ids)
            if some is None
            else list(chain.from_iterable(map(known.__getitem__, some)))
            for some in words
        ]
        if len(known) > _MOST:
            self._known = {}  # another thread may still be using the old one
        return rows


def has_known_words(serialized: str) -> bool:
    """Whether a tokenizer (its JSON) cuts texts into words as those that are learned here do."""
    steps = (json.loads(serialized)["pre_tokenizer"] or {}).get("pretokenizers", [])
    patterns = [step["pattern"] for step in steps if step["type"] == "Split"]
    return patterns == [{"Regex": WORDS}]


def quicker(encode: Encode, vocabulary: object) -> Encode:
    """What gives many texts the ids that `encode` of `vocabulary` gives, sooner if it lets it."""
    if type(vocabulary) is Subwords and has_known_words(vocabulary.serialized):
        return WordIds(encode).encode
    return encode
