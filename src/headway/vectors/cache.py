"""Large files of word vectors: read once, and mapped into memory from then on.

At its first reading a file becomes a folder in the cache: its vectors in float32, its words with an
index, and the vectors rounded to bytes for the search. Later commands open that, whatever its size,
in a few milliseconds.

Two things are trusted. That a file is the same: where its path, size and time of change and the
first and last million bytes are the same. Where somebody changes others and sets the time back, the
folder is to be deleted by hand. And that the folder is as it was written: it is the user's own, and
the sizes of its files are looked at, not their bytes, because reading gigabytes to compare their
checksums (they are kept) would take longer than any answer.
"""

import hashlib
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.core.disk import disk_errors, refuse_full
from headway.core.errors import DataError
from headway.core.lines import shown
from headway.corpora.cache import made_once, read_sealed, sealed_folder
from headway.corpora.cache_place import cache_root, key_of
from headway.operations.locks import Say
from headway.vectors.nearest import SPARE_BYTES, ByteSearch, RoundedRows, rounded, search_library
from headway.vectors.reading import HEAD_BYTES, VectorLayout, read_rows
from headway.vectors.word_vectors import WordVectors, lengths_of, unit

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from numpy.typing import NDArray

FORMAT = 1
"""Raised whenever the files change their meaning."""
_FEW_QUERIES = 16
"""So many are searched for one by one; of more, all products are made at once."""
_FILES = {
    "vectors": np.float32, "lengths": np.float32, "bytes": np.int8, "steps": np.float32,
    "errors": np.float32, "words": np.uint8, "offsets": np.int64, "hashes": np.uint64,
    "rows": np.uint32,
}  # fmt: skip
_SAY_EVERY_S = 15.0


def cached_vectors(path: Path, layout: VectorLayout, say: Say) -> "MappedVectors":
    """The vectors of a file from the cache, written there where it is read the first time.

    Raises:
        DataError: the file is damaged, or holds no words.
        DiskError: the cache cannot be written to, or has no room.
    """
    key = {"format": FORMAT, "file": _identity(path)}
    directory = cache_root() / f"vectors-{key_of(key)}"

    def make(_work: Path) -> None:
        say(f"{shown(path)} is read once, and kept in {directory}")
        _write(path, layout, directory, say)

    return made_once(directory, partial(MappedVectors, directory), make, say)


def _identity(path: Path) -> list[Any]:
    status = path.stat()
    with path.open("rb") as file:
        head = hashlib.sha256(file.read(HEAD_BYTES))
        file.seek(max(0, status.st_size - HEAD_BYTES))
        head.update(file.read(HEAD_BYTES))
    return [os.path.abspath(path), status.st_size, status.st_mtime_ns, head.hexdigest()]


class MappedVectors(WordVectors):
    """Vectors that `cached_vectors` wrote, of which is read what is asked for."""

    def __init__(self, directory: Path) -> None:
        """Raises DataError where a file is missing, or longer or shorter than it was."""
        content = read_sealed(directory, only=[])
        sizes = {file.name: file.stat().st_size for file in directory.iterdir()}
        if not content["bytes"].items() <= sizes.items():
            raise DataError(f"{directory} is damaged (sizes differ). It must be made anew.")
        self._files = {
            name: np.memmap(directory / name, kind, "r").view(np.ndarray)
            for name, kind in _FILES.items()
        }
        self.found: dict[str, int] = content["found"]
        """What was put right when the file was read, and how often."""
        size = content["size"]
        super().__init__(
            WordBlob(self._files["words"], self._files["offsets"]),
            self._files["vectors"].reshape(-1, size),
        )
        self.lengths = self._files["lengths"]

    def find(self, word: str) -> int | None:
        """See `WordVectors`; by the index."""
        digest = _digests([word])[0]
        place = int(np.searchsorted(self._files["hashes"], digest))
        if place == len(self) or self._files["hashes"][place] != digest:
            return None
        row = int(self._files["rows"][place])
        return row if self.words[row] == word else None

    @cached_property
    def _search(self) -> ByteSearch | None:
        if (library := search_library()) is None:
            return None
        n_rows, size = self.matrix.shape
        units = self._files["bytes"][: n_rows * size].reshape(n_rows, size)
        rows = RoundedRows(units, self._files["steps"], self._files["errors"])
        return ByteSearch(library, rows)

    def _candidates(
        self, queries: "Float[NDArray, 'queries size']", wanted: int
    ) -> "list[Int[NDArray, ' some']]":
        if len(queries) > _FEW_QUERIES or self._search is None:
            return super()._candidates(queries, wanted)
        return [self._search.candidates(query, wanted) for query in queries]


