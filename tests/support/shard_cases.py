"""Messy corpora, prepared into shards and as they usually are."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headway.corpora.cache_place import silent
from headway.corpora.pieces import unseen
from headway.corpora.prepared import Prepared, prepare_corpus
from headway.corpora.settings import TranslationText
from headway.corpora.sharded import PreparedShards, open_shards
from headway.large_corpora.plan import ShardPlan
from headway.large_corpora.stages import prepare_shards
from headway.translation.pairs import TranslationData

TEXT = TranslationText(vocabulary_size=400)
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu".split()


def messy_pairs(n: int, seed: int) -> Iterator[tuple[str, str]]:
    """Clean pairs, repeats, shared sides, empty, long, odd and unequal ones."""
    draw = random.Random(seed)
    before = [("first", "erster")]
    for i in range(n):
        kind = draw.random()
        source = " ".join(draw.choices(WORDS, k=draw.randint(2, 9)))
        target = " ".join(word[::-1] for word in source.split())
        if kind < 0.1:
            source, target = draw.choice(before)
        elif kind < 0.15:
            source = draw.choice(before)[0]
        elif kind < 0.2:
            target = draw.choice(before)[1]
        elif kind < 0.24:
            target = ""
        elif kind < 0.27:
            target = target * 40
        elif kind < 0.3:
            source += "\x00 e\u0301\ufeff "
        elif kind < 0.33:
            source, target = source * 90, target * 90
        else:
            source, target = f"{source} {i}", f"{i} {target}"
        before.append((source, target))
        yield source, target


def written(folder: Path, n_files: int, n_pairs: int, seed: int = 0) -> tuple[str, ...]:
    """TSV files of messy pairs; the last one repeats some of the first."""
    files = []
    for number in range(n_files):
        pairs = list(messy_pairs(n_pairs, seed + number))
        if number:
            pairs[: n_pairs // 9] = list(messy_pairs(n_pairs // 9, seed))
        files.append(folder / f"part-{number}.tsv")
        lines = [f"{source}\t{target}\n" for source, target in pairs]
        files[-1].write_text("".join(lines), encoding="utf-8")
    return tuple(map(str, files))


def in_shards(folder: Path, data: TranslationData, text: TranslationText = TEXT) -> PreparedShards:
    shards = ShardPlan(folder, data, text)
    shards.begin()
    prepare_shards(shards, silent, unseen)
    return open_shards(folder)


def usual(data: TranslationData, text: TranslationText = TEXT) -> Prepared:
    return prepare_corpus(
        data.corpus(), data, text, valid=data.validation(), hold_out=data.valid_size or None
    )


def ids(rows: Any) -> list[tuple[list[int], list[int]]]:
    return [(rows["source"][i].tolist(), rows["target"][i].tolist()) for i in range(len(rows))]


def same(found: Prepared, expected: Prepared) -> None:
    """All but the examples, which are of another order, and what tells where it came from."""
    assert found.subwords.serialized == expected.subwords.serialized
    assert ids(found.train) == ids(expected.train)
    assert found.valid_texts == expected.valid_texts
    assert ids(found.valid) == ids(expected.valid)
    for one, other in (
        (found.report, expected.report), (found.valid_report, expected.valid_report)
    ):  # fmt: skip
        a, b = one.as_dict(), other.as_dict()
        for key in ("read", "kept", "dropped", "mended", "noticed"):
            assert a[key] == b[key], key
