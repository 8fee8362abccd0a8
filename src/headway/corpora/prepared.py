"""From the files that a user names to encoded pairs, with nothing done twice."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headway.core import subword_training
from headway.core.cleaning import Pair, Report
from headway.core.subwords import Encode, Subwords
from headway.corpora.cache import (
    Say,
    cache_root,
    key_of,
    made_once,
    read_sealed,
    sealed_folder,
    silent,
)
from headway.corpora.cleaned import CleanedCorpus, Split, clean_corpus, unseen
from headway.corpora.corpus import Corpus, Direction, directions, languages
from headway.corpora.mixing import PLAIN, Use
from headway.corpora.pieces import (
    Piece,
    Progress,
    move_to_dropped,
    rename_files,
    report_from,
)
from headway.corpora.settings import DataSettings, TranslationText
from headway.corpora.store import FORMAT, SideEncoder, Store, write_store
from headway.corpora.weighted import RowWeights, WeightedRounds
from headway.localization.placeholders.own_codes import CodeHandling, OwnPattern
from headway.tokenizers import tokenizer_files
from headway.tokenizers.fair_sample import sample
from headway.tokenizers.learners import LEARNERS, around

if TYPE_CHECKING:
    from headway.corpora.coded import Shown

_FEW = 1_000  # pairs; among more, most words come again, and are looked up


@dataclass(frozen=True)
class Prepared:
    """Everything that training needs to know of a corpus."""

    corpus: Corpus
    """What was read, under the names that its files had then."""
    train: Store
    valid: Store
    valid_texts: list[tuple[str, str]]
    """Source and target of pair i of `valid`, as cleaned text."""
    valid_uses: list[Use]
    """How the file of pair i of `valid` is used, with its languages where they are known."""
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
    own_codes: tuple[OwnPattern, ...] = ()
    """What is a code besides, by the user's own patterns."""

    @property
    def rounds(self) -> WeightedRounds | None:
        return None if self.weights is None else WeightedRounds(self.weights)


def prepare_corpus(
    corpus: Corpus,
    data: DataSettings,
    text: TranslationText,
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
        corpus, data.cleaning(), root, valid=valid, hold_out=hold_out, seed=seed,
        workers=data.workers, say=say, progress=progress,
    )  # fmt: skip
    codes: CodeHandling = "keep"
    own = text.patterns()
    known = subwords is not None or cleaned.may_hold_codes or bool(own)
    if text.codes == "mask" or (text.codes == "auto" and known):
        from headway.corpora.coded import handling_of_codes

        weights = {part.name: part.use.weight for part in corpus.parts}
        codes = handling_of_codes(cleaned, text.codes, subwords, root, say, weights, own)
    corpora: dict[Split, Corpus] = {"train": corpus, "valid": valid or corpus}
    shown = {split: _shown(codes, one, own) for split, one in corpora.items()}
    if subwords is None:
        progress("learning sub-words", 0, None)
        text = replace(text, codes=codes)
        subwords = _learned_subwords(cleaned, text, shown["train"], seed, root, say)
    stores, reports = {}, {}
    for split in corpora:
        store = _encoded(cleaned, split, subwords, shown[split], data, root, say, progress)
        stores[split] = store
        reports[split] = report_from(cleaned.reports[split].as_dict())
        dropped = report_from(store.content["dropped"])
        rename_files(dropped, dict(zip(store.content["files"], cleaned.files, strict=False)))
        store.content["files"] = cleaned.files  # the names that they have now
        move_to_dropped(reports[split], dropped)
        if unknown := store.content["unknown"]:
            n_tokens = sum(store.content["n_tokens"].values())
            say(f"{unknown:,} of {n_tokens:,} sub-words are unknown ({split})")
    rows = set(stores["valid"].rows.tolist())
    return Prepared(
        corpus=corpus,
        train=stores["train"],
        valid=stores["valid"],
        valid_texts=[pair[:2] for row, pair in enumerate(cleaned.pairs("valid")) if row in rows],
        valid_uses=_uses(stores["valid"], corpora["valid"], languages(corpus)),
        subwords=subwords,
        report=reports["train"],
        valid_report=reports["valid"],
        n_characters=cleaned.n_characters,
        checksums=cleaned.checksums,
        weights=_weights(stores["train"], corpus),
        codes=codes,
        own_codes=own,
    )


def _weights(store: Store, corpus: Corpus) -> RowWeights | None:
    weight = {part.name: part.use.weight for part in corpus.parts}
    of_file = np.array([weight.get(file, 1.0) for file in store.content["files"]], np.float64)
    return None if (of_file == 1).all() else of_file[store.file_numbers]


