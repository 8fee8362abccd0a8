"""Text to ids and back."""

import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import SupportsIndex

from tokenizers import Tokenizer, decoders, models, normalizers

from headway.core.disk import refuse_large, write_text
from headway.core.errors import DataError, refuse_below, refuse_beyond
from headway.core.subword_training import byte_level, readable, train_bpe

MOST_IDS = 1 << 22
"""No vocabulary is larger; a list of pieces up to a greater id could take all memory there is."""
LONGEST_PIECE = 1_000
"""Characters; ten times those of the vocabularies in use."""
MAX_BYTES = 1 << 28
"""Of a tokenizer's file; ten times what the largest vocabularies in use take."""

Learn = Callable[[Iterable[str], int], Tokenizer]
"""Learns pieces from lines, at most so many."""
Encode = Callable[[Sequence[str]], list[list[int]]]
"""The ids of each text, without markers."""


@dataclass(frozen=True)
class TextSettings:
    """Section [text]: how text becomes ids."""

    vocabulary_size: int = 0
    """Pieces, source and target together; 0 fits it to the corpus."""

    def __post_init__(self) -> None:
        """Raise ConfigError for sizes below zero, or beyond any vocabulary."""
        refuse_beyond(self, {"vocabulary_size": MOST_IDS}, above="text.")
        refuse_below(self, {"vocabulary_size": 0}, above="text.")


_KNOWN_NAMES = {
    "padding": ("<pad>", "[PAD]"),
    "unknown": ("<unk>", "[UNK]"),
    "begin": ("<s>", "[CLS]", "<bos>", "<|endoftext|>"),
    "end": ("</s>", "[SEP]", "<eos>", "<|endoftext|>"),
}


@dataclass(frozen=True)
class SpecialIds:
    """The ids of the markers: 0, 1, 2, 3 where trained here; a loaded vocabulary keeps its own."""

    padding: int = 0
    unknown: int = 1
    begin: int | None = 2
    """Stands before a text; None in a vocabulary that has no such piece, as Marian's."""
    end: int = 3

    @classmethod
    def of(cls, vocabulary: Mapping[str, int], origin: str) -> "SpecialIds":
        """Find the markers among the pieces of `vocabulary`, which was read from `origin`. Raises
        DataError where one that there must be is absent under every name in use."""
        found: dict[str, int | None] = {}
        for role, names in _KNOWN_NAMES.items():
            found[role] = next((vocabulary[name] for name in names if name in vocabulary), None)
            if found[role] is None and role != "begin":
                raise DataError(
                    f"a vocabulary needs a piece for {role}, called {' or '.join(names)}; "
                    f"{origin} has none. Add one, or give a tokenizer trained by headway."
                )
        return cls(**found)  # type: ignore[arg-type]  # only begin may be None

    @property
    def decoder_begin(self) -> int:
        """What a decoder is fed first; without a begin marker it is padding, as in Marian."""
        return self.padding if self.begin is None else self.begin

    @property
    def unwritten(self) -> tuple[int, ...]:
        """What no output may hold: everything but the end."""
        return tuple({self.padding, self.unknown, self.decoder_begin} - {self.end})


