"""From the files that a user names to encoded pairs, with nothing done twice."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from headway.data.batching import Weights
from headway.data.cleaned import (
    CleanedCorpus,
    Progress,
    Say,
    Split,
    clean_corpus,
    silent,
    unseen,
)
from headway.data.coded import handling_of_codes
from headway.data.encoding import Encoding, encode
from headway.data.files import cache_root, key_of, read_whole_folder, whole_folder
from headway.data.once import made_once
from headway.data.reading import Reading
from headway.data.store import FORMAT, PairStore
from headway.errors import ConfigError
from headway.runtime import available_cores
from headway.text.cleaning import CleaningSettings, Report
from headway.text.codes import PLACEHOLDERS
from headway.text.corpora import Corpus, languages
from headway.text.subword_training import VERSION as LEARNING_VERSION
from headway.text.subwords import CodeHandling, Subwords, TextSettings, fitted_vocabulary_size


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
    train: PairStore
    valid: PairStore
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
    weights: Weights | None
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
    codes = handling_of_codes(cleaned, text.codes, subwords, root, say)
    reading = {"train": Reading.of(codes, corpus), "valid": Reading.of(codes, valid or corpus)}
    if subwords is None:
        progress("learning sub-words", 0, None)
        text = replace(text, codes=codes)
        subwords = _learned_subwords(cleaned, text, reading["train"], seed, root, say)
    stores, reports = {}, {}
    for split in ("train", "valid"):
        stores[split] = _encoded(
            cleaned, split, subwords, reading[split], data, root, say, progress
        )
        reports[split] = Report.from_dict(stores[split].content["report"])
        if unknown := stores[split].content["unknown"]:
            n_tokens = sum(stores[split].content[f"{side}_tokens"] for side in ("source", "target"))
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


def _weights(store: PairStore, corpus: Corpus) -> Weights | None:
    weight = {part.name: part.use.weight for part in corpus.parts}
    of_file = np.array([weight.get(file, 1.0) for file in store.content["files"]], np.float64)
    return None if (of_file == 1).all() else of_file[store.file_numbers]


def _target_languages(store: PairStore, corpus: Corpus) -> list[str | None]:
    of_part = {part.name: languages(corpus.alone(part))[1] for part in corpus.parts}
    of_file = [of_part.get(file) for file in store.content["files"]]
    return [of_file[number] for number in store.file_numbers]


def _learned_subwords(
    cleaned: CleanedCorpus, text: TextSettings, reading: Reading, seed: int, root: Path, say: Say
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
            "reading": reading.key(),
            "seed": seed,
        }
    )
    directory = root / f"subwords-{key}"

    def make(_work: Path) -> None:
        said: list[str] = []
        with whole_folder(directory) as (part, content):
            learned = Subwords.train(
                _train_lines(cleaned, reading),
                vocabulary_size=size,
                algorithm=text.algorithm,
                sample_lines=text.sample_lines,
                placeholders=PLACEHOLDERS if text.codes == "mask" else (),
                seed=seed,
                say=said.append,
            )
            learned.save(part / "tokenizer.json")
            content["said"] = said

    for message in made_once(directory, lambda: read_whole_folder(directory)["said"], make, say):
        say(message)
    return Subwords.load(directory)


def _train_lines(cleaned: CleanedCorpus, reading: Reading) -> Iterator[str]:
    """Every side of every training pair, as the model reads it."""
    if reading.as_written:
        yield from cleaned.train_lines()
        return
    for pair in cleaned.pairs("train"):
        yield from reading(pair)


def _encoded(
    cleaned: CleanedCorpus,
    split: Split,
    subwords: Subwords,
    reading: Reading,
    data: DataSettings,
    root: Path,
    say: Say,
    progress: Progress,
) -> PairStore:
    """The encoded pairs of one split; its `content["report"]` counts what was dropped here too."""
    key = key_of(
        {
            "format": FORMAT,
            "cleaned": cleaned.directory.name,
            "split": split,
            "fingerprint": subwords.fingerprint(),
            "max_length": data.max_length,
            "reading": reading.key(),
        }
    )
    directory = root / f"encoded-{key}"

    def make(work: Path) -> None:
        encoding = Encoding(cleaned, split, subwords, reading, data.max_length)
        n_workers = data.workers or available_cores()
        encode(encoding, directory, work, n_workers=n_workers, progress=progress)

    return made_once(directory, lambda: PairStore.open(directory), make, say)
