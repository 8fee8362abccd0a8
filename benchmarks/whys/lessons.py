"""What is learned: sentences of the everyday grammar, or rows of letters, all generated here.

A lesson has training pairs, validation pairs and named tests. It is written into the cache once and
opened by every cell that needs it.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, cast

from headway.core.cleaning import Report
from headway.core.disk import digest
from headway.core.subwords import Subwords
from headway.corpora.cache import read_sealed, sealed_folder
from headway.corpora.corpus import Corpus
from headway.corpora.mixing import Use
from headway.corpora.prepared import Prepared
from headway.corpora.store import SideEncoder, Store, encode_rows, write_store
from headway.demo import finished, generate
from headway.demo.sampling import Writer
from headway.demo.sentences import KINDS
from headway.tokenizers.fair_sample import sample
from headway.tokenizers.words import Words, opened

Pair = tuple[str, str]
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
SEED = 1
VOCABULARY_SIZE = 1000
"""Sub-words of the sentences, as in `headway demo`."""


class Texts(NamedTuple):
    """Pairs by what they are for; validation is one of the tests."""

    train: list[Pair]
    tests: dict[str, list[Pair]]


@dataclass(frozen=True)
class Lesson:
    """What a training learns from and is measured on."""

    prepared: Prepared
    tests: dict[str, list[Pair]]
    chinese: bool
    """BLEU counts characters."""


def sentences(n_train: int) -> Texts:
    """Single sentences, English to Chinese."""
    pairs = generate(n_train + 500, SEED)
    return Texts(pairs[:n_train], {"valid": pairs[n_train : n_train + 200], "test": pairs[-300:]})


def of_few_kinds(n_pairs: int) -> list[Pair]:
    """Different sentences of what people do, like and know: fewer patterns, sooner learned."""
    writer, seen = Writer(SEED), dict[str, Pair]()
    kinds = [KINDS[name][1] for name in ("action", "liking", "acquaintance")]
    while len(seen) < n_pairs:
        pair = finished(*writer.random.choice(kinds)(writer))
        seen.setdefault(pair[0], pair)
    return list(seen.values())


def joined(n_train: int, most: int = 4) -> Texts:
    """Texts of one to four sentences, so that there are long ones; half of those to learn from are
    single sentences."""
    drawn = random.Random(SEED)
    pairs = iter(of_few_kinds(3 * n_train + 3000))

    def text(n_sentences: int) -> Pair:
        english, chinese = zip(*(next(pairs) for _ in range(n_sentences)), strict=True)
        return " ".join(english), "".join(chinese)

    train = [text(drawn.choice((1, drawn.randint(2, most)))) for _ in range(n_train)]
    valid, test = ([text(drawn.randint(1, most)) for _ in range(n)] for n in (200, 400))
    return Texts(train, {"valid": valid, "test": test})


def rows(n_train: int, *, shortest: int, longest: int, beyond: int, turn: str) -> Texts:
    """Rows of letters to be copied, reversed or sorted; those of the test `beyond` are longer than
    any in training: up to `beyond` letters."""
    drawn, turns = random.Random(SEED), {"copy": list, "reverse": lambda r: r[::-1], "sort": sorted}

    def pair(length: int) -> Pair:
        row = drawn.choices(LETTERS, k=length)
        return " ".join(row), " ".join(turns[turn](row))

    def some(n: int, least: int, most: int) -> list[Pair]:
        return [pair(drawn.randint(least, most)) for _ in range(n)]

    return Texts(
        some(n_train, shortest, longest),
        {
            "valid": some(200, shortest, longest),
            "test": some(300, shortest, longest),
            "beyond": some(300, longest + 1, beyond),
        },
    )


LESSONS: dict[str, Callable[[], Texts]] = {
    "sentences": partial(sentences, 12_000),
    "few sentences": partial(sentences, 800),
    "texts": partial(joined, 6_000),
    "reversed": partial(rows, 20_000, shortest=3, longest=10, beyond=15, turn="reverse"),
    "copied": partial(rows, 20_000, shortest=3, longest=10, beyond=15, turn="copy"),
    "drill": partial(rows, 40, shortest=2, longest=4, beyond=6, turn="copy"),
}
"""`drill` is for the tests of the benchmark itself."""


def folder_of(name: str, root: Path) -> Path:
    """Where a lesson lies in the cache."""
    chosen = cast("partial[Texts]", LESSONS[name])
    said = [chosen.func.__name__, list(chosen.args), chosen.keywords, SEED, VOCABULARY_SIZE]
    return root / "lessons" / f"{name.replace(' ', '-')}-{digest(said)[:12]}"


def prepare(name: str, root: Path) -> Path:
    """Write a lesson into the cache unless it is there."""
    folder = folder_of(name, root)
    if folder.exists():
        return folder
    texts = LESSONS[name]()
    of_letters = not any("。" in zh or "？" in zh for _, zh in texts.train[:100])
    everything = sample((text for pair in texts.train for text in pair), 1_000_000, SEED, print)
    vocabulary: Words | Subwords = (
        Words(LETTERS)
        if of_letters
        else Subwords.train(everything, vocabulary_size=VOCABULARY_SIZE)
    )
    with sealed_folder(folder) as (part, content):
        vocabulary.save(part / "tokenizer.json")
        content |= {"train": texts.train, "tests": texts.tests, "chinese": not of_letters}
    return folder


@cache
def opened_lesson(name: str, root: Path) -> Lesson:
    """A lesson that is in the cache."""
    folder = prepare(name, root)
    content = read_sealed(folder)
    vocabulary = cast(Subwords, opened(folder / "tokenizer.json"))
    stores = {
        split: encoded(vocabulary, pairs, folder.with_name(f"{folder.name}-{split}"))
        for split, pairs in (("train", content["train"]), ("valid", content["tests"]["valid"]))
    }
    tests = {test: [(a, b) for a, b in pairs] for test, pairs in content["tests"].items()}
    use = Use(target_language="zh" if content["chinese"] else None)
    prepared = Prepared(
        corpus=Corpus(),
        train=stores["train"],
        valid=stores["valid"],
        valid_texts=tests["valid"],
        valid_uses=[use] * len(tests["valid"]),
        subwords=vocabulary,
        report=Report(),
        valid_report=Report(),
        checksums={},
        weights=None,
        codes="keep",
    )
    return Lesson(prepared, tests, content["chinese"])


def encoded(vocabulary: Subwords, pairs: Iterable[Sequence[str]], folder: Path) -> Store:
    """Pairs as ids on the disk."""
    if folder.exists():
        return Store(folder)
    encoder = SideEncoder(vocabulary.encode_batch, len(vocabulary))
    sides = {"source": encoder, "target": encoder}
    rows = encode_rows(pairs, sides, texts=lambda pair: (pair[0], pair[1]))
    return write_store(rows, folder, sides)