class Subwords:
    """A sub-word vocabulary: trained here, or loaded from another toolkit's file.

    Text is normalized to NFC. The markers are never added by encoding, never shown by decoding,
    and stay ordinary text when a user types them.
    """

    def __init__(self, serialized: str, origin: str) -> None:
        """Take a tokenizer in the `tokenizers` JSON format; `origin` names it in a DataError where
        it is none, or has no markers."""
        self.serialized = serialized
        self._tokenizer = _parse(serialized, origin)
        self._pieces = _pieces_by_id(self._tokenizer, origin)
        self.special = SpecialIds.of(self._tokenizer.get_vocab(with_added_tokens=True), origin)
        self._markers = {self.special.padding, self.special.decoder_begin, self.special.end}

    @classmethod
    def train(
        cls, lines: Iterable[str], *, vocabulary_size: int, learn: Learn = train_bpe
    ) -> "Subwords":
        """Have `learn` learn at most `vocabulary_size` pieces. Raises ConfigError where that cannot
        hold the markers and the alphabet."""
        return cls(learn(lines, vocabulary_size).to_str(), "the new tokenizer")

    @classmethod
    def load(cls, path: Path, foreign: Callable[[Path], "Subwords"] | None = None) -> "Subwords":
        """Read the `tokenizer.json` of `train_bpe` and `save`, or of a folder with one.

        `foreign` reads whatever else there may be; without, that is refused by a DataError.
        """
        path = Path(path)
        file = path / "tokenizer.json" if path.is_dir() else path
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            refuse_large(file, MAX_BYTES)
            serialized = file.read_bytes().decode("utf-8")
            if is_byte_level(serialized):
                return cls(serialized, str(file))
        if foreign:
            return foreign(path)
        raise DataError(
            f"a vocabulary is the tokenizer.json of a run, byte-level BPE; {file} is missing, "
            "unreadable or another. Check the path."
        )

    def save(self, path: Path) -> None:
        """Write `tokenizer.json`, which other programs can read with the `tokenizers` library."""
        write_text(path, self.serialized)

    def __reduce__(self) -> tuple[type["Subwords"], tuple[str, str]]:
        """For another process: the library's own way forgets that typed markers stay text."""
        return Subwords, (self.serialized, "a tokenizer")

    def __len__(self) -> int:
        """How many ids there are, markers included."""
        return len(self._pieces)

    def fingerprint(self) -> str:
        """SHA-256 of the tokenizer file: equal fingerprints give equal ids."""
        return hashlib.sha256(self.serialized.encode("utf-8")).hexdigest()

    @cached_property
    def characters(self) -> frozenset[str]:
        """Every character that some piece has; a space is one."""
        return frozenset(" ").union(*self.pieces(range(len(self))))

    def has(self, piece: str) -> bool:
        """Whether this is a piece of the vocabulary, as `pieces` would show it."""
        return piece in self._pieces

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without markers."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, without markers."""
        normal = [unicodedata.normalize("NFC", text) for text in texts]
        encoded = self._tokenizer.encode_batch_fast(normal, add_special_tokens=False)
        return [encoding.ids for encoding in encoded]

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """The same of texts that are to be written; other models may part them otherwise."""
        return self.encode_batch(texts)

    def source_spans(self, text: str) -> list[tuple[int, int]]:
        """Which characters (start, end) of the NFC `text` each of its ids stands for."""
        normal = unicodedata.normalize("NFC", text)
        encoded = self._tokenizer.encode(normal, add_special_tokens=False)
        return [(start, end) for start, end in encoded.offsets]

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The text of `ids`; padding, begin and end are left out, unknown is shown."""
        return self.decode_batch([ids])[0]

    def decode_batch(self, rows: Iterable[Iterable[SupportsIndex]]) -> list[str]:
        """The text of each row of ids, which may be lists or arrays."""
        shown = [[i for i in map(int, row) if i not in self._markers] for row in rows]
        return self._tokenizer.decode_batch(shown, skip_special_tokens=False)

    def pieces(self, ids: Iterable[SupportsIndex]) -> list[str]:
        """Each id as a reader would write it: a space as `▁`, a lone byte or a tab as `<0x09>`."""
        return [self._pieces[i] for i in ids]


def is_byte_level(serialized: str) -> bool:
    """Whether a tokenizer does to a text what `byte_level` does, whatever its pieces are."""
    given, usual = json.loads(serialized), json.loads(byte_level(models.BPE()).to_str())
    given["model"] = {**given["model"], "vocab": {}, "merges": []}
    return bool(given | {"added_tokens": []} == usual)


def _parse(serialized: str, origin: str) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_str(serialized)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # its parser may panic, which is no Exception
        raise no_tokenizer(error, origin) from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True  # a typed marker stays text; the file cannot say so
    if isinstance(tokenizer.normalizer, normalizers.NFC):
        tokenizer.normalizer = None  # done in Python, which is faster
    return tokenizer


def no_tokenizer(error: BaseException, origin: str) -> DataError:
    """For a file that the library cannot parse, or whose parts could take for ever."""
    return DataError(
        f"{origin} is no tokenizer of the `tokenizers` library ({error}). "
        "Give a run folder, a tokenizer.json or a vocab.txt."
    )


def _pieces_by_id(tokenizer: Tokenizer, origin: str) -> list[str]:
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    last = max(vocabulary.values(), default=-1)
    longest = max(map(len, vocabulary), default=0)
    if last >= MOST_IDS or longest > LONGEST_PIECE:
        raise DataError(
            f"the ids of a vocabulary are below {MOST_IDS:,}, and its pieces have at most "
            f"{LONGEST_PIECE:,} characters; in {origin} are an id {last:,} and one of {longest:,} "
            "characters. Take that file from a copy, or another tokenizer."
        )
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    spelled_in_bytes = isinstance(tokenizer.decoder, decoders.ByteLevel)
    pieces = [""] * (last + 1)
    for piece, i in vocabulary.items():
        shown = readable(piece) if spelled_in_bytes and piece not in special else piece
        pieces[i] = shown.replace(" ", "▁")
    return pieces