class WordBlob(Sequence[str]):
    """Words in one stretch of UTF-8, each decoded when it is asked for."""

    def __init__(self, text: "NDArray[np.uint8]", offsets: "NDArray[np.int64]") -> None:
        """Take the text, and where each word begins, and the end of the last."""
        self._text, self._offsets = text, offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, row: int) -> str:  # type: ignore[override]
        row = range(len(self))[row]
        begin, end = self._offsets[row : row + 2].tolist()
        return self._text[begin:end].tobytes().decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        for begin in range(0, len(self), 1 << 12):
            offsets = self._offsets[begin : begin + (1 << 12) + 1].tolist()
            text = self._text[offsets[0] : offsets[-1]].tobytes()
            for one, behind in pairwise(offsets):
                yield text[one - offsets[0] : behind - offsets[0]].decode("utf-8")


def _digests(words: Sequence[str]) -> "NDArray[np.uint64]":
    """64 bits of each word: of ten million words, two are alike once in 400,000 files."""
    digests = b"".join(
        hashlib.blake2b(word.encode("utf-8", "backslashreplace"), digest_size=8).digest()
        for word in words
    )
    return np.frombuffer(digests, np.uint64)


class WordIndex:
    """Which words were seen, by their digests: [words] in order, and the row of each."""

    def __init__(self) -> None:
        self.hashes, self.rows = np.zeros(0, np.uint64), np.zeros(0, np.uint32)

    def new(self, words: Sequence[str]) -> "Int[NDArray, ' new']":
        """The places of words that were not there before, the first of each; they get the next
        rows."""
        digests, first = np.unique(_digests(words), return_index=True)
        places = np.searchsorted(self.hashes, digests)
        is_new = np.ones(len(digests), bool)
        inside = places < len(self.hashes)
        is_new[inside] = self.hashes[places[inside]] != digests[inside]
        kept = np.sort(first[is_new])
        rows = len(self.rows) + np.searchsorted(kept, first[is_new])
        self.hashes = np.insert(self.hashes, places[is_new], digests[is_new])
        self.rows = np.insert(self.rows, places[is_new], rows.astype(np.uint32))
        return kept


def _write(path: Path, layout: VectorLayout, directory: Path, say: Say) -> None:
    """Make the folder, in memory that does not grow with the vectors."""
    with disk_errors(directory):
        refuse_full(directory.parent, layout.n_bytes * 5 // 4)
    found, index, n_read, n_text = Counter[str](), WordIndex(), 0, 0
    said_s = time.monotonic()
    with sealed_folder(directory) as (part, content):
        with ExitStack() as opened:
            out = {name: opened.enter_context((part / name).open("wb")) for name in _FILES}
            out["offsets"].write(np.zeros(1, np.int64).tobytes())
            for words, vectors in read_rows(path, layout, found):
                kept = index.new(words)
                found["twice"] += len(words) - len(kept)
                rows = vectors[kept]
                texts = [words[place].encode("utf-8") for place in kept.tolist()]
                ends = n_text + np.cumsum([len(text) for text in texts], dtype=np.int64)
                arrays = {
                    "vectors": rows,
                    "lengths": lengths_of(rows),
                    **dict(zip(("bytes", "steps", "errors"), rounded(unit(rows)), strict=True)),
                    "offsets": ends,
                }
                for name, array in arrays.items():
                    out[name].write(array.tobytes())
                out["words"].write(b"".join(texts))
                n_text, n_read = int(ends[-1]) if len(ends) else n_text, n_read + len(words)
                if time.monotonic() - said_s >= _SAY_EVERY_S:
                    of = "" if layout.n_rows is None else f" of {layout.n_rows:,}"
                    say(f"{n_read:,}{of} vectors read")
                    said_s = time.monotonic()
            if not len(index.rows):
                raise without_words(path)
            out["bytes"].write(bytes(SPARE_BYTES))
            out["hashes"].write(index.hashes.tobytes())
            out["rows"].write(index.rows.tobytes())
        sizes = {name: (part / name).stat().st_size for name in _FILES}
        content |= {"format": FORMAT, "size": layout.size, "found": dict(found), "bytes": sizes}


def without_words(path: Path) -> DataError:
    """That of a file whose words are all empty."""
    return DataError(
        f"a file of word vectors has words; those of {shown(path)} are all empty. Name another."
    )
