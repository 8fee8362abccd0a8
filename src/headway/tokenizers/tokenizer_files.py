"""Tokenizers in files of any kind: the way in for whatever is not simply a run's own."""

from collections.abc import Mapping
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from headway.core.disk import refuse_large
from headway.core.errors import DataError

MAX_BYTES = 1 << 28
"""Ten times what the largest vocabularies in use take."""

_BERT_MARKERS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def read(path: Path) -> tuple[str, Path]:
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


def refusal(error: BaseException, origin: str) -> BaseException:
    """What to raise for a file that the library cannot parse; an interruption is none."""
    if isinstance(error, (KeyboardInterrupt, SystemExit)):
        return error
    return DataError(
        f"{origin} is no tokenizer of the `tokenizers` library ({error}). "
        "Give a run folder, a tokenizer.json or a vocab.txt."
    )


def id_too_large(vocabulary: Mapping[str, int], n_ids: int, origin: str) -> DataError:
    """For a piece whose id no vocabulary has."""
    piece = max(vocabulary, key=vocabulary.__getitem__)
    return DataError(
        f"the ids of a vocabulary are below {n_ids:,}; in {origin} {piece[:40]!r} has "
        f"{vocabulary[piece]:,}. Take that file from a copy, or another tokenizer."
    )


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
