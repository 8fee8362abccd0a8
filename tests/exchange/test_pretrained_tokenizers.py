"""Sub-words beside models; the oracle are the tokenizers of `transformers`."""

import json
from pathlib import Path
from typing import Any

import pytest
from bert_models import BYTE_TEXT, PIECES, write_byte_level, write_pieces
from transformers import AutoTokenizer, BertTokenizerFast, RobertaTokenizerFast

from headway.core.errors import ConfigError, DataError
from headway.exchange.pretrained_tokenizers import read_pretrained
from headway.tokenizers.words import opened

HOSTILE = [
    "Héllo, the WORLD is naïve — don't!",
    "a\tb\r\nc\u00a0d\u200be\u3000f\x00g\x7fh\ufeffi\ufffd",
    "中文和日本語 한국어 ภาษาไทย हिन्दी",
    "[MASK] [CLS] <mask> <s></s> [unused0] ##ing",
    "x" * 101 + " " + "word" * 25 + " " + "é" * 300,
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 👩‍👩‍👧‍👦 ½ ﬁ Å İi ß ẞ",
    "3.14159 1,000 $5 100% a_b c-d e/f @x #y",
    "",
    "   ",
    "\n",
    "ÀÉÎÕÜ àéîõü Ñandú",
    "‘quoted’ “text” … ‒ – —",
]


def silent(_: str) -> None:
    pass


def compared(folder: Path, theirs: Any, tmp_path: Path) -> None:
    """Ids and offsets of hostile texts are those of `transformers`, also once saved and read."""
    found, _ = read_pretrained(folder, silent)
    found.save(tmp_path / "saved.json")
    again = opened(tmp_path / "saved.json")
    for text in HOSTILE:
        expected = theirs(
            text, add_special_tokens=False, split_special_tokens=True, return_offsets_mapping=True
        )
        assert found.encode(text) == again.encode(text) == expected.input_ids, text
        assert found.source_spans(text) == [*map(tuple, expected.offset_mapping)], text


OPTIONS: list[dict[str, Any]] = [
    {},
    {"do_lower_case": False},
    {"do_lower_case": True, "strip_accents": False},
    {"do_lower_case": False, "strip_accents": True},
    {"do_lower_case": True, "tokenize_chinese_chars": False},
    {"do_lower_case": True, "strip_accents": None},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_pieces_of_a_vocab_txt_are_those_of_transformers(tmp_path, options):
    write_pieces(tmp_path / "m", **options)
    theirs = BertTokenizerFast.from_pretrained(tmp_path / "m", **options)
    compared(tmp_path / "m", theirs, tmp_path)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_what_tokenizer_config_says_counts_more_than_tokenizer_json(tmp_path, options):
    BertTokenizerFast(vocab={p: i for i, p in enumerate(PIECES)}).save_pretrained(tmp_path / "m")
    file = tmp_path / "m" / "tokenizer_config.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(told | options), encoding="utf-8")
    compared(tmp_path / "m", AutoTokenizer.from_pretrained(tmp_path / "m"), tmp_path)


@pytest.mark.parametrize("options", [{}, {"add_prefix_space": True}, {"trim_offsets": False}])
@pytest.mark.parametrize("whole", [True, False], ids=["tokenizer.json", "two files"])
def test_pieces_of_a_roberta_are_those_of_transformers(tmp_path, whole, options):
    write_byte_level(tmp_path / "m", **options)
    theirs = RobertaTokenizerFast.from_pretrained(tmp_path / "m", **options)
    if whole:
        theirs.save_pretrained(tmp_path / "m")
        for name in ("vocab.json", "merges.txt"):
            (tmp_path / "m" / name).unlink()
    compared(tmp_path / "m", theirs, tmp_path)
    assert len(theirs(BYTE_TEXT[0]).input_ids) < len(BYTE_TEXT[0])


def test_whether_capitals_are_kept_is_said_where_no_file_tells_it(tmp_path):
    write_pieces(tmp_path / "m")
    said: list[str] = []
    read_pretrained(tmp_path / "m", said.append)
    assert "lower-cased" in said[0]
    write_pieces(tmp_path / "cased", pieces=[*PIECES, "The"])
    cased, _ = read_pretrained(tmp_path / "cased", said.append)
    assert cased.encode("The") == [len(PIECES)]
    assert "keep capitals" in said[1]
    numerals = [*PIECES, "Ⅳ", *(f"##{n}" for n in range(100, 150))]
    write_pieces(tmp_path / "few", pieces=numerals)
    read_pretrained(tmp_path / "few", said.append)
    assert "lower-cased" in said.pop()
    write_pieces(tmp_path / "told", do_lower_case=True)
    read_pretrained(tmp_path / "told", said.append)
    assert len(said) == 2


@pytest.mark.parametrize(
    ("file", "content", "word"),
    [
        ("tokenizer_config.json", '{"do_lower_case": "yes"}', "do_lower_case"),
        ("tokenizer_config.json", "[1]", "table in JSON"),
        ("vocab.txt", "a\nb\n", "needs a piece for padding"),
        ("vocab.txt", b"\xff\xfe", "UTF-8"),
        ("tokenizer.json", "{", "no tokenizer"),
    ],
)
def test_damaged_files_are_refused_with_the_reason(tmp_path, file, content, word):
    write_pieces(tmp_path / "m")
    place = tmp_path / "m" / file
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises((ConfigError, DataError), match=word):
        read_pretrained(tmp_path / "m", silent)


@pytest.mark.parametrize("damage", ["gone", "no pairs", "other pieces"])
def test_damaged_merges_are_refused(tmp_path, damage):
    write_byte_level(tmp_path / "m")
    file = tmp_path / "m" / "merges.txt"
    file.write_text({"no pairs": "abc\n", "other pieces": "qqq zzz\n"}.get(damage, ""))
    if damage == "gone":
        file.unlink()
    with pytest.raises(DataError, match="merges"):
        read_pretrained(tmp_path / "m", silent)


def test_a_folder_without_pieces_is_refused(tmp_path):
    with pytest.raises(DataError, match="has none of them"):
        read_pretrained(tmp_path, silent)
