"""In memory or piece by piece, a corpus becomes the same."""

import json
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from headway.core.rows import SIDES
from headway.corpora.corpus import Corpus
from headway.corpora.in_memory import PairRows
from headway.corpora.mixing import Use
from headway.corpora.prepared import Prepared, prepare_corpus
from headway.corpora.settings import DataSettings, TranslationText

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
    """All of it as text."""

    def stored(pairs: PairRows) -> list[Any]:
        ids = [
            [side[row].tolist() for row in range(len(pairs))]
            for side in map(pairs.__getitem__, SIDES)
        ]
        lengths = [pairs.lengths[side].tolist() for side in SIDES]
        return [pairs.files, pairs.file_numbers.tolist(), ids, lengths]

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
            prepared.checksums,
            None if weights is None else weights.tolist(),
            prepared.codes,
            said,
        ],
        indent=1,
        sort_keys=True,
    )


@pytest.mark.parametrize("kind", ["plain", "valid", "weights", "both ways", "shifted"])
def test_a_corpus_becomes_the_same_in_memory_and_piece_by_piece(
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

    in_memory = prepared("in memory")
    assert not (tmp_path / "in memory").exists()
    assert ("a line is probably missing" in in_memory) == (kind == "shifted")
    monkeypatch.setattr("headway.corpora.prepared.IN_MEMORY", 0)
    assert prepared("one piece") == in_memory
    assert prepared("one piece") == in_memory, "found again"
    monkeypatch.setattr("headway.corpora.many_pieces.PIECE_PAIRS", 40)
    assert prepared("piece by piece") == in_memory
