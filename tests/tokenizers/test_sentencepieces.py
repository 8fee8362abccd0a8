"""Sub-words of a Marian model; the oracle is `transformers`' MarianTokenizer."""

import json
import pickle
import re
import shutil
import sys
from pathlib import Path

import pytest
from marian_models import CODES, write_sub_words
from transformers import MarianTokenizer

from headway.core.errors import ConfigError, DataError
from headway.demo import generate
from headway.tokenizers.sentencepieces import SentencePieces

PAIRS = generate(120, 9)  # none of those that the pieces were learned from
ODD = (
    "", " ", "Zoë’s  café ﬁne", "中文 and English", "emoji 🙂 here", "a\u0301 combining", "½ of ２",
    f"{CODES[0]} She reads.",
    f"{CODES[1]}She reads.", ">>deu<< no such code", "5 >> 3 << 7", "</s> <pad>",
)  # fmt: skip


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def folder(request, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pieces")
    write_sub_words(place, request.param)
    return place


@pytest.fixture(scope="module")
def ours(folder: Path) -> SentencePieces:
    return SentencePieces.of_folder(folder)


@pytest.fixture(scope="module")
def theirs(folder: Path) -> MarianTokenizer:
    return MarianTokenizer.from_pretrained(folder, local_files_only=True)


def test_both_sides_get_marians_ids(ours, theirs):
    sources, targets = ([pair[side] for pair in PAIRS] for side in (0, 1))
    expected = theirs(sources, text_target=targets)
    end = ours.special.end
    assert [[*ids, end] for ids in ours.encode_batch(sources)] == expected["input_ids"]
    assert [[*ids, end] for ids in ours.encode_targets(targets)] == expected["labels"]
    assert ours.encode_batch(targets) != ours.encode_targets(targets)


@pytest.mark.parametrize(
    "text", [text for text in ODD if "<pad>" not in text and "deu" not in text]
)
def test_odd_texts_get_marians_ids(ours, theirs, text):
    assert [*ours.encode(text), ours.special.end] == theirs(text).input_ids


def test_a_code_is_the_same_piece_as_a_tag(ours):
    assert ours.codes == ["zho", "cmn_Hans"]
    for code in ours.codes:
        assert ours.encode(f"<{code}> She reads.") == ours.encode(f">>{code}<< She reads.")
        assert ours.pieces(ours.encode(f"<{code}> She"))[0] == f">>{code}<<"
    assert ours.pieces(ours.encode("<deu> She"))[0] != ">>deu<<"


def test_a_typed_marker_stays_text(ours):
    special = ours.special
    assert not {special.end, special.padding} & set(ours.encode("</s> <pad> <unk>"))


def test_targets_are_put_together_as_by_marian(ours, theirs):
    targets = [target for _, target in PAIRS]
    rows = [ids for ids in ours.encode_targets(targets) if ours.special.unknown not in ids]
    assert len(rows) > 20
    expected = [theirs.decode(ids, use_source_tokenizer=False) for ids in rows]
    assert ours.decode_batch(rows) == expected
    marked = [[ours.special.padding, *ids, ours.special.end] for ids in rows]
    assert ours.decode_batch(marked) == expected


def test_known_texts_come_back(ours):
    known = [text for text, _ in PAIRS if ours.special.unknown not in ours.encode(text)]
    assert len(known) > 20
    assert ours.decode_batch(ours.encode_batch(known)) == known


@pytest.mark.parametrize("text", [*ODD, *(source for source, _ in PAIRS[:20])])
def test_spans_cover_the_text_in_order(ours, text):
    spans = ours.source_spans(text)
    assert len(spans) == len(ours.encode(text))
    assert all(start <= end for start, end in spans)
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)
    for (start, end), piece in zip(spans, ours.pieces(ours.encode(text)), strict=True):
        if piece.startswith("▁") and piece[1:].isascii() and piece[1:].isalnum() and text.isascii():
            assert text[start:end].strip() == piece[1:]


def test_a_copy_for_another_process_and_one_on_the_disk_are_the_same(ours, tmp_path):
    ours.save(tmp_path / "tokenizer.json")
    texts = [source for source, _ in PAIRS[:5]]
    for copy in (pickle.loads(pickle.dumps(ours)), SentencePieces.of_folder(tmp_path)):
        assert copy.encode_batch(texts) == ours.encode_batch(texts)
        assert copy.fingerprint() == ours.fingerprint()
        assert len(copy) == len(ours)
        assert copy.special == ours.special


def test_another_list_has_another_fingerprint(ours, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "other")
    file = tmp_path / "other" / "vocab.json"
    listed = json.loads(file.read_text(encoding="utf-8"))
    listed["new"] = len(listed)
    file.write_text(json.dumps(listed), encoding="utf-8")
    assert SentencePieces.of_folder(tmp_path / "other").fingerprint() != ours.fingerprint()


def test_without_sentencepiece_it_is_said_how_to_get_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ConfigError, match=re.escape("pip install 'headway[sentencepiece]'")):
        SentencePieces.of_folder(folder)


@pytest.mark.parametrize("name", ["source.spm", "target.spm", "vocab.json"])
@pytest.mark.parametrize("content", [None, b"", b"\x00\xff" * 50, b"{}", b"[1]", b"[" * 100_000])
def test_a_damaged_file_is_refused_by_name(folder, tmp_path, name, content):
    shutil.copytree(folder, tmp_path / "m")
    (tmp_path / "m" / name).unlink()
    if content is not None:
        (tmp_path / "m" / name).write_bytes(content)
    with pytest.raises(DataError, match=str(tmp_path / "m")):
        SentencePieces.of_folder(tmp_path / "m")


@pytest.mark.parametrize(
    "ids",
    [
        {"</s>": 0, "<unk>": 1},
        {"</s>": 0, "<unk>": 1, "<pad>": 3},
        {"</s>": 0, "<unk>": 1, "<pad>": 1},
        {"</s>": 0, "<unk>": 1, "<pad>": 2.0},
        {"</s>": 0, "<unk>": True, "<pad>": 2},
        {"</s>": 0, "<unk>": "1", "<pad>": 2},
        {"</s>": 0, "<unk>": 1, "<pad>": 1 << 62},
    ],
    ids=str,
)
def test_ids_that_are_no_list_are_refused(folder, tmp_path, ids):
    shutil.copytree(folder, tmp_path / "m")
    (tmp_path / "m" / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    with pytest.raises(DataError, match="vocab.json"):
        SentencePieces.of_folder(tmp_path / "m")
