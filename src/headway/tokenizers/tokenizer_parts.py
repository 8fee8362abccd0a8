"""Which parts a tokenizer.json may have: those that take time and room in proportion to a text.

Entered for every file that is not as `headway.core.subword_training` writes it. A part that is not
listed, or one with a pattern of its own, could take for ever, or write any length for a character.
"""

from collections.abc import Iterator
from typing import Any

from headway.core.subword_training import WORDS
from headway.tokenizers.wordpiece import PATTERN

_MOST_PARTS = 10
_LONGEST_TEXT = 10
_LONGEST_WORD = 1_000
"""Characters that WordPiece parts: its time grows with their square."""

_PARTS = {
    "normalizer": "NFC NFD NFKC NFKD Lowercase StripAccents BertNormalizer Strip Nmt Prepend "
    "Replace Sequence",
    "pre_tokenizer": "ByteLevel BertPreTokenizer Whitespace WhitespaceSplit Metaspace Punctuation "
    "Digits UnicodeScripts Split Sequence",
    "decoder": "ByteLevel Fuse WordPiece Metaspace BPEDecoder ByteFallback Strip Replace Sequence",
    "model": "BPE WordPiece WordLevel Unigram",
}
_PATTERNS = ({"Regex": WORDS}, {"Regex": PATTERN})
"""Those that are written here."""


def refuse_unbounded(given: dict[str, Any]) -> None:
    """Raise ValueError where a parsed tokenizer.json has a part that is not listed."""
    for name, known in _PARTS.items():
        parts = list(_flat(given.get(name)))
        if len(parts) > _MOST_PARTS:
            raise ValueError(f"its {name} has {len(parts)} parts; {_MOST_PARTS} are the most")
        for part in parts:
            if part.get("type", "BPE") not in known.split():
                raise ValueError(f"its {name} is {part['type']!s:.40}; known are {known}")
            if why := _unbounded(part):
                raise ValueError(f"its {name} {part.get('type')} {why}")


def _flat(part: Any) -> Iterator[dict[str, Any]]:
    if part is None:
        return
    if part.get("type") != "Sequence":
        yield part
    for name in ("normalizers", "pretokenizers", "decoders"):
        for inner in part.get(name, ()):
            yield from _flat(inner)


def _unbounded(part: dict[str, Any]) -> str:
    pattern, kind = part.get("pattern"), part.get("type")
    if pattern is not None and pattern not in _PATTERNS and "String" not in pattern:
        return "has a regular expression of its own"
    if kind == "Replace" and len(part["content"]) > len((pattern or {})["String"]):
        return "writes more than it reads"
    texts = [part.get(name) for name in ("prepend", "prefix", "suffix", "content", "replacement")]
    if any(len(text or "") > _LONGEST_TEXT for text in texts):
        return f"writes more than {_LONGEST_TEXT} characters"
    if part.get("max_input_chars_per_word", 0) > _LONGEST_WORD:
        return f"parts words of over {_LONGEST_WORD:,} characters"
    return "draws at random" if part.get("dropout") else ""
