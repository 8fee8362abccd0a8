import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from headway.cli import main
from headway.core.run_folder import RunFolder
from headway.core.subwords import Subwords
from headway.tokenizers.words import Words

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "this", "is", "a", "boy", "fly", "##ing"]


@pytest.fixture
def vocab_txt(tmp_path: Path) -> str:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    return str(path)


def tokenize(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["tokenize", *arguments, "--json"]) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


def type_in(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


def test_one_text_gives_pieces_ids_and_mask(
    vocab_txt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tokenize(capsys, vocab_txt, "This is a flying zebra") == {
        "tokens": ["this", "is", "a", "fly", "##ing", "[UNK]"],
        "ids": [4, 5, 6, 8, 9, 1],
        "mask": [1, 1, 1, 1, 1, 1],
    }


@pytest.mark.parametrize(
    ("named", "tokens"),
    [("punctuation", ["who", "(", "sings", ")", "?"]), ("none", ["who", "<unk>"])],
)
def test_words_are_parted_as_the_run_parts_them(
    named: str, tokens: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Words(["who", "sings", "(", ")", "?"], "words").save(tmp_path / "tokenizer.json")
    RunFolder(tmp_path).write_settings({"text": {"segmenter": named}, "model": {"type": "cnn"}})
    assert tokenize(capsys, str(tmp_path), "who (sings)?")["tokens"] == tokens


def test_markers_and_padding_are_added_on_request(
    vocab_txt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tokenize(capsys, vocab_txt, "a boy", "--special-tokens", "--pad-to", "6") == {
        "tokens": ["[CLS]", "a", "boy", "[SEP]", "[PAD]", "[PAD]"],
        "ids": [2, 6, 7, 3, 0, 0],
        "mask": [1, 1, 1, 1, 0, 0],
    }


def test_standard_input_is_a_padded_batch(
    vocab_txt: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, b"a boy\r\n\nthis is a boy")
    assert tokenize(capsys, vocab_txt) == {
        "tokens": [["a", "boy", "[PAD]", "[PAD]"], ["[PAD]"] * 4, ["this", "is", "a", "boy"]],
        "ids": [[6, 7, 0, 0], [0, 0, 0, 0], [4, 5, 6, 7]],
        "mask": [[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]],
    }


def test_nothing_typed_is_an_empty_batch(
    vocab_txt: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, b"")
    assert tokenize(capsys, vocab_txt) == {"tokens": [], "ids": [], "mask": []}


@pytest.mark.parametrize(("markers", "ids"), [([], [4, 5, 6]), (["--special-tokens"], [2, 4, 3])])
def test_truncation_counts_markers_and_is_said(
    markers: list[str], ids: list[int], vocab_txt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["tokenize", vocab_txt, "this is a boy", "--max-length", "3", "--json", *markers]) == 0
    )
    printed = capsys.readouterr()
    assert json.loads(printed.out)["ids"] == ids
    assert printed.err == "1 of 1 rows cut to --max-length\n"


def test_the_output_for_people_has_one_line_each(
    vocab_txt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tokenize", vocab_txt, "a boy"]) == 0
    assert capsys.readouterr().out == "tokens a boy\nids    6 7\nmask   1 1\n"


def test_a_run_folder_and_its_file_are_tokenizers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    subwords = Subwords.train(["ein Haus", "我爱学习"] * 3, vocabulary_size=300)
    subwords.save(tmp_path / "tokenizer.json")
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        shown = tokenize(capsys, str(path), "ein Haus </s> 我爱学习")
        assert shown["ids"] == subwords.encode("ein Haus </s> 我爱学习")
        assert shown["tokens"][:2] == ["ein", "▁Haus"]
        assert 3 not in shown["ids"]


def test_text_is_cleaned_as_for_training(
    vocab_txt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tokenize(capsys, vocab_txt, " a\u2028bo\x00y\t")["ids"] == [6, 7]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a boy", "--pad-to", "1"], "the longest has 2 pieces, got 1. Add --max-length 1"),
        (["a boy", "--pad-to=-1"], "Give 0 or more"),
        (["a", "--special-tokens", "--max-length", "1"], "need --max-length 2 or more; got 1"),
    ],
)
def test_impossible_lengths_are_refused(
    arguments: list[str], message: str, vocab_txt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tokenize", vocab_txt, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_what_is_not_utf8_or_no_tokenizer_is_refused(
    vocab_txt: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    type_in(monkeypatch, b"fine\nb\xff\n")
    assert main(["tokenize", vocab_txt]) == 2
    assert "standard input is not (line 2, byte 2)" in capsys.readouterr().err
    assert main(["tokenize", str(tmp_path / "none"), "a"]) == 2
    assert "does not exist" in capsys.readouterr().err
