"""Clean pairs on disk, and what became of all those of a corpus."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair, Report, ShownExample
from headway.core.dedup_split import DROPPED, HELD_OUT, Marks, Outcomes
from headway.corpora.corpus import Corpus
from headway.corpora.settings import NotedCleaning

ROW = np.dtype(
    [("file", "<u4"), ("line", "<u8"), ("source", "<u4"), ("target", "<u4"), ("copy", "?"),
     ("doubtful_note", "?"), ("kept", "?")]
)  # fmt: skip
"""Of a clean pair: which of the piece's `files`, its line, its characters, are its sides equal,
does a note say that it is not good, and is it used."""

Progress = Callable[[str, int, int | None], None]
"""Hears what is being done, how many pairs are done, and of how many, if that is known."""

Rows = NDArray[Any]


def unseen(_stage: str, _done: int, _total: int | None) -> None:
    """Show no progress."""


class Piece(NamedTuple):
    """Some clean pairs in a row: `NAME.tsv` holds `source TAB target LF`, `NAME.rows` the rest."""

    folder: Path
    name: str
    files: list[str]
    n_rows: int
    n_kept: int
    """Of these, how many are used; the others are there still, and passed over."""

    def rows(self) -> Rows:
        return np.fromfile(self.folder / f"{self.name}.rows", ROW)

    def rows_by_file(self) -> Iterator[tuple[str, Rows]]:
        """The rows of each file that stand together."""
        rows = self.rows()
        ends = np.flatnonzero(np.diff(rows["file"])) + 1
        for some in np.split(rows, ends) if len(rows) else ():
            yield self.files[some["file"][0]], some

    def n_characters(self) -> int:
        """Of the pairs that are used, both sides together."""
        rows = self.rows()
        used = rows[rows["kept"]]
        return int(used["source"].sum() + used["target"].sum())

    def pairs(self, chosen: Marks | None = None) -> Iterator[Pair]:
        """The pairs that are used, or those that are `chosen`, in order."""
        rows = self.rows()
        chosen = rows["kept"] if chosen is None else chosen
        told = rows[["file", "line", "doubtful_note"]][chosen].tolist()
        for text, (file, line, doubtful) in zip(self._lines(chosen), told, strict=True):
            source, _, target = text[:-1].decode("utf-8").partition("\t")
            yield Pair(source, target, self.files[file], line, ("doubtful",) * doubtful)

    def sides(self) -> Iterator[str]:
        """Each source that is used, followed by its target."""
        text = b"".join(self._lines(self.rows()["kept"])).decode("utf-8")
        yield from text.replace("\t", "\n").split("\n")[:-1]

    def _lines(self, chosen: Marks) -> Iterator[bytes]:
        with (self.folder / f"{self.name}.tsv").open("rb") as file:
            yield from compress(file, chosen.tolist())


def write_piece(folder: Path, name: str, pairs: Sequence[Pair]) -> Piece:
    """Write clean pairs, which hold neither a tab nor a line end; all are used."""
    files = list(dict.fromkeys(pair.file for pair in pairs))
    number = {file: i for i, file in enumerate(files)}
    rows = np.array(
        [(number[f], n, len(s), len(t), s == t, bool(r), True) for s, t, f, n, r in pairs], ROW
    )
    rows.tofile(folder / f"{name}.rows")
    text = "".join([f"{source}\t{target}\n" for source, target, *_ in pairs])
    (folder / f"{name}.tsv").write_bytes(text.encode("utf-8"))
    return Piece(folder, name, files, len(pairs), len(pairs))


class Cleaning(NamedTuple):
    """What is cleaned, and how."""

    corpus: Corpus
    valid: Corpus | None
    settings: NotedCleaning
    hold_out: int | None
    seed: int
    progress: Progress


class CleanedPairs(NamedTuple):
    train: list[Piece]
    valid: list[Piece]
    """Of the validation files, if there are any."""
    held_out: list[Pair]
    read: Report
    """What was found while reading."""
    cleaned: Report
    """What was found in the pairs that were read."""
    valid_report: Report
    may_hold_codes: bool


def taken_out(piece: Piece, outcome: Outcomes, report: Report) -> list[Pair]:
    """Count as dropped what `report` counts as kept, by `outcome`; the pairs that are held out."""
    rows = piece.rows()
    for number, reason in DROPPED.items():
        dropped = outcome == number
        if n_dropped := int(dropped.sum()):
            noticed = Counter({k: int(rows[k][dropped].sum()) for k in ("copy", "doubtful_note")})
            report.drop_kept(reason, n_dropped, noticed, piece.pairs(dropped))
    return list(piece.pairs(outcome == HELD_OUT)) if (outcome == HELD_OUT).any() else []


def add_report(report: Report, later: Report) -> None:
    """Count in what was found in pairs that come after those of `report`."""
    report.read += later.read
    report.kept += later.kept
    report.dropped += later.dropped
    report.mended += later.mended
    report.noticed += later.noticed
    report.suspicions += later.suspicions
    for reason, examples in later.examples.items():
        report.show(reason, examples)


def move_to_dropped(report: Report, later: Report) -> None:
    """Count pairs as dropped, by `later`, that `report` had counted as kept, and noticed."""
    report.kept -= later.dropped.total()
    report.noticed -= later.noticed
    add_report(report, replace(later, noticed=Counter()))


def rename_files(report: Report, names: Mapping[str, str]) -> None:
    """Have the examples say other names of files."""
    for examples in report.examples.values():
        examples[:] = [one._replace(file=names.get(one.file, one.file)) for one in examples]


def report_from(plain: Mapping[str, Any]) -> Report:
    """Undo `Report.as_dict`."""
    counters = {name: Counter(plain[name]) for name in ("dropped", "mended", "noticed")}
    shown = {
        kind: [ShownExample(**one) for one in some] for kind, some in plain["examples"].items()
    }
    return Report(**{**plain, **counters, "examples": shown})