def _uses(store: Store, corpus: Corpus, trained: Direction) -> list[Use]:
    """How each row is used; its languages are those of training where its file says none."""
    told = directions(corpus)
    of_part: dict[str, Use] = {}
    for one in corpus.parts:
        source, target = told[one.name]
        known = source or trained[0], target or trained[1]
        of_part[one.name] = Use(one.use.weight, one.use.tag, *known)
    of_file = [of_part.get(file, PLAIN) for file in store.content["files"]]
    return [of_file[number] for number in store.file_numbers]


def as_written(pair: Pair) -> tuple[str, str]:
    return pair.source, pair.target


def _shown(codes: CodeHandling, corpus: Corpus, own: tuple[OwnPattern, ...]) -> "Shown | None":
    """How pairs are shown to the model; None: as they are written."""
    if codes == "keep" and not any(part.use.tag for part in corpus.parts):
        return None
    from headway.corpora.coded import Shown

    return Shown.of(codes, corpus, own)


def _learned_subwords(
    cleaned: CleanedCorpus,
    text: TranslationText,
    shown: "Shown | None",
    seed: int,
    root: Path,
    say: Say,
) -> Subwords:
    size = text.vocabulary_size
    if not size:
        n_pairs = cleaned.reports["train"].kept
        size = subword_training.fitted_vocabulary_size(n_pairs, cleaned.n_characters)
        say(
            f"vocabulary of {size:,} sub-words, fitted to {cleaned.n_characters:,} characters in "
            f"{n_pairs:,} pairs"
        )
    settings = asdict(text) | {"vocabulary_size": size}
    del settings["own_codes"]  # what is a code is told by what they are learned from
    key = key_of(
        {
            "version": subword_training.VERSION,
            "tokenizers": version("tokenizers"),
            "cleaned": cleaned.directory.name,
            "settings": settings,
            "shown": shown and shown.key(),
            "seed": seed,
        }
    )
    directory = root / f"subwords-{key}"

    def make(_work: Path) -> None:
        said: list[str] = []
        with sealed_folder(directory) as (part, content):
            lines = shown.lines(cleaned.pairs("train")) if shown else cleaned.train_lines()
            learn = LEARNERS[text.algorithm]
            if shown and shown.placeholders:
                learn = around(shown.placeholders, learn)
            chosen = sample(lines, text.sample_lines, seed, said.append)
            learned = Subwords.train(chosen, vocabulary_size=size, learn=learn)
            learned.save(part / "tokenizer.json")
            content["said"] = said

    for message in made_once(directory, lambda: read_sealed(directory)["said"], make, say):
        say(message)
    return Subwords.load(directory, foreign=tokenizer_files.load)


def _encoded(
    cleaned: CleanedCorpus,
    split: Split,
    subwords: Subwords,
    shown: "Shown | None",
    data: DataSettings,
    root: Path,
    say: Say,
    progress: Progress,
) -> Store:
    """The encoded pairs of one split, with what was dropped in its `content`."""
    key = key_of(
        {
            "format": FORMAT,
            "cleaned": cleaned.directory.name,
            "split": split,
            "fingerprint": subwords.fingerprint(),
            "max_length": data.max_length,
            "shown": shown and shown.key(),
        }
    )
    directory = root / f"encoded-{key}"
    write = partial(_write_pairs, subwords, shown or as_written, cleaned.files, data.max_length)

    def make(work: Path) -> None:
        pieces, n_pairs = cleaned.pieces[split], cleaned.reports[split].kept
        if len(pieces) == 1:
            progress("encoding", 0, n_pairs)
            write(pieces[0], directory)
            return
        from headway.corpora.encoding import encode_pieces

        encode_pieces(
            pieces,
            write,
            work,
            directory,
            data.workers,
            lambda done: progress("encoding", done, n_pairs),
        )

    return made_once(directory, lambda: Store(directory), make, say)


def _write_pairs(
    subwords: Subwords,
    texts: Callable[[Pair], tuple[str, str]],
    files: list[str],
    max_length: int,
    piece: Piece,
    directory: Path,
) -> Store:
    """The store of one piece; its `content["dropped"]` reports what was dropped here."""
    encode: Encode = subwords.encode_batch
    encode_targets: Encode = subwords.encode_targets
    if piece.n_kept > _FEW:
        from headway.tokenizers.word_ids import quicker  # a side room

        encode, encode_targets = quicker(encode, subwords), quicker(encode_targets, subwords)
    encoder = SideEncoder(encode, len(subwords), subwords.special.unknown)
    dropped = Report()

    def drop(reason: str, pair: Pair) -> None:
        dropped.drop_pair(reason, pair)
        dropped.noticed.update(copy=pair.source == pair.target, doubtful_note=len(pair.remarks))

    return write_store(
        piece.pairs(),
        directory,
        {"source": encoder, "target": encoder._replace(encode=encode_targets)},
        texts=texts,
        file_of=lambda pair: pair.file,
        files=files,
        max_length=max_length,
        on_drop=drop,
        known=lambda: {"dropped": dropped.as_dict()},
    )
