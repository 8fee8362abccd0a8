"""Tokenizers in files of any kind: the way in for whatever need not be what is learned here."""

import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from headway.core.disk import refuse_large
from headway.core.errors import DataError
from headway.core.subwords import MAX_BYTES, Subwords, no_tokenizer
from headway.tokenizers.tokenizer_parts import refuse_unbounded

_BERT_MARKERS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def load(path: Path) -> Subwords:
    """The sub-words in a `tokenizer.json`, a BERT `vocab.txt`, or a folder with one, such as a run.

    Raises:
        DataError: the file is missing, is neither of these, or has no markers.
    """
    serialized, file = _read(Path(path))
    try:
        refuse_unbounded(json.loads(serialized))
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

    It lower-cases and strips accents unless one of its pieces has a capital.
    """
    pieces = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    words = [piece for piece in pieces if not piece.startswith("[")]
    lowercase = all(piece == piece.lower() for piece in words)
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    tokenizer.add_special_tokens([piece for piece in _BERT_MARKERS if piece in vocabulary])
    return tokenizer
