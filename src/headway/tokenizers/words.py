"""Words, or characters, as a vocabulary: what language models that count, and small ones, read.

Words are what white space separates. Those that the vocabulary does not know are all the one
unknown word; nothing can be written that is not in it.
"""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, SupportsIndex, get_args

from headway.core.disk import refuse_large, write_text
from headway.core.errors import DataError
from headway.core.run_folder import LANGUAGES
from headway.core.subword_training import SPECIAL_PIECES
from headway.core.subwords import MAX_BYTES, MOST_IDS, SpecialIds, Subwords
from headway.tokenizers import multilingual, sentencepieces, tokenizer_files

WholeUnit = Literal["words", "characters"]
MOST_MET = 1_000_000
"""Words that an `OpenWords` learns to know beside its own: memory has an end."""
BLANK = "▁"
"""What a space among characters is shown as."""
_SPANS = {"words": r"\S+", "characters": r"(?s:.)"}


class Words:
    """A vocabulary of whole words or of single characters, in the order of their ids.

    Text is normalized to NFC. The markers are ids 0 to 3; typed (`</s>`), they are unknown words.
    """

    def __init__(self, pieces: Sequence[str], unit: WholeUnit = "words") -> None:
        """Take the words or characters themselves, without markers; a repeated one is an error.

        Raises:
            DataError: there are far too many, or one occurs twice or is no word.
        """
        if len(pieces) > MOST_IDS - len(SPECIAL_PIECES):
            raise DataError(
                f"a vocabulary has at most {MOST_IDS:,} ids; got {len(pieces):,} {unit}. "
                "Leave out the rare ones (--text.min-count)."
            )
        self.unit: WholeUnit = unit
        self.special = SpecialIds()
        self._pieces = [*SPECIAL_PIECES, *pieces]
        first = len(SPECIAL_PIECES)
        self._ids = {piece: i for i, piece in enumerate(pieces, first)}
        if len(self._ids) != len(pieces) or not all(map(self._is_piece, pieces)):
            counts = Counter(pieces)
            odd = next(p for p in pieces if counts[p] > 1 or not self._is_piece(p))
            raise DataError(
                f"a vocabulary of {unit} has each once, and none that is cut further; got "
                f"{odd[:40]!r} {'twice' if counts[odd] > 1 else ''}. Take the file from a copy."
            )

    def _is_piece(self, piece: str) -> bool:
        return self.split(piece) == [piece] and piece not in SPECIAL_PIECES

    @classmethod
    def learned(
        cls, counts: Mapping[str, int], unit: WholeUnit, *, min_count: int = 1, most: int = 0
    ) -> "Words":
        """Those that occur at least `min_count` times, the most frequent `most` of them (0: all).

        The more frequent has the lower id; equals in the order of their letters. What is spelled as
        a marker, as `<unk>` in texts that were made for others' models, is none of them.
        """
        kept = [one for one, n in counts.items() if n >= min_count and one not in SPECIAL_PIECES]
        kept.sort(key=lambda piece: (-counts[piece], piece))
        return cls(kept[: most or None], unit)

    def has(self, piece: str) -> bool:
        return piece in self._ids

    def split(self, text: str) -> list[str]:
        """The words or characters of a text, known or not."""
        normal = unicodedata.normalize("NFC", text)
        return normal.split() if self.unit == "words" else list(normal)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without markers; unknown pieces have the id `special.unknown`."""
        known, unknown = self._ids.get, self.special.unknown
        return [known(piece, unknown) for piece in self.split(text)]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def source_spans(self, text: str) -> list[tuple[int, int]]:
        """Which characters (start, end) of the NFC `text` each of its ids stands for."""
        normal = unicodedata.normalize("NFC", text)
        return [one.span() for one in re.finditer(_SPANS[self.unit], normal)]

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The text of `ids`; padding, begin and end are left out, unknown is shown."""
        special = self.special
        hidden = {special.padding, special.begin, special.end}
        shown = [self._pieces[i] for i in map(int, ids) if i not in hidden]
        return (" " if self.unit == "words" else "").join(shown)

    def decode_batch(self, rows: Iterable[Iterable[SupportsIndex]]) -> list[str]:
        return [self.decode(row) for row in rows]

    def pieces(self, ids: Iterable[SupportsIndex]) -> list[str]:
        """Each id as a reader would write it; a space among characters is `BLANK`."""
        shown = (self._pieces[i] for i in ids)
        return [BLANK if piece == " " else piece for piece in shown]

    def __len__(self) -> int:
        return len(self._pieces)

    def fingerprint(self) -> str:
        """SHA-256 of all that ids depend on."""
        return hashlib.sha256(self._serialized().encode("utf-8", "surrogatepass")).hexdigest()

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """For another process."""
        return partial(type(self), unit=self.unit), (self._own()[len(SPECIAL_PIECES) :],)

    def _own(self) -> list[str]:
        return self._pieces

    def save(self, path: Path) -> None:
        """Write `tokenizer.json`, which other programs can read with the `tokenizers` library."""
        write_text(path, self._serialized())

    def _serialized(self) -> str:
        splits: dict[str, Any] = {"type": "WhitespaceSplit"}
        decoder = None
        if self.unit == "characters":
            every = {"Regex": r"[\s\S]"}
            splits = {"type": "Split", "pattern": every, "behavior": "Isolated", "invert": False}
            decoder = {"type": "Fuse"}
        markers = [
            {"id": i, "content": piece, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
            for i, piece in enumerate(SPECIAL_PIECES)
        ]  # fmt: skip
        model = {
            "type": "WordLevel",
            "vocab": {piece: i for i, piece in enumerate(self._own())},
            "unk_token": SPECIAL_PIECES[self.special.unknown],
        }
        whole = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": markers,
            "normalizer": {"type": "NFC"},
            "pre_tokenizer": splits,
            "post_processor": None,
            "decoder": decoder,
            "model": model,
        }
        return json.dumps(whole, ensure_ascii=False)

    @classmethod
    def load(cls, path: Path) -> "Words":
        """Read what `save` wrote, from the file or the folder that it is in.

        Raises:
            DataError: the file is missing, damaged, or is no vocabulary of words or characters.
        """
        file = path / "tokenizer.json" if path.is_dir() else path
        try:
            refuse_large(file, MAX_BYTES)
            whole = json.loads(file.read_bytes().decode("utf-8"))
            ids: dict[str, int] = whole["model"]["vocab"]
            unit = _UNITS[whole["pre_tokenizer"]["type"]]
            in_order = sorted(ids, key=ids.__getitem__)
            sound = sorted(ids.values()) == [*range(len(ids))]
            sound = sound and (*in_order[: len(SPECIAL_PIECES)],) == SPECIAL_PIECES
        except OSError as error:
            raise DataError(f"cannot read {file}: {error.strerror}. Check the path.") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            sound = False
        if not sound:
            raise DataError(
                f"a vocabulary of whole words has markers and then words, by number; {file} has "
                "not. Take it from a copy."
            )
        return cls(in_order[len(SPECIAL_PIECES) :], unit)


