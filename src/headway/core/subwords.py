"""Text to ids and back."""

import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, SupportsIndex

from tokenizers import Tokenizer, decoders, models, normalizers

from headway.core.disk import refuse_large, write_text
from headway.core.errors import ConfigError, DataError, refuse_below, refuse_beyond
from headway.core.subword_training import (
    add_placeholders,
    between,
    byte_level,
    readable,
    sample,
    train_bpe,
)
from headway.localization.placeholders.own_codes import OwnPattern
from headway.tokenizers import tokenizer_files, tokenizer_parts
from headway.tokenizers.wordpiece import train_wordpiece

Algorithm = Literal["bpe", "wordpiece", "sentencepiece"]
CodeHandling = Literal["mask", "keep"]
MOST_IDS = 1 << 22
"""No vocabulary is larger; a list of pieces up to a greater id could take all memory there is."""
_FEW = 1_000
"""Texts; among more, most words come again, and are looked up."""

_TRAINERS = {"bpe": train_bpe, "wordpiece": train_wordpiece}


@dataclass(frozen=True)
class TextSettings:
    """Section [text]: how text becomes ids."""

    algorithm: Algorithm = "bpe"
    """`bpe` (byte-level: any text), `wordpiece` (some is unknown), or imported `sentencepiece`."""
    vocabulary_size: int = 0
    """Pieces, source and target together; 0 fits it to the corpus."""
    sample_lines: int = 1_000_000
    """The sub-words are learned from at most so many lines, drawn at random."""
    codes: Literal["auto", "mask", "keep"] = "auto"
    """Tags, placeholders and other codes: `mask` (each is one symbol to the model, and put back
    into what it writes), `keep` (text like any other), or `auto`, which looks at the corpus."""
    own_codes: tuple[str, ...] = ()
    """Regular expressions of what is a code besides: see
    `headway.localization.placeholders.own_codes`."""

    def __post_init__(self) -> None:
        """Raise ConfigError for sizes below zero, or beyond any vocabulary."""
        refuse_beyond(self, {"vocabulary_size": MOST_IDS}, above="text.")
        refuse_below(self, {"vocabulary_size": 0, "sample_lines": 1}, above="text.")
        if self.own_codes:
            self.patterns()

    def patterns(self) -> tuple[OwnPattern, ...]:
        """`own_codes`, ready for use; raises ConfigError where one cannot be."""
        from headway.localization.placeholders.own_codes import compiled

        return compiled(self.own_codes) if self.own_codes else ()


