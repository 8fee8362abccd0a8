"""Note 001, "hands-on": its own sentences, ids and shapes, with a vocabulary of BERT's size.

The words that the note uses stand at BERT's line numbers (bert-base-uncased, checked against its
published vocab.txt); the other lines are filled with words that nobody writes.
"""

import io
import json
import math
import sys
from pathlib import Path

import pytest
import torch

from headway.cli import main
from headway.core.embedding import TokenEmbedding
from headway.tokenizers import tokenizer_files

N_LINES = 30_522
LINES = {
    "[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103,
    "a": 1037, "he": 2002, "is": 2003, "she": 2016, "this": 2023, "who": 2040, "can": 2064,
    "man": 2158, "good": 2204, "girl": 2611, "boy": 2879, "tom": 3419, "super": 3565,
    "fly": 4875, "cat": 4937,
}  # fmt: skip
"""Ids as line numbers from 0."""
SENTENCE, ITS_IDS = "this is a boy who can fly", [2023, 2003, 1037, 2879, 2040, 2064, 4875]
BATCH = ["he is a good man", "she is super girl", "Tom is a cat"]
ROWS = [
    [101, 2002, 2003, 1037, 2204, 2158, 102],
    [101, 2016, 2003, 3565, 2611, 102, 0],
    [101, 3419, 2003, 1037, 4937, 102, 0],
]


@pytest.fixture(scope="module")
def vocab_txt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pieces = [f"[unused{i}]" for i in range(N_LINES)]
    for piece, line in LINES.items():
        pieces[line] = piece
    path = tmp_path_factory.mktemp("bert") / "vocab.txt"
    path.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    return path


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, list]:
    assert main(["tokenize", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_notes_sentence_has_the_notes_ids_with_and_without_markers(vocab_txt, capsys):
    plain = shown(capsys, str(vocab_txt), SENTENCE)
    assert plain == {"tokens": SENTENCE.split(), "ids": ITS_IDS, "mask": [1] * 7}
    marked = shown(capsys, str(vocab_txt), SENTENCE, "--special-tokens")
    assert marked["ids"] == [101, *ITS_IDS, 102]
    assert marked["tokens"][0] == "[CLS]"
    assert marked["tokens"][-1] == "[SEP]"


def test_the_notes_three_sentences_are_a_batch_of_3_by_7(vocab_txt, capsys, monkeypatch):
    typed = io.BytesIO("\n".join(BATCH).encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed, encoding="utf-8"))
    batch = shown(capsys, str(vocab_txt), "--special-tokens")
    assert batch["ids"] == ROWS
    assert torch.tensor(batch["ids"]).shape == (3, 7)
    assert batch["mask"] == [[1] * 7, [1] * 6 + [0], [1] * 6 + [0]]
    assert batch["tokens"][2][1] == "tom"  # this vocabulary has no capitals


def test_the_embedded_batch_is_3_by_7_by_256_and_row_1_column_4_is_girl(vocab_txt):
    subwords = tokenizer_files.load(vocab_txt)
    assert len(subwords) == N_LINES
    (girl,) = subwords.encode("girl")
    embedding = TokenEmbedding(len(subwords), 256, padding=subwords.special.padding)
    with torch.no_grad():
        embedded = embedding(torch.tensor(ROWS))
    assert embedded.shape == (3, 7, 256)
    row_of_girl = embedding.weight[girl]
    assert torch.equal(embedded[1, 4], row_of_girl * math.sqrt(256))  # the paper's scale, 3.4
    assert not torch.equal(embedded[1, 3], embedded[1, 4])
    assert torch.equal(embedded[0, 2], embedded[2, 2])  # "is" is one vector wherever it stands
    assert not embedded[1, 6].any()  # padding


def test_the_ids_are_those_of_transformers(vocab_txt):
    transformers = pytest.importorskip("transformers")
    theirs = transformers.BertTokenizer(str(vocab_txt))
    assert theirs(SENTENCE, add_special_tokens=False)["input_ids"] == ITS_IDS
    assert theirs(BATCH, padding=True, truncation=True)["input_ids"] == ROWS