class OpenWords(Words):
    """The same, but a word that it does not have gets the next id when it is met: for models that
    read words by their letters. Beyond `MOST_MET` of them, others are unknown.

    Such ids hold as long as the object; it is as long, and is saved, as if there were none.
    """

    def __init__(self, pieces: Sequence[str], unit: WholeUnit = "words") -> None:
        super().__init__(pieces, unit)
        self._n_own = len(self._pieces)

    @classmethod
    def of(cls, words: Words) -> "OpenWords":
        return cls(words._pieces[len(SPECIAL_PIECES) :], words.unit)

    def __len__(self) -> int:
        return self._n_own

    @property
    def n_met(self) -> int:
        """How many ids there are by now."""
        return len(self._pieces)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without markers."""
        found, most = [], self._n_own + MOST_MET
        for piece in self.split(text):
            if piece not in self._ids:
                if len(self._pieces) >= most:
                    found.append(self.special.unknown)
                    continue
                self._ids[piece] = len(self._pieces)
                self._pieces.append(piece)
            found.append(self._ids[piece])
        return found

    def _own(self) -> list[str]:
        return self._pieces[: self._n_own]


def opened(path: Path) -> Words | Subwords:
    """The vocabulary in a `tokenizer.json`, a `vocab.txt`, or a folder with one, such as a run, or
    with the files of a Marian model.

    Raises:
        DataError: there is none.
    """
    if (path / LANGUAGES).exists():
        return multilingual.MultilingualPieces.of_folder(path, _opened(path))
    return _opened(path)


def _opened(path: Path) -> Any:
    file = path / "tokenizer.json" if path.is_dir() else path
    if (path / sentencepieces.SOURCE).exists():
        return sentencepieces.SentencePieces.of_folder(path)
    try:
        with file.open("rb") as start:
            whole = b'"WordLevel"' in start.read(_BEFORE_WORDS)
    except OSError:
        whole = False
    return Words.load(path) if whole else tokenizer_files.load(path)


_BEFORE_WORDS = 4096
"""Bytes of a file of ours that say what it is of, before its words."""
_UNITS: dict[str, WholeUnit] = dict(
    zip(("WhitespaceSplit", "Split"), get_args(WholeUnit), strict=True)
)
