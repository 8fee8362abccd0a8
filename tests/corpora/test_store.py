from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.cleaning import Pair
from headway.core.errors import DataError
from headway.core.subwords import Subwords
from headway.corpora import store as store_module
from headway.corpora.store import SideEncoder, Store, encode_rows, write_store
from headway.tokenizers import tokenizer_files

SUBWORDS = Subwords.train(["a bb ccc dddd", "ein zwei drei"] * 3, vocabulary_size=300)
side = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


def write_pairs(pairs: Iterable[Pair], subwords: Subwords, directory: Path, **more: Any) -> Store:
    """A store with the sides of translation."""
    encoder = SideEncoder(subwords.encode_batch, len(subwords), subwords.special.unknown)
    sides = {"source": encoder, "target": encoder}
    files = more.setdefault("files", ["f"])
    rows = encode_rows(
        pairs, sides, texts=lambda pair: pair[:2], file_of=lambda pair: pair.file, **more
    )
    return write_store(rows, directory, sides, files=files)


def pairs_of(texts: list[tuple[str, str]]) -> list[Pair]:
    return [Pair(*sides, "f", line) for line, sides in enumerate(texts, start=1)]


@settings(max_examples=40)
@given(st.lists(st.tuples(side, side), max_size=12), st.integers(1, 5))
def test_what_is_written_is_what_encoding_gives(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]], chunk: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_module, "_CHUNK", chunk)
        folder = tmp_path_factory.getbasetemp() / "any"
        store = write_pairs(pairs_of(texts), SUBWORDS, folder)
    assert len(store) == len(texts)
    assert store.rows.tolist() == list(range(len(texts)))
    for i, (source, target) in enumerate(texts):
        assert store["source"][i].tolist() == SUBWORDS.encode(source)
        assert store["target"][i].tolist() == SUBWORDS.encode(target)
    assert store.lengths["source"].tolist() == [len(SUBWORDS.encode(text)) for text, _ in texts]
    assert store.lengths["target"].tolist() == [len(SUBWORDS.encode(text)) for _, text in texts]
    assert store.content["n_tokens"]["source"] == store.lengths["source"].sum()
    assert store.content["n_tokens"]["target"] == store.lengths["target"].sum()


def test_reopened_is_the_same(tmp_path: Path) -> None:
    write_pairs(pairs_of([("a", "ein"), ("bb", "zwei")]), SUBWORDS, tmp_path / "s")
    store = Store(tmp_path / "s")
    assert SUBWORDS.decode(store["target"][1]) == "zwei"
    assert store.sides == ("source", "target")
    with pytest.raises(IndexError):
        store["source"][2]
    with pytest.raises(IndexError):
        store["source"][-1]


def test_each_pair_tells_its_file(tmp_path: Path) -> None:
    origins = ["b", "a", "c", "b", "a"]
    pairs = [Pair("text", "x" * (9 if file == "c" else 1), file, 1) for file in origins]
    store = write_pairs(pairs, SUBWORDS, tmp_path / "s", files=["a", "c", "b"], max_length=8)
    assert store.files == ["a", "c", "b"]
    assert store.file_numbers.tolist() == [2, 0, 2, 0]


def test_pairs_that_are_too_long_in_tokens_are_dropped_and_told(tmp_path: Path) -> None:
    dropped = []
    texts = [("a", "x" * 9), ("a", "b"), ("y" * 9, "c"), ("d", "z" * 5)]
    store = write_pairs(
        pairs_of(texts),
        SUBWORDS,
        tmp_path / "s",
        max_length=5,
        on_drop=lambda reason, pair: dropped.append((reason, pair.line)),
    )
    assert dropped == [("too_many_tokens", 1), ("too_many_tokens", 3)]
    assert store.rows.tolist() == [1, 3]
    assert [SUBWORDS.decode(store["source"][i]) for i in range(2)] == ["a", "d"]


def test_pairs_without_tokens_are_dropped_and_told(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n", encoding="utf-8")
    bert = tokenizer_files.load(tmp_path / "vocab.txt")
    dropped = []
    store = write_pairs(
        pairs_of([("a", "\u200b"), ("a", "a b")]),
        bert,
        tmp_path / "s",
        on_drop=lambda reason, pair: dropped.append((reason, pair.line)),
    )
    assert dropped == [("no_tokens", 1)]
    assert store.content["unknown"] == 1


@pytest.mark.parametrize(("size", "kind"), [(1 << 16, np.uint16), ((1 << 16) + 1, np.uint32)])
def test_ids_take_two_bytes_if_the_vocabulary_fits(
    size: int, kind: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"w{i}" for i in range(size - 4)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    subwords = tokenizer_files.load(tmp_path / "vocab.txt")
    store = write_pairs(pairs_of([(words[-1], words[0])]), subwords, tmp_path / "s")
    assert store["source"][0].dtype == kind
    assert store["source"][0].tolist() == [size - 1]


def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pairs(pairs_of([("a", "b")]), SUBWORDS, tmp_path / "s")
    monkeypatch.setattr(store_module, "FORMAT", 99)
    with pytest.raises(DataError, match="format 99 is needed; .* has format 5"):
        Store(tmp_path / "s")


def test_a_store_cannot_be_written_to(tmp_path: Path) -> None:
    store = write_pairs(pairs_of([("a", "b")]), SUBWORDS, tmp_path / "s")
    with pytest.raises(ValueError, match="read-only"):
        store["source"][0][0] = 1


WORDS = {"good": [4, 5], "bad": [6], "": []}


def of_words(texts: list[str]) -> list[list[int]]:
    return [WORDS.get(text, [1]) for text in texts]


def test_a_store_may_have_one_side(tmp_path: Path) -> None:
    words = SideEncoder(of_words, 70_000, unknown=1)
    texts = ["good", "", "other", "bad"]
    rows = encode_rows(iter(texts), {"text": words}, texts=lambda text: (text,))
    store = write_store(rows, tmp_path / "s", {"text": words})
    assert store.sides == ("text",)
    assert store.rows.tolist() == [0, 2, 3]
    assert [store["text"][i].tolist() for i in range(3)] == [[4, 5], [1], [6]]
    assert store["text"][0].dtype == np.uint32
    assert store.lengths["text"].tolist() == [2, 1, 1]
    assert (store.content["unknown"], store.content["n_tokens"]) == (1, {"text": 4})