_KNOWN_NAMES = {
    "padding": ("<pad>", "[PAD]"),
    "unknown": ("<unk>", "[UNK]"),
    "begin": ("<s>", "[CLS]", "<bos>"),
    "end": ("</s>", "[SEP]", "<eos>"),
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
        """Find the markers among the pieces of `vocabulary`, which was read from `origin`.

        Raises:
            DataError: one that there must be is absent under every name in use (`<pad>`, `[PAD]`).
        """
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

    def around(self, ids: Sequence[int]) -> list[int]:
        """A text with its markers, such as `<s> .. </s>` or `[CLS] .. [SEP]`."""
        before = [] if self.begin is None else [self.begin]
        return [*before, *ids, self.end]


class Subwords:
    """A sub-word vocabulary: trained here, or loaded from another toolkit's file.

    Text is normalized to NFC. The markers are never added by encoding, never shown by decoding,
    and stay ordinary text when a user types them.
    """

    def __init__(self, serialized: str, origin: str) -> None:
        """Take a tokenizer in the `tokenizers` JSON format; `origin` names it in errors."""
        self._serialized = serialized
        self._tokenizer = _parse(serialized, origin)
        self._encode_many: Callable[[Sequence[str]], list[list[int]]] | None = None
        self._pieces = _pieces_by_id(self._tokenizer, origin)
        self.special = SpecialIds.of(self._tokenizer.get_vocab(with_added_tokens=True), origin)
        self._markers = {self.special.padding, self.special.decoder_begin, self.special.end}

    @classmethod
    def train(
        cls,
        lines: Iterable[str],
        *,
        vocabulary_size: int,
        algorithm: Algorithm = "bpe",
        sample_lines: int = 1_000_000,
        placeholders: Sequence[str] = (),
        seed: int = 1,
        say: Callable[[str], None] = lambda _message: None,
    ) -> "Subwords":
        """Learn at most `vocabulary_size` pieces; `say` hears of it when lines are sampled.

        Each of the `placeholders` (single characters) is a piece by itself wherever it stands.

        Raises:
            ConfigError: the vocabulary cannot hold the markers and the alphabet.
        """
        if algorithm not in _TRAINERS:
            raise ConfigError(f"text.algorithm {algorithm} is not learned here. Try bpe.")
        chosen = between(sample(lines, sample_lines, seed, say), placeholders)
        learned = _TRAINERS[algorithm](chosen, vocabulary_size - len(placeholders))
        add_placeholders(learned, placeholders)
        return cls(learned.to_str(), "the new tokenizer")

    @classmethod
    def load(cls, path: Path) -> "Subwords":
        """Read a `tokenizer.json`, a BERT `vocab.txt`, or a folder with one, such as a run.

        Raises:
            DataError: the file is missing, is neither of these, or has no markers.
        """
        path = Path(path)
        file = path / "tokenizer.json" if path.is_dir() else path
        try:
            refuse_large(file, tokenizer_files.MAX_BYTES)
            serialized = file.read_bytes().decode("utf-8-sig")
        except (OSError, ValueError):
            serialized = ""
        if not serialized.lstrip().startswith("{"):
            serialized, file = tokenizer_files.read(path)
        return cls(serialized, str(file))

    def save(self, path: Path) -> None:
        """Write `tokenizer.json`, which other programs can read with the `tokenizers` library."""
        write_text(path, self._serialized)

    def __reduce__(self) -> tuple[type["Subwords"], tuple[str, str]]:
        """For another process: the library's own way forgets that typed markers stay text."""
        return Subwords, (self._serialized, "a tokenizer")

    def __len__(self) -> int:
        """How many ids there are, markers included."""
        return len(self._pieces)

    def fingerprint(self) -> str:
        """SHA-256 of the tokenizer file: equal fingerprints give equal ids."""
        return hashlib.sha256(self._serialized.encode("utf-8")).hexdigest()

    def has(self, piece: str) -> bool:
        """Whether this is a piece of the vocabulary, as `pieces` would show it."""
        return piece in self._pieces

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without markers."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, without markers."""
        normal = [unicodedata.normalize("NFC", text) for text in texts]
        if len(normal) <= _FEW:
            return self._encode(normal)
        if self._encode_many is None:
            from headway.tokenizers.word_ids import quicker

            self._encode_many = quicker(self._encode, self._serialized)
        return self._encode_many(normal)

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """The same of texts that are to be written; other models may part them otherwise."""
        return self.encode_batch(texts)

    def _encode(self, normal: Sequence[str]) -> list[list[int]]:
        encoded = self._tokenizer.encode_batch_fast(normal, add_special_tokens=False)
        return [encoding.ids for encoding in encoded]

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


def _parse(serialized: str, origin: str) -> Tokenizer:
    try:
        given, usual = json.loads(serialized), json.loads(byte_level(models.BPE()).to_str())
        given["model"] = {**given["model"], "vocab": {}, "merges": []}
        if given | {"added_tokens": []} != usual:
            tokenizer_parts.refuse_unbounded(given)  # a side room
        tokenizer = Tokenizer.from_str(serialized)
    except BaseException as error:  # its parser may panic, which is no Exception
        raise tokenizer_files.refusal(error, origin) from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True  # a typed marker stays text; the file cannot say so
    if isinstance(tokenizer.normalizer, normalizers.NFC):
        tokenizer.normalizer = None  # done in Python, which is faster
    return tokenizer


def _pieces_by_id(tokenizer: Tokenizer, origin: str) -> list[str]:
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    if max(vocabulary.values(), default=0) >= MOST_IDS:
        raise tokenizer_files.id_too_large(vocabulary, MOST_IDS, origin)
    if max(map(len, vocabulary), default=0) > tokenizer_parts.LONGEST_PIECE:
        raise tokenizer_parts.piece_too_long(origin)
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    spelled_in_bytes = isinstance(tokenizer.decoder, decoders.ByteLevel)
    pieces = [""] * (max(vocabulary.values(), default=-1) + 1)
    for piece, i in vocabulary.items():
        shown = readable(piece) if spelled_in_bytes and piece not in special else piece
        pieces[i] = shown.replace(" ", "▁")
    return pieces
