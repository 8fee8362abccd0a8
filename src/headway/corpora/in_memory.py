"""A small corpus in memory, read, cleaned, split and encoded anew each time, by the core."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair, Report, clean_pairs
from headway.core.dedup_split import split_pairs
from headway.core.disk import checksum
from headway.core.rows import EncodedPairs, StoredIds, as_written, encoded
from headway.core.subwords import Subwords
from headway.corpora.alignment import Rows, suspicious
from headway.corpora.corpus import Corpus, read_pairs
from headway.corpora.settings import DataSettings
from headway.corpora.shifts import suspicions
from headway.localization.placeholders.may_hold import may_hold_codes
from headway.operations.locks import Say

Split = Literal["train", "valid"]
_LENGTHS = np.dtype([("line", "<u8"), ("source", "<u4"), ("target", "<u4")])


@runtime_checkable
class PairRows(Protocol):
    """Encoded pairs: `rows["source"][i]` are the source ids of row i, without markers."""

    files: list[str]
    """The files that rows are from."""
    file_numbers: NDArray[np.uint32]
    """Which of `files` each row is from: [rows]."""

    @property
    def lengths(self) -> Mapping[str, NDArray[Any]]:
        """Of each side, in ids: [rows]."""
        ...

    def __getitem__(self, side: str, /) -> Any: ...
    def __len__(self) -> int: ...


class EncodedSplit(NamedTuple):
    """The pairs of one split as ids."""

    rows: PairRows
    places: Sequence[int]
    """Which of the clean pairs each row is."""
    report: Report
    """Of all pairs that were read for it."""
    n_unknown: int
    """Ids."""


class RowsInMemory(EncodedPairs):
    """Encoded pairs that know their files."""

    def __init__(
        self, rows: Sequence[Sequence[StoredIds]], of: Sequence[str], files: list[str]
    ) -> None:
        """Take source and target of each pair, and the one `of` the files that it is from."""
        super().__init__(rows)
        self.files = files
        number = {file: n for n, file in enumerate(files)}
        self.file_numbers = np.array([number[file] for file in of], np.uint32)


class PairsInMemory:
    """The clean pairs of a small corpus, split into those to learn from and to validate on."""

    def __init__(
        self,
        corpus: Corpus,
        data: DataSettings,
        *,
        valid: Corpus | None,
        hold_out: int | None,
        seed: int,
    ) -> None:
        corpora = [corpus, valid] if valid else [corpus]
        self.checksums = {str(path): checksum(path) for one in corpora for path in one.files}
        self.files = list(dict.fromkeys(part.name for one in corpora for part in one.parts))
        report, valid_report = Report(), Report()
        held = _cleaned(valid, data, valid_report) if valid else None
        pairs = _cleaned(corpus, data, report)
        if suspicious(_lengths(pairs)):
            report.suspicions = suspicions(_lengths(pairs))
        draw = corpus.draw(Counter(pair.file for pair in pairs), hold_out, seed)
        train, held = split_pairs(
            pairs, held, draw, report, valid_report,
            deduplicate=data.deduplicate, both_ways=corpus.both_ways,
        )  # fmt: skip
        self._pairs: dict[Split, list[Pair]] = {"train": train, "valid": held}
        self.reports: dict[Split, Report] = {"train": report, "valid": valid_report}
        self.n_characters = sum(len(pair.source) + len(pair.target) for pair in train)

    @property
    def may_hold_codes(self) -> bool:
        """Whether there is a pair with what may be codes on both sides."""
        return any(may_hold_codes(s) and may_hold_codes(t) for s, t, *_ in self._pairs["train"])

    def pairs(self, split: Split) -> list[Pair]:
        return self._pairs[split]

    def train_lines(self) -> Iterator[str]:
        """Every side of every training pair, to learn sub-words from."""
        return chain.from_iterable(pair[:2] for pair in self._pairs["train"])

    def learned(self, learn: Callable[[Say], Subwords], _depends_on: object, say: Say) -> Subwords:
        """The sub-words that `learn` learns."""
        return learn(say)

    def encoded(
        self,
        split: Split,
        subwords: Subwords,
        shown: Callable[[Pair], tuple[str, str]] | None,
        data: DataSettings,
        _say: Say,
    ) -> EncodedSplit:
        """The pairs as ids, `shown` to the model as they are written or otherwise."""
        pairs, report = self._pairs[split], self.reports[split]
        rows, places = encoded(pairs, subwords, data.max_length, report, shown or as_written)
        n_unknown = sum(int((ids == subwords.special.unknown).sum()) for row in rows for ids in row)
        of = [pairs[place].file for place in places]
        return EncodedSplit(RowsInMemory(rows, of, self.files), places, report, n_unknown)


def _cleaned(corpus: Corpus, data: DataSettings, report: Report) -> list[Pair]:
    return list(clean_pairs(read_pairs(corpus, report), data, report, data.judge))


def _lengths(pairs: Sequence[Pair]) -> Iterator[tuple[str, Rows]]:
    """Lines and characters of the pairs of each file."""
    for file, some in groupby(pairs, key=lambda pair: pair.file):
        yield file, np.array([(n, len(s), len(t)) for s, t, _, n, _ in some], _LENGTHS)
