"""Cleaned at once or piece by piece, a corpus becomes the same."""

import json
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from headway.corpora.corpus import Corpus
from headway.corpora.mixing import Use
from headway.corpora.prepared import Prepared, prepare_corpus
from headway.corpora.settings import DataSettings, TranslationText
from headway.corpora.store import Store

WORDS = "one two three four five six seven eight nine ten".split()


def rows(first: int, last: int) -> list[str]:
    """Some twice, some blank, some too long, some copies, some with codes, some no pair at all."""
    written = []
    for i in range(first, last):
        source = " ".join(WORDS[int(digit)] for digit in str(i if i % 7 else i // 2))
        target = source if i % 50 == 0 else source.upper() * {3: 40, 4: 3}.get(i % 90, 1)
        if i % 13 == 0:
            source, target = f"{source} <b> x", f"\x00{target} <b>"
        written.append("no pair" if i % 97 == 5 else f"{source}\t{'' if i % 80 == 9 else target}")
    return written


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two files of pairs that overlap, and two whose lines do not go together."""
    folder = tmp_path_factory.mktemp("corpus")
    lines = [" ".join(WORDS[: i * 37 % 10]) + f" {i} end" for i in range(700)]
    texts = {
        "a.tsv": rows(0, 900), "b.tsv": rows(600, 1_100), "s.en": lines[1:], "s.de": lines[:-1]
    }  # fmt: skip
    for name, some in texts.items():
        (folder / name).write_text("\n".join(some) + "\n", encoding="utf-8")
    return [folder / name for name in texts]


def told(prepared: Prepared, said: list[str]) -> str:
    """All of it as text; also in which order things were counted."""

    def stored(store: Store) -> list[Any]:
        columns = [store.rows, store.file_numbers]
        for side in store.sides:
            columns += [store[side].ids, store[side].offsets, store.lengths[side]]
        return [sorted(store.content.items()), [column.tolist() for column in columns]]

    weights = prepared.weights
    return json.dumps(
        [
            stored(prepared.train),
            stored(prepared.valid),
            prepared.valid_texts,
            [astuple(use) for use in prepared.valid_uses],
            prepared.subwords.fingerprint(),
            prepared.report.as_dict(),
            prepared.valid_report.as_dict(),
            prepared.n_characters,
            prepared.checksums,
            None if weights is None else weights.tolist(),
            prepared.codes,
            said,
        ],
        indent=1,
    )


@pytest.mark.parametrize("kind", ["plain", "valid", "weights", "both ways", "shifted"])
def test_a_corpus_becomes_the_same_at_once_and_piece_by_piece(
    kind: str, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, *sides = files
    corpus, more = {
        "plain": (Corpus(pairs=(a,)), {}),
        "valid": (Corpus(pairs=(a,)), {"valid": Corpus(pairs=(b,))}),
        "weights": (Corpus(pairs=(a, b), uses=(Use(), Use(3.0, "x"))), {}),
        "both ways": (
            Corpus(pairs=(a, a), uses=(Use(source_language="en"), Use(source_language="de"))),
            {"hold_out": 50, "seed": 5},
        ),
        "shifted": (Corpus((sides[0],), (sides[1],)), {}),
    }[kind]

    def prepared(way: str) -> str:
        said: list[str] = []
        text = TranslationText(vocabulary_size=400)
        root = tmp_path / way
        found = prepare_corpus(
            corpus, DataSettings(max_length=12), text, root=root, say=said.append, **more
        )
        return told(found, said)

    at_once = prepared("at once")
    assert prepared("at once") == at_once, "found again"
    assert ("a line is probably missing" in at_once) == (kind == "shifted")
    monkeypatch.setattr("headway.corpora.cleaned.IN_MEMORY", 0)
    monkeypatch.setattr("headway.corpora.many_pieces.PIECE_PAIRS", 40)
    assert prepared("piece by piece") == at_once
