"""Files of tokens and tags: what is read, and what is refused by file and line."""

import gzip

import pytest

from headway.core.errors import DataError
from headway.tagging.conll import read_tagged

TOKENS = [["Ada", "slept", "."], ["Rome"]]


@pytest.mark.parametrize(
    "text",
    [
        "Ada\tB-PER\nslept\tO\n.\tO\n\nRome\tB-LOC\n",
        "-DOCSTART- -X- O\n\nAda B-PER\nslept  O\n. O\n\n\nRome B-LOC",
        "\ufeffAda\tNNP\tB-PER\r\nslept\tVB\tO\r\n.\t.\tO\r\n\r\nRome\tNNP\tB-LOC\r\n\r\n",
        "Ada NNP I-NP B-PER \nslept VB I-VP O\n. . O O\n \t\nRome NNP I-NP B-LOC\n",
    ],
)
def test_tabs_spaces_columns_documents_line_ends_and_marks(text, tmp_path):
    for name, write in (("a.conll", bytes), ("a.conll.gz", gzip.compress)):
        path = tmp_path / name
        path.write_bytes(write(text.encode()))
        found = read_tagged([path])
        assert [one.tokens for one in found] == TOKENS
        assert [one.tags for one in found] == [["B-PER", "O", "O"], ["B-LOC"]]
        assert all(str(path) in one.place for one in found)


def test_a_token_may_have_a_space_where_tabs_part_columns(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("New York\tB-LOC\n#\tO\n\u3000\u3000x\tO\n", "utf-8")
    [one] = read_tagged([path])
    assert one.tokens == ["New York", "#", "\u3000\u3000x"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("Ada\tO\nslept\n", 2, "has 'slept' alone. Give each token its tag"),
        ("Ada\tO\n\nslept\tVB\tO\n", 3, "as many columns as its first, 2;.* has 3: 'slept VB O'"),
        ("Ada O\nNew York B-LOC\n", 2, "Part them by tabs where tokens have spaces"),
        ("Ada\tO\nslept\t\n", 2, "has no tag"),
        ("\tO\n", 1, "has no token"),
        ("\n\n \n", 0, "has blank lines"),
        ("Ada\tO\n" + "x" * (1 << 20) + "\tO\n", 2, "over a megabyte"),
    ],
)
def test_damage_is_refused_with_file_and_line(text, line, message, tmp_path):
    path = tmp_path / "bad.conll"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=message) as refused:
        read_tagged([path])
    assert str(path) in str(refused.value)
    assert f"line {line} of" in str(refused.value) or not line
