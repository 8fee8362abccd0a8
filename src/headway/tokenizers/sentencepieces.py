"""Sub-words of a Marian model: two SentencePiece models, and one list of pieces with their ids.

A source text is parted by one model, a target text by the other, and each piece is looked up in the
list; one that is not there is unknown. Three files in a run stand for its tokenizer.json.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from headway.core.disk import refuse_large, write_bytes
from headway.core.errors import ConfigError, DataError
from headway.core.subwords import MOST_IDS, SpecialIds, Subwords

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor as Processor

SOURCE, TARGET, LIST = "source.spm", "target.spm", "vocab.json"
MAX_BYTES = 1 << 26
"""Of each file: over ten times what any has."""
_CODE, _TAG = re.compile(r">>([\w-]+)<<"), re.compile(r"<([\w-]+)> ")
_MARKERS = {"padding": "<pad>", "unknown": "<unk>", "end": "</s>"}


class SentencePieces(Subwords):
    """The sub-words of a Marian model; its decoder is fed padding first.

    A code of a language in front is one piece: `>>fra<< some text`, as Marian writes it, or
    `<fra> some text`, as `headway.corpora.mixing.tagged` does.
    """

    def __init__(self, source: bytes, target: bytes, listed: bytes, origin: str) -> None:
        """Take the contents of the three files; `origin` is the folder that errors name."""
        self._files = source, target, listed
        self._source, self._target = _processor(source, origin), _processor(target, origin)
        self._ids = _ids(listed, origin)
        self._pieces = sorted(self._ids, key=self._ids.__getitem__)
        self.special = SpecialIds(
            begin=None, **{role: self._ids[piece] for role, piece in _MARKERS.items()}
        )
        self._markers = {self.special.padding, self.special.end}

    @classmethod
    def of_folder(cls, path: Path) -> "SentencePieces":
        """Read the three files of a folder.

        Raises:
            DataError: one is missing or damaged.
            ConfigError: SentencePiece is not installed.
        """
        contents = {name: read_file(path / name) for name in (SOURCE, TARGET, LIST)}
        return cls(contents[SOURCE], contents[TARGET], contents[LIST], str(path))

    def save(self, path: Path) -> None:
        """Write the three files beside `path`, where others have their tokenizer.json."""
        for name, content in zip((SOURCE, TARGET, LIST), self._files, strict=True):
            write_bytes(path.with_name(name), content)

    def __reduce__(self) -> Any:
        """For another process."""
        return SentencePieces, (*self._files, "a tokenizer")

    def fingerprint(self) -> str:
        """SHA-256 of the three files: equal fingerprints give equal ids."""
        each = "".join(hashlib.sha256(content).hexdigest() for content in self._files)
        return hashlib.sha256(each.encode("ascii")).hexdigest()

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each source text, without markers."""
        return [self._encoded(text, self._source) for text in texts]

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each target text, without markers."""
        return [self._encoded(text, self._target) for text in texts]

    def _encoded(self, text: str, processor: "Processor") -> list[int]:
        code, rest = self._language_code(unicodedata.normalize("NFC", text))
        pieces = processor.encode(rest, out_type=str)
        unknown = self.special.unknown
        return [*code, *(self._id(piece, unknown) for piece in pieces)]

    def _id(self, piece: str, unknown: int) -> int:
        """A marker's name in a text stays text, which no piece stands for."""
        return unknown if piece in _MARKERS.values() else self._ids.get(piece, unknown)

    @property
    def codes(self) -> list[str]:
        """Codes of the languages that a model of several is told in front of a text."""
        return [found[1] for piece in self._pieces if (found := _CODE.fullmatch(piece))]

    def _language_code(self, text: str) -> tuple[list[int], str]:
        """The id of a known code in front, if there is one, and the text behind it."""
        found = _CODE.match(text) or _TAG.match(text)
        if found is None or f">>{found[1]}<<" not in self._ids:
            return [], text
        return [self._ids[f">>{found[1]}<<"]], text[found.end() :]

    def source_spans(self, text: str) -> list[tuple[int, int]]:
        """Which characters (start, end) of the NFC `text` each of its ids stands for."""
        normal = unicodedata.normalize("NFC", text)
        code, rest = self._language_code(normal)
        in_front = len(normal) - len(rest)
        found = self._source.encode(rest, out_type="offset_mapping")["offsets"]
        spans = [(in_front + start, in_front + end) for start, end in found]
        return [(0, in_front), *spans] if code else spans

    def decode_batch(self, rows: Iterable[Iterable[SupportsIndex]]) -> list[str]:
        """The text of each row of ids, put together by the target's model."""
        shown = [[self._pieces[i] for i in map(int, row) if i not in self._markers] for row in rows]
        texts = (self._target.decode_pieces(pieces) if pieces else "" for pieces in shown)
        return [text.replace("▁", " ").strip() for text in texts]


def read_file(file: Path) -> bytes:
    """One of the files. Raises DataError where it cannot be read."""
    try:
        refuse_large(file, MAX_BYTES)
        return file.read_bytes()
    except OSError as error:
        raise DataError(
            f"sub-words of SentencePiece are models and a list of pieces; cannot read {file}: "
            f"{error.strerror or error}. Take it from a copy."
        ) from None


def _processor(content: bytes, origin: str) -> "Processor":
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise ConfigError(
            f"the sub-words of {origin} are those of SentencePiece, which is not installed. Try: "
            "pip install 'headway[sentencepiece]'"
        ) from None
    try:
        processor = SentencePieceProcessor()
        processor.LoadFromSerializedProto(content)
        return processor
    except (RuntimeError, ValueError, TypeError) as error:
        raise DataError(
            f"{SOURCE} and {TARGET} in {origin} are to be models of SentencePiece; one is none "
            f"({str(error)[:200]}). Take it from a copy."
        ) from None


def _ids(listed: bytes, origin: str) -> Mapping[str, int]:
    """Of each piece; they are the numbers from 0 on."""
    try:
        ids = json.loads(listed.decode("utf-8"))
        sound = len(ids) <= MOST_IDS and sorted(ids.values()) == [*range(len(ids))]
        sound = sound and all(type(i) is int for i in ids.values())
    except (ValueError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound or not set(_MARKERS.values()) <= set(ids):
        raise DataError(
            f"{LIST} gives pieces their ids, from 0 on, {', '.join(_MARKERS.values())} among them; "
            f"that in {origin} does not. Take it from a copy."
        )
    known: dict[str, int] = ids
    return known
