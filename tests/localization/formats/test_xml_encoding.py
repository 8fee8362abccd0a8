import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.localization.formats.xml_encoding import Contents, read_contents, utf8_chunks


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read(path: Path) -> str:
    return b"".join(utf8_chunks(path)).decode()


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("UTF-8", "ä 中"),
        ("us-ascii", "a"),
        ("windows-1251", "ж"),
        ("ISO-8859-15", "ä €"),
        ("GBK", "中文"),
        ("gb18030", "中文 €"),
        ("Shift_JIS", "日本語"),
        ("EUC-KR", "한국"),
        ("iso-2022-jp", "日本語"),
    ],
)
@pytest.mark.parametrize("quote", "\"'")
def test_any_declared_encoding_is_read_and_given_back(
    encoding: str, text: str, quote: str, tmp_path: Path
) -> None:
    document = (
        f"<?xml version={quote}1.0{quote} encoding={quote}{encoding}{quote}?>\r\n<a>{text}</a>"
    )
    path = written(tmp_path / "a.xml", document.encode(encoding))
    assert read(path) == document
    contents = read_contents(path)
    assert contents.restored(contents.data) == path.read_bytes()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-8"])
@pytest.mark.parametrize("declared", ["", ' encoding="{}"'])
def test_a_byte_order_mark_says_the_encoding(encoding: str, declared: str, tmp_path: Path) -> None:
    name = encoding.removesuffix("-le").removesuffix("-be")
    document = f'<?xml version="1.0"{declared.format(name)}?>\n<a>ä𝐀</a>'
    data = ("\ufeff" + document).encode(encoding)
    path = written(tmp_path / "a.xml.gz", data)
    assert read(path) == document
    assert read_contents(path).restored(document.encode()) == data


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_known_by_its_zeros(encoding: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a.xml", "<a>ä</a>".encode(encoding))
    assert read(path) == "<a>ä</a>"
    contents = read_contents(path)
    assert (contents.encoding, contents.mark) == (encoding, b"")


def test_a_file_longer_than_any_piece_of_it_stays_whole(tmp_path: Path) -> None:
    document = "<a>" + "日本語, ä\n" * 100_000 + "</a>"
    assert read(written(tmp_path / "a.xml", document.encode())) == document
    declared = "<?xml version='1.0' encoding='utf-16'?>" + document
    assert read(written(tmp_path / "b.xml", declared.encode("utf-16"))) == declared


@pytest.mark.parametrize(
    "data",
    [
        b"<?xml version='1.0' encoding='utf-16'?><a/>",
        b"\xff\xfe" + "<?xml version='1.0' encoding='utf-8'?><a/>".encode("utf-16-le"),
        b"\xef\xbb\xbf<?xml version='1.0' encoding='latin-1'?><a/>",
        b"<?xml version='1.0' encoding='zlib'?><a/>",
        b"<?xml version='1.0' encoding='utf-7'?><a/>",
        b"<?xml version='1.0' encoding='raw_unicode_escape'?><a/>",
        b"<?xml version='1.0' encoding='no-such-thing'?><a/>",
    ],
)
def test_a_declaration_that_cannot_be_true_is_refused(data: bytes, tmp_path: Path) -> None:
    path = written(tmp_path / "a.xml", data)
    with pytest.raises(DataError, match=r"in the encoding that it declares; .*a\.xml:1 declares"):
        read(path)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"<a>\n\n\xe4</a>", 3),
        (b"<a>" + b"x\n" * 300_000 + b"\xe4</a>", 300_001),
        (b"<?xml version='1.0' encoding='us-ascii'?>\n<a>\xc3\xa4</a>", 2),
        (b"<a>\xe4", 1),
        (b"\xff\xfe<\0a\0\n\0>", 2),
    ],
)
def test_bytes_of_another_encoding_are_refused_with_their_line(
    data: bytes, line: int, tmp_path: Path
) -> None:
    path = written(tmp_path / "a.xml", data)
    with pytest.raises(DataError, match=rf"a\.xml:{line} is not .* Save it as UTF-8"):
        read(path)


def test_a_damaged_gz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xml.gz"
    path.write_bytes(gzip.compress(b"<a>text</a>" * 50)[:-9])
    with pytest.raises(DataError, match=r"\.gz file must be whole"):
        read(path)


def test_what_would_not_come_back_as_it_was_is_not_filled_in(tmp_path: Path) -> None:
    twice = b"<?xml version='1.0' encoding='iso-2022-jp'?><a>\x1b(B\x1b(B</a>"
    with pytest.raises(DataError, match=r"bytes that would come back as others"):
        read_contents(written(tmp_path / "a.xml", twice))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_an_encoding_lacks_is_written_by_number(text: str) -> None:
    restored = Contents(b"", "latin-1", b"").restored(text.encode()).decode("latin-1")
    expected = (c if ord(c) < 256 else f"&#{ord(c)};" for c in text)
    assert restored == "".join(expected)
