"""Tokenizers in files of any kind: the way in for whatever need not be what is learned here."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from headway.core.disk import refuse_large
from headway.core.errors import DataError
from headway.core.subword_training import WORDS
from headway.core.subwords import MAX_BYTES, Subwords, no_tokenizer
from headway.tokenizers.learners import PATTERN

# Which parts a tokenizer.json may have: those that take time and room in proportion to a text. One
# that is not listed, or with a pattern of its own, could take for ever, or write any length for a
# character.
_MOST_PARTS = 10
_LONGEST_TEXT = 10
_LONGEST_WORD = 1_000
"""Characters that WordPiece parts: its time grows with their square."""

_PARTS = {
    "normalizer": "NFC NFD NFKC NFKD Lowercase StripAccents BertNormalizer Strip Nmt Prepend "
    "Replace Precompiled Sequence",
    "pre_tokenizer": "ByteLevel BertPreTokenizer Whitespace WhitespaceSplit Metaspace Punctuation "
    "Digits UnicodeScripts Split Sequence",
    "decoder": "ByteLevel Fuse WordPiece Metaspace BPEDecoder ByteFallback Strip Replace Sequence",
    "model": "BPE WordPiece WordLevel Unigram",
}
_SPACES = {"Regex": " {2,}"}
_PATTERNS = ({"Regex": WORDS}, {"Regex": PATTERN}, _SPACES)
"""Those that are written here, and that of SentencePiece's files."""
_LONGEST_MAPPED = 100
"""Bytes that stand for a character in a table of SentencePiece's; NFKC has 33 at most."""

_BERT_MARKERS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def load(path: Path) -> Subwords:
    """The sub-words in a `tokenizer.json`, a BERT `vocab.txt`, or a folder with one, such as a run.

    Raises:
        DataError: the file is missing, is neither of these, or has no markers.
    """
    serialized, file = _read(Path(path))
    try:
        _refuse_unbounded(json.loads(serialized))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise no_tokenizer(error, str(file)) from None
    return Subwords(serialized, str(file))


def _read(path: Path) -> tuple[str, Path]:
    """A tokenizer in the `tokenizers` JSON format, and the file that it is from.

    `path` is a `tokenizer.json`, a BERT `vocab.txt`, or a folder with one. Raises DataError where
    there is none.
    """
    file = path / "tokenizer.json" if path.is_dir() else path
    if path.is_dir() and not file.exists() and (path / "vocab.txt").exists():
        file = path / "vocab.txt"
    try:
        refuse_large(file, MAX_BYTES)
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(
            f"a tokenizer is a run folder, a tokenizer.json or a vocab.txt; "
            f"{file} does not exist. Check the path."
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"a tokenizer file is UTF-8 text; {file} is not (byte {error.start}). "
            "Give a tokenizer.json or a vocab.txt."
        ) from None
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}. Check the path.") from None
    return text if text.lstrip().startswith("{") else read_bert(text).to_str(), file


def read_bert(text: str) -> Tokenizer:
    """The vocabulary of a `vocab.txt`.

    It lower-cases and strips accents unless one in a hundred of its pieces has a capital: those of
    Chinese have a few, such as Roman numerals.
    """
    pieces = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    words = [piece for piece in pieces if not piece.startswith("[")]
    lowercase = 100 * sum(piece != piece.lower() for piece in words) < max(1, len(words))
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    tokenizer.add_special_tokens([piece for piece in _BERT_MARKERS if piece in vocabulary])
    return tokenizer


def _refuse_unbounded(given: dict[str, Any]) -> None:
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
    shortest = 2 if pattern == _SPACES else len((pattern or {}).get("String", ""))
    if kind == "Replace" and len(part["content"]) > shortest:
        return "writes more than it reads"
    if kind == "Precompiled":
        table = base64.b64decode(part["precompiled_charsmap"] or "")
        texts_at = 4 + int.from_bytes(table[:4], "little")
        if max(map(len, table[texts_at:].split(b"\0"))) > _LONGEST_MAPPED:
            return f"writes more than {_LONGEST_MAPPED} bytes for a character"
    texts = [part.get(name) for name in ("prepend", "prefix", "suffix", "content", "replacement")]
    if any(len(text or "") > _LONGEST_TEXT for text in texts):
        return f"writes more than {_LONGEST_TEXT} characters"
    if part.get("max_input_chars_per_word", 0) > _LONGEST_WORD:
        return f"parts words of over {_LONGEST_WORD:,} characters"
    return "draws at random" if part.get("dropout") else ""
