"""The usable pairs of a corpus as clean text on disk, and what became of all the others."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.core.cleaning import EXAMPLES, Pair, Report
from headway.core.cleaning import VERSION as CLEANING_VERSION
from headway.core.dedup_split import Marks
from headway.core.disk import checksum
from headway.core.rows import SIDES, as_written
from headway.core.subword_training import VERSION as LEARNING_VERSION
from headway.core.subwords import Subwords
from headway.corpora.alignment import suspicious
from headway.corpora.cache import Say, made_once, read_sealed, sealed_folder
from headway.corpora.cache_place import key_of, silent
from headway.corpora.corpus import Corpus, directions
from headway.corpora.in_memory import EncodedSplit, Split
from headway.corpora.many_pieces import cleaned_in_pieces, in_order
from headway.corpora.pieces import (
    CleanedPairs,
    Cleaning,
    Piece,
    Progress,
    add_report,
    move_to_dropped,
    rename_files,
    report_from,
    unseen,
    write_piece,
)
from headway.corpora.settings import DataSettings, NotedCleaning
from headway.corpora.shifts import suspicions
from headway.corpora.store import (
    FORMAT,
    EncodedRows,
    SideEncoder,
    Store,
    encode_rows,
    write_store,
)
from headway.tokenizers import tokenizer_files
from headway.tokenizers.word_cache import encoder_of

if TYPE_CHECKING:
    from headway.corpora.coded import ShownPairs

_FORMAT = 8
"""Raised whenever the same pairs give another folder."""


@dataclass(frozen=True)
class CleanedCorpus:
    """Clean pairs in a folder of the cache, split into training and validation."""

    directory: Path
    reports: dict[Split, Report]
    """For validation pairs that were set aside here, `read` counts those pairs."""
    n_characters: int
    """Of the training pairs, both sides together."""
    checksums: dict[str, str]
    """SHA-256 of each file that was read."""
    files: list[str]
    """The names that pairs say they are from."""
    pieces: dict[Split, list[Piece]]
    """Where the pairs can be read from, so that several processes share the work."""
    may_hold_codes: bool
    """Whether there is a pair with what may be codes on both sides."""

    def pairs(self, split: Split) -> Iterator[Pair]:
        return chain.from_iterable(piece.pairs() for piece in self.pieces[split])

    def train_lines(self) -> Iterator[str]:
        """Every side of every training pair, to learn sub-words from."""
        return chain.from_iterable(piece.sides() for piece in self.pieces["train"])

    def learned(
        self, learn: Callable[[Say], Subwords], depends_on: dict[str, Any], say: Say
    ) -> Subwords:
        """The sub-words that `learn` learns from these pairs, or learned before."""
        versions = {"version": LEARNING_VERSION, "tokenizers": version("tokenizers")}
        key = key_of({**versions, "cleaned": self.directory.name, **depends_on})
        directory = self.directory.with_name(f"subwords-{key}")

        def make(_work: Path) -> None:
            with sealed_folder(directory) as (part, content):
                content["said"] = []
                learn(content["said"].append).save(part / "tokenizer.json")

        for message in made_once(directory, lambda: read_sealed(directory)["said"], make, say):
            say(message)
        return Subwords.load(directory, foreign=tokenizer_files.load)

    def encoded(
        self,
        split: Split,
        subwords: Subwords,
        shown: "ShownPairs | None",
        data: DataSettings,
        say: Say,
    ) -> EncodedSplit:
        """The pairs as ids, encoded now or before, `shown` to the model as written or otherwise."""
        depends_on = {
            "format": FORMAT,
            "cleaned": self.directory.name,
            "split": split,
            "fingerprint": subwords.fingerprint(),
            "max_length": data.max_length,
            "shown": shown and shown.key(),
        }
        directory = self.directory.with_name(f"encoded-{key_of(depends_on)}")
        encode = partial(encoded_piece, subwords, shown or as_written, self.files, data.max_length)

        def make(_work: Path) -> None:
            dropped = Report()

            def rows() -> Iterator[EncodedRows]:
                with closing(in_order(encode, self.pieces[split], data.workers)) as done:
                    for some, report in done:
                        yield from some
                        add_report(dropped, report)

            write_store(
                rows(), directory, pair_encoders(subwords), files=self.files,
                known=lambda: {"dropped": dropped.as_dict()},
            )  # fmt: skip

        store = made_once(directory, lambda: Store(directory), make, say)
        report = report_from(self.reports[split].as_dict())
        dropped = report_from(store.content["dropped"])
        rename_files(dropped, dict(zip(store.files, self.files, strict=False)))
        store.files = self.files  # the names that they have now
        move_to_dropped(report, dropped)
        return EncodedSplit(store, store.rows.tolist(), report, store.content["unknown"])


def pair_encoders(subwords: Subwords) -> dict[str, SideEncoder]:
    """How sources and targets become ids."""
    n_ids, unknown = len(subwords), subwords.special.unknown
    one = encoder_of(subwords)
    both = one, one if type(subwords) is Subwords else subwords.encode_targets
    return {side: SideEncoder(of, n_ids, unknown) for side, of in zip(SIDES, both, strict=True)}


def encoded_piece(
    subwords: Subwords,
    texts: Callable[[Pair], tuple[str, str]],
    files: list[str],
    max_length: int,
    piece: Piece,
    chosen: Marks | None = None,
) -> tuple[list[EncodedRows], Report]:
    """The pairs of a piece that are used, or `chosen`, as ids, and what was dropped of them."""
    dropped = Report()

    def drop(reason: str, pair: Pair) -> None:
        dropped.drop_pair(reason, pair)
        dropped.noticed.update(copy=pair.source == pair.target, doubtful_note=len(pair.remarks))

    rows = encode_rows(
        piece.pairs(chosen),
        pair_encoders(subwords),
        texts=texts,
        file_of=lambda pair: pair.file,
        files=files,
        max_length=max_length,
        on_drop=drop,
    )
    return list(rows), dropped


def clean_corpus(
    corpus: Corpus,
    settings: NotedCleaning,
    root: Path,
    *,
    valid: Corpus | None = None,
    hold_out: int | None = None,
    seed: int = 1,
    workers: int = 0,
    say: Say = silent,
    progress: Progress = unseen,
) -> CleanedCorpus:
    """Read, clean and split a corpus into the cache at `root`, or find it done there.

    Without `valid`, `hold_out` pairs (None: `held_out_size`) are set aside, drawn with `seed` from
    those whose sides occur once, as far as there are such, in the files that `Corpus.draw` says. A
    training pair that shares its source or its target with a validation pair is dropped.

    It is cleaned by `workers` processes (0: one for each core) with the same result, in memory that
    does not grow but for some bytes a pair; what was done when the process was ended is not done
    again by the next one.

    Raises:
        ConfigError, DataError: a file cannot be used (see `read_pairs`), or the cache cannot be
            written.
    """
    corpus.check()
    if valid is not None:
        valid.check()
    files = [*corpus.files, *(valid.files if valid else ())]
    checksums = {str(path): checksum(path) for path in dict.fromkeys(files)}
    key = key_of(
        {
            "versions": [CLEANING_VERSION, _FORMAT],
            "settings": asdict(settings),
            "corpora": _read_as(corpus, valid),
            "both_ways": corpus.both_ways,
            "checksums": [checksums[str(path)] for path in files],
            "hold_out": hold_out if valid is None else 0,
            "seed": seed,
        }
    )
    directory = root / f"cleaned-{key}"
    cleaning = Cleaning(corpus, valid, settings, hold_out, seed, progress)

    def make(work: Path) -> None:
        fill = cleaned_in_pieces(cleaning, work, workers)
        with sealed_folder(directory) as (part, content):
            content.update(_content(fill(part), corpus, valid, part))

    opened = partial(_opened, directory, checksums, names_of(corpus, valid))
    return made_once(directory, opened, make, say)


def names_of(*corpora: Corpus | None) -> list[str]:
    """What pairs say that they are from."""
    return list(dict.fromkeys(part.name for one in corpora if one for part in one.parts))


def _read_as(*corpora: Corpus | None) -> list[list[Any]]:
    """All that the pairs of each part depend on beside the bytes of its files.

    Folders do not matter, nor whether a language was given or is what the file says: a run that is
    gone on with has both, and finds what was made when it began.
    """
    number = {name: i for i, name in enumerate(names_of(*corpora))}
    found: list[list[Any]] = []
    for one in corpora:
        named = directions(one) if one and one.pairs else {}
        found.append(
            [
                [number[part.name], [path.name for path in part.files], repr(part.use)]
                + ([] if part.files[1:] else list(named[part.name]))
                for part in (one.parts if one else ())
            ]
        )
    return found


def _opened(directory: Path, checksums: dict[str, str], names: list[str]) -> CleanedCorpus:
    """What was made there, with files by the `names` that they have now."""
    known = read_sealed(directory)
    reports = {split: report_from(plain) for split, plain in known.pop("reports").items()}
    pieces = {
        split: [Piece(directory, *of) for of in some] for split, some in known.pop("pieces").items()
    }
    cleaned = CleanedCorpus(directory, reports, pieces=pieces, checksums=checksums, **known)
    return cleaned if cleaned.files == names else _renamed(cleaned, names)


def _renamed(cleaned: CleanedCorpus, names: list[str]) -> CleanedCorpus:
    now = dict(zip(cleaned.files, names, strict=True))
    for report in cleaned.reports.values():
        rename_files(report, now)
    pieces: dict[Split, list[Piece]] = {
        split: [piece._replace(files=[now[file] for file in piece.files]) for piece in some]
        for split, some in cleaned.pieces.items()
    }
    if cleaned.reports["train"].suspicions:  # these are words
        cleaned.reports["train"].suspicions = _suspicions(pieces["train"])
    return replace(cleaned, files=names, pieces=pieces)


def _suspicions(pieces: Iterable[Piece]) -> list[str]:
    return suspicions(chain.from_iterable(map(Piece.rows_by_file, pieces)))


def _content(
    found: CleanedPairs, corpus: Corpus, valid: Corpus | None, part: Path
) -> dict[str, Any]:
    """What is kept of it beside the pieces in `part`, where the pairs that are held out go too."""
    train, valid_pieces, held_out, read, cleaned, valid_report, may_hold = found
    if valid is None:
        valid_pieces = [write_piece(part, "valid-00000", held_out)]
        valid_report.read = len(held_out)
        for pair in held_out:
            valid_report.keep(pair)
    if suspicious(chain.from_iterable(map(Piece.rows_by_file, train))):
        cleaned.suspicions = _suspicions(train)
    pieces: dict[Split, list[Piece]] = {"train": train, "valid": valid_pieces}
    return {
        "reports": {
            "train": _together(read, cleaned, corpus).as_dict(),
            "valid": valid_report.as_dict(),
        },
        "n_characters": sum(piece.n_characters() for piece in train),
        "files": names_of(corpus, valid),
        "pieces": {split: [piece[1:] for piece in some] for split, some in pieces.items()},
        "may_hold_codes": may_hold,
    }


def _together(read: Report, cleaned: Report, corpus: Corpus) -> Report:
    """What was found while reading and after it; examples in the order of files and lines."""
    order = {part.name: number for number, part in enumerate(corpus.parts)}
    both = Report()
    add_report(both, read)
    add_report(both, cleaned)
    for reason in read.examples.keys() & cleaned.examples.keys():
        examples = read.examples[reason] + cleaned.examples[reason]
        examples.sort(key=lambda example: (order.get(example.file, len(order)), example.line))
        both.examples[reason] = examples[:EXAMPLES]
    return both
