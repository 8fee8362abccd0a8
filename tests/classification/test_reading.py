"""Every kind of file of labelled texts, and what is refused with its line."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from headway.classification.reading import (
    ClassifiedFiles,
    LabelledText,
    labels_of,
    read_labelled,
    refuse_unknown,
    say_contradictions,
)
from headway.core.errors import ConfigError, DataError
from headway.labelling.data import held_out

HOW = ClassifiedFiles()
ROWS = [("first text", ("b",)), ('second, "text"', ("a",))]


def written(path: Path, text: str) -> Path:
    data = text.encode("utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read(path: Path, how: ClassifiedFiles = HOW) -> list[tuple[str, tuple[str, ...]]]:
    return [(row.text, row.labels) for row in read_labelled([path], how)]


def lines_of(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", 'b\tfirst text\n\na\tsecond, "text"\n'),
        ("a.txt", '\ufeffb\tfirst text\r\na\tsecond, "text"\r\n'),
        ("a.tsv.gz", 'b\tfirst text\na\tsecond, "text"'),
        ("a.csv", 'text,id,label\nfirst text,1,b\n"second, ""text""",2, a \n'),
        ("a.CSV.gz", 'text,id,label\nfirst text,1,b\n"second, ""text""",2,a\n'),
        (
            "a.jsonl",
            lines_of(
                [{"text": "first text", "label": "b"}, {"label": ["a"], "text": 'second, "text"'}]
            ),
        ),
    ],
)
def test_every_kind_of_file_is_read(tmp_path, name, text):
    assert read(written(tmp_path / name, text)) == ROWS


def test_columns_are_called_as_they_are_called(tmp_path):
    how = ClassifiedFiles(text_column="review", label_column="stars")
    table = 'stars\treview\n5\tgood\n1\tbad "one\n'
    assert read(written(tmp_path / "a.tsv", table), how) == [("good", ("5",)), ('bad "one', ("1",))]
    rows = lines_of([{"stars": 5, "review": "good"}])
    assert read(written(tmp_path / "a.jsonl", rows), how) == [("good", ("5",))]


def test_a_text_in_quotes_may_have_lines(tmp_path):
    file = written(tmp_path / "a.csv", 'label,text\na,"one\ntwo"\nb,three\n')
    assert read(file) == [("one\ntwo", ("a",)), ("three", ("b",))]
    assert read_labelled([file], HOW)[1].place == f"line 4 of {file}"


def test_several_labels_stand_between_bars_or_in_a_list(tmp_path):
    assert read(written(tmp_path / "a.tsv", "b|a|b\tx\n")) == [("x", ("b", "a"))]
    rows = lines_of([{"text": "x", "label": ["a|b", "c"]}, {"text": "y", "label": []}])
    assert read(written(tmp_path / "a.jsonl", rows)) == [("x", ("a|b", "c")), ("y", ())]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.tsv", "a\tx\nno tab here\n", "label TAB text; line 2 of .*a.tsv has no tab"),
        ("a.tsv", "a\tx\nb\t \n", "a text has words; line 2"),
        ("a.tsv", "a\tx\n\ty\n", "a label has letters; line 2"),
        ("a.tsv", "a|\tx\n", "an empty one"),
        ("a.tsv", "", "needs at least one line"),
        ("a.tsv", "\n \n", "has blank lines"),
        ("a.jsonl", '{"text": "x"}\n', "'label' .*; line 1"),
        ("a.jsonl", '{"text": 3, "label": "a"}\n', "is an object with 'text'"),
        ("a.jsonl", '{"text": "x", "label": "a"}\n[1]\n', "line 2"),
        ("a.jsonl", '{"text": "x", "label": {"a": 1}}\n', "a list of these"),
        ("a.csv", "text,label\nx,a\ny\n", "2 columns; line 3 of .* has 1"),
        ("a.csv", 'text,label\n"x"y,a\n', "CSV with double quotes; line 2"),
        ("a.csv", 'text,label\n"x,a\n', "CSV with double quotes"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path, name, text, why):
    with pytest.raises(DataError, match=why):
        read(written(tmp_path / name, text))


def test_a_column_that_is_not_there_is_refused_with_the_header(tmp_path):
    file = written(tmp_path / "a.csv", "review,stars\ngood,5\n")
    with pytest.raises(
        ConfigError, match=r"'text' is there 0 times: .* review, stars. Mend it, or name .*--te"
    ):
        read(file)
    with pytest.raises(ConfigError, match="'x' is there 2 times"):
        read(written(tmp_path / "b.csv", "x,x\n1,2\n"), ClassifiedFiles(text_column="x"))


