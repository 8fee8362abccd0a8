"""From the files that a user names to encoded pairs, with nothing done twice."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from headway.data.batching import RowWeights
from headway.data.cache import Say, cache_root, key_of, made_once, silent
from headway.data.cleaned import CleanedCorpus, Progress, Split, clean_corpus, unseen
from headway.data.pieces import Piece
from headway.data.store import FORMAT, SideEncoder, Store, write_store
from headway.disk import read_sealed, sealed_folder
from headway.errors import ConfigError
from headway.runtime import available_cores
from headway.text.cleaning import CleaningSettings, Pair, Report
from headway.text.corpora import Corpus, languages
from headway.text.subword_training import VERSION as LEARNING_VERSION
from headway.text.subwords import CodeHandling, Subwords, TextSettings, fitted_vocabulary_size

SIDES = ("source", "target")
"""Of the stores that are made here."""

TextsOf = Callable[[Pair], tuple[str, str]]
"""Source and target of a pair as the model is to read them; picklable."""


@dataclass(frozen=True)
class DataSettings(CleaningSettings):
    """Section [data]: which pairs are used."""

    max_length: int = 256
    """The longest side allowed, in sub-words without markers; 0 for any."""
    workers: int = 0
    """Processes that clean and encode a large corpus, with the same result; 0: one for a core."""

    def __post_init__(self) -> None:
        """Raise ConfigError for a value that no pair could satisfy."""
        super().__post_init__()
        if self.max_length < 0:
            raise ConfigError(
                f"data.max_length is 0 (any) or more; got {self.max_length}. Try 256."
            )
        if self.workers < 0:
            raise ConfigError(
                f"data.workers is 0 (one for each core) or more; got {self.workers}. Try 0."
            )

    def cleaning(self) -> CleaningSettings:
        """The settings that matter before there are sub-words."""
        names = [field.name for field in fields(CleaningSettings)]
        return CleaningSettings(**{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class Prepared:
    """Everything that training needs to know of a corpus."""

    corpus: Corpus
    """What was read, under the names that its files had then."""
    train: Store
    valid: Store
    valid_texts: list[tuple[str, str]]
    """Source and target of pair i of `valid`, as cleaned text."""
    valid_languages: list[str | None]
    """Which language the target of pair i of `valid` is in, where its file says so."""
    subwords: Subwords
    report: Report
    valid_report: Report
    n_characters: int
    """Of the training pairs, both sides together."""
    checksums: dict[str, str]
    """SHA-256 of each file that was read."""
    weights: RowWeights | None
    """How often each training pair is seen in a pass, if not all are once: [pairs]."""
    codes: CodeHandling
    """What was done with tags, placeholders and other codes."""


def prepare_corpus(
    corpus: Corpus,
    data: DataSettings,
    text: TextSettings,
    *,
    subwords: Subwords | None = None,
    valid: Corpus | None = None,
    hold_out: int | None = None,
    seed: int = 1,
    root: Path | None = None,
    say: Say = silent,
    progress: Progress = unseen,
) -> Prepared:
    """Read, clean, split and encode a corpus; learn its sub-words unless they are given.

    What was done before with the same files and settings is found in the cache at `root` (None:
    `cache_root`). The other arguments are those of `clean_corpus`; `say` hears what was chosen and
    why.

    Raises:
        ConfigError, DataError: a file or setting cannot be used, or the cache cannot be written.
    """
    root = cache_root() if root is None else root
    cleaned = clean_corpus(
        corpus,
        data.cleaning(),
        root,
        valid=valid,
        hold_out=hold_out,
        seed=seed,
        workers=data.workers,
        say=say,
        progress=progress,
    )
    codes = _handling_of_codes(cleaned, text, subwords, root, say)
    shown = {"train": _shown(codes, corpus), "valid": _shown(codes, valid or corpus)}
    if subwords is None:
        progress("learning sub-words", 0, None)
        text = replace(text, codes=codes)
        subwords = _learned_subwords(cleaned, text, shown["train"], seed, root, say)
    stores, reports = {}, {}
    for split in ("train", "valid"):
        encoding = _Encoding(cleaned, split, subwords, shown[split].texts, data.max_length)
        n_workers = data.workers or available_cores()
        stores[split] = _encoded(encoding, shown[split].key, root, n_workers, say, progress)
        reports[split] = Report.from_dict(cleaned.reports[split].as_dict())
        reports[split].move_to_dropped(Report.from_dict(stores[split].content["dropped"]))
        if unknown := stores[split].content["unknown"]:
            n_tokens = sum(stores[split].content["n_tokens"].values())
            say(f"{unknown:,} of {n_tokens:,} sub-words are unknown ({split})")
    rows = set(stores["valid"].rows.tolist())
    texts = [pair[:2] for row, pair in enumerate(cleaned.pairs("valid")) if row in rows]
    return Prepared(
        corpus=corpus,
        train=stores["train"],
        valid=stores["valid"],
        valid_texts=texts,
        valid_languages=_target_languages(stores["valid"], valid or corpus),
        subwords=subwords,
        report=reports["train"],
        valid_report=reports["valid"],
        n_characters=cleaned.n_characters,
        checksums=cleaned.checksums,
        weights=_weights(stores["train"], corpus),
        codes=codes,
    )


def _weights(store: Store, corpus: Corpus) -> RowWeights | None:
    weight = {part.name: part.use.weight for part in corpus.parts}
    of_file = np.array([weight.get(file, 1.0) for file in store.content["files"]], np.float64)
    return None if (of_file == 1).all() else of_file[store.file_numbers]


def _target_languages(store: Store, corpus: Corpus) -> list[str | None]:
    of_part = {part.name: languages(corpus.alone(part))[1] for part in corpus.parts}
    of_file = [of_part.get(file) for file in store.content["files"]]
    return [of_file[number] for number in store.file_numbers]


def as_written(pair: Pair) -> tuple[str, str]:
    """Both sides as they are."""
    return pair.source, pair.target


class _Shown(NamedTuple):
    """How pairs are shown to the model, and what that depends on."""

    texts: TextsOf
    key: Any


def _handling_of_codes(
    cleaned: CleanedCorpus, text: TextSettings, subwords: Subwords | None, root: Path, say: Say
) -> CodeHandling:
    none = text.codes == "auto" and subwords is None and not cleaned.may_hold_codes
    if none or text.codes == "keep":
        return "keep"
    from headway.data.coded import handling_of_codes

    return handling_of_codes(cleaned, text.codes, subwords, root, say)


def _shown(codes: CodeHandling, corpus: Corpus) -> _Shown:
    if codes == "keep" and not any(part.use.tag for part in corpus.parts):
        return _Shown(as_written, None)
    from headway.data.coded import Shown

    shown = Shown.of(codes, corpus)
    return _Shown(shown, shown.key())


def _learned_subwords(
    cleaned: CleanedCorpus, text: TextSettings, shown: _Shown, seed: int, root: Path, say: Say
) -> Subwords:
    size = text.vocabulary_size
    if not size:
        n_pairs = cleaned.reports["train"].kept
        size = fitted_vocabulary_size(n_pairs, cleaned.n_characters)
        say(
            f"vocabulary of {size:,} sub-words, fitted to {cleaned.n_characters:,} characters in "
            f"{n_pairs:,} pairs"
        )
    key = key_of(
        {
            "version": LEARNING_VERSION,
            "tokenizers": version("tokenizers"),
            "cleaned": cleaned.directory.name,
            "settings": asdict(text) | {"vocabulary_size": size},
            "shown": shown.key,
            "seed": seed,
        }
    )
    directory = root / f"subwords-{key}"

    def make(_work: Path) -> None:
        said: list[str] = []
        with sealed_folder(directory) as (part, content):
            learned = Subwords.train(
                _train_lines(cleaned, shown.texts),
                vocabulary_size=size,
                algorithm=text.algorithm,
                sample_lines=text.sample_lines,
                placeholders=_placeholders(text.codes),
                seed=seed,
                say=said.append,
            )
            learned.save(part / "tokenizer.json")
            content["said"] = said

    for message in made_once(directory, lambda: read_sealed(directory)["said"], make, say):
        say(message)
    return Subwords.load(directory)


def _placeholders(codes: str) -> tuple[str, ...]:
    if codes != "mask":
        return ()
    from headway.text.codes import PLACEHOLDERS

    return tuple(PLACEHOLDERS)


def _train_lines(cleaned: CleanedCorpus, texts: TextsOf) -> Iterator[str]:
    """Every side of every training pair, as the model reads it."""
    if texts is as_written:  # the same, sooner
        yield from cleaned.train_lines()
        return
    for pair in cleaned.pairs("train"):
        yield from texts(pair)


class _Encoding(NamedTuple):
    """How the pairs of one split become ids."""

    cleaned: CleanedCorpus
    split: Split
    subwords: Subwords
    texts: TextsOf
    max_length: int


def _write_store(encoding: _Encoding, piece: Piece, directory: Path) -> Store:
    """The store of one piece; its `content["dropped"]` reports what was dropped here."""
    cleaned, _, subwords, texts, max_length = encoding
    dropped = Report()
    encoder = SideEncoder(subwords.encode_batch, len(subwords), subwords.special.unknown)

    def drop(reason: str, pair: Pair) -> None:
        dropped.drop_pair(reason, pair)
        dropped.noticed["copy"] += pair.source == pair.target

    return write_store(
        piece.pairs(),
        directory,
        dict.fromkeys(SIDES, encoder),
        texts=texts,
        file_of=lambda pair: pair.file,
        files=cleaned.files,
        max_length=max_length,
        on_drop=drop,
        known=lambda: {"dropped": dropped.as_dict()},
    )


def _encoded(
    encoding: _Encoding, shown: Any, root: Path, n_workers: int, say: Say, progress: Progress
) -> Store:
    """The encoded pairs of one split, with what was dropped in its `content`."""
    cleaned, split, subwords, _, max_length = encoding
    key = key_of(
        {
            "format": FORMAT,
            "cleaned": cleaned.directory.name,
            "split": split,
            "fingerprint": subwords.fingerprint(),
            "max_length": max_length,
            "shown": shown,
        }
    )
    directory = root / f"encoded-{key}"

    def make(work: Path) -> None:
        pieces, n_pairs = cleaned.pieces[split], cleaned.reports[split].kept
        write = partial(_write_store, encoding)
        if len(pieces) == 1:
            progress("encoding", 0, n_pairs)
            write(pieces[0], directory)
            return
        from headway.data.encoding import encode_pieces, join_stores

        dropped = Report()
        stores = []
        for store in encode_pieces(pieces, write, work, n_workers):
            dropped.add(Report.from_dict(store.content["dropped"]))
            stores.append(store)
            progress("encoding", store.n_before, n_pairs)
        join_stores(stores, directory, {"dropped": dropped.as_dict()})

    return made_once(directory, lambda: Store.open(directory), make, say)