def test_another_encoding_is_refused_with_line_and_byte(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_bytes("a\tx\nb\tcafé\n".encode("latin-1"))
    with pytest.raises(DataError, match="line 2, byte 6"):
        read(file)
    file.write_bytes("a\tx\n".encode("utf-16"))
    with pytest.raises(DataError, match="UTF-16"):
        read(file)
    file.write_bytes(b"a\t" + b"x" * (1 << 21) + b"\n")
    with pytest.raises(DataError, match="1 MiB at most; line 1"):
        read(file)


# -- labels -----------------------------------------------------------------------------------


def rows(tmp_path: Path, *lines: str):
    return read_labelled([written(tmp_path / "rows.tsv", "\n".join(lines) + "\n")], HOW)


def test_labels_are_in_the_order_of_their_names_and_counted(tmp_path):
    said: list[str] = []
    assert labels_of(rows(tmp_path, "b\tx", "a\ty", "b\tz"), said.append) == ("a", "b")
    assert said == ["2 labels: b 2, a 1"]


def test_imbalance_is_said(tmp_path):
    said: list[str] = []
    labels_of(rows(tmp_path, *["often\tx"] * 90, *["rare\ty"] * 4), said.append)
    assert "WARNING: often has 96% of the texts, rare 4.3%" in said[1]
    assert "F1" in said[1]


def test_one_label_alone_and_texts_for_labels_are_refused(tmp_path):
    with pytest.raises(DataError, match="all 2 texts are 'a'"):
        labels_of(rows(tmp_path, "a\tx", "a\ty"), print)
    with pytest.raises(DataError, match=r"30 of 30 texts have one of their own.*swap the two"):
        labels_of(rows(tmp_path, *(f"a long text {n}\tgood" for n in range(30))), print)
    with pytest.raises(DataError, match="two labels or more; all 3 texts are ''"):
        labels_of([LabelledText("x", (), "line")] * 3, print)


def test_a_line_of_names_is_no_text_and_empty_texts_are_told_at_once(tmp_path):
    with pytest.raises(DataError, match=r"line 1 .* --label-column Label --text-column Text, or"):
        rows(tmp_path, "Label\tText", "a\tx")
    assert len(rows(tmp_path, "a\tx", "label\ttext")) == 2, "only the first line"
    with pytest.raises(DataError, match=r"has words; line 2 of .* and 1 more have none\."):
        rows(tmp_path, "a\tx", "b\t ", "a\ty", "b\t")


def test_one_text_with_several_labels_is_said(tmp_path):
    said = list[str]()
    say_contradictions(rows(tmp_path, "no\tx", "yes\tx", "yes\ty", "yes\ty"), said.append)
    assert len(said) == 1
    assert "1 texts stand there with different labels, the first is 'x': no and yes" in said[0]
    say_contradictions(rows(tmp_path, "a|b\tx", "b|a\tx", "a\ty"), said.append)
    assert len(said) == 1


def test_a_label_that_was_not_learned_is_refused_with_its_line(tmp_path):
    found = rows(tmp_path, "a\tx", "c\ty")
    refuse_unknown(found[:1], ("a", "b"), "these")
    with pytest.raises(DataError, match=r"line 2 of .*rows.tsv has 'c', which is none of a, b"):
        refuse_unknown(found, ("a", "b"), "these")
    many = [f"label-{n}" for n in range(99)]
    with pytest.raises(DataError, match=r"is none of label-0, .*label-\d+, \.\.\. Put"):
        refuse_unknown(found, many, "these")


def test_of_each_label_a_tenth_is_held_out_and_none_that_is_there_once():
    kinds = ["a"] * 200 + ["b"] * 20 + ["c"]
    rows = [*enumerate(kinds)]
    train, valid = held_out(rows, 3, "texts", rows, kinds)
    assert Counter(kind for _, kind in valid) == {"a": 20, "b": 2}
    assert sorted(train + valid) == rows
    again = held_out(rows, 3, "texts", rows, kinds)[1]
    assert again == valid != held_out(rows, 4, "texts", rows, kinds)[1]
    with pytest.raises(DataError, match="needs 20 texts"):
        held_out([1] * 19, 1, "texts", range(19))
