import contextlib
import gzip
import os
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.core.lines import MAX_LINE_BYTES, check_file, read_lines


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["a.en", "a.en.gz"])
@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"\n\n", ["", ""]),
        (b"a\rb\x0bc\x0cd\xc2\x85e\xe2\x80\xa8f\n", ["a\rb\x0bc\x0cd\x85e\u2028f"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", ["a", "\ufeffb"]),
        (b"a\x00b\n", ["a\x00b"]),
        (b"\xef\xbb\xbf", [""]),
    ],
)
def test_only_line_feed_ends_a_line(
    name: str, content: bytes, lines: list[str], tmp_path: Path
) -> None:
    assert list(read_lines(written(tmp_path / name, content))) == lines


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_lines_are_those_of_splitting_at_line_feeds(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = written(tmp_path_factory.getbasetemp() / "any.txt", text.encode())
    expected = text.removesuffix("\n").split("\n")
    expected = [line.removesuffix("\r") for line in expected]
    expected[0] = expected[0].removeprefix("\ufeff")
    assert list(read_lines(path)) == expected


def test_line_ends_and_byte_order_marks_are_counted(tmp_path: Path) -> None:
    mended: Counter[str] = Counter()
    list(read_lines(written(tmp_path / "a", b"\xef\xbb\xbfa\r\nb\r\nc\n"), mended))
    assert mended == {"byte_order_mark": 1, "crlf": 2}


@pytest.mark.parametrize("n_bytes", [MAX_LINE_BYTES, MAX_LINE_BYTES + 1, 5 * MAX_LINE_BYTES])
@pytest.mark.parametrize("end", [b"", b"\n", b"\nnext\n"])
def test_a_line_over_the_limit_is_none_and_the_next_one_is_whole(
    n_bytes: int, end: bytes, tmp_path: Path
) -> None:
    path = written(tmp_path / "a", b"first\n" + b"x" * n_bytes + end)
    lines = list(read_lines(path))
    assert lines[0] == "first"
    assert (lines[1] is None) == (n_bytes > MAX_LINE_BYTES)
    assert lines[2:] == (["next"] if b"next" in end else [])


@pytest.mark.parametrize("name", ["a", "a.gz"])
def test_a_line_of_100_megabytes_is_passed_over_in_bounded_memory(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    with gzip.open(path, "wb", compresslevel=1) if path.suffix else path.open("wb") as file:
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b"\nnext\n")
    tracemalloc.start()
    assert list(read_lines(path)) == [None, "next"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ok\nok\nab\xff\n", r"a\.en is not \(line 3, byte 3: 0xff\).*iconv"),
        (b"\xef\xbb\xbfb\xe9t\n", r"line 1, byte 5: 0xe9"),
        ("ab\n".encode("utf-16"), r"a\.en is UTF-16 .*iconv -f UTF-16"),
        (gzip.compress(b"ab\n", mtime=0), r"a\.en is gzip data.*suffix \.gz"),
        (b"\xed\xa0\x80\n", r"line 1, byte 1"),
        (b"", r"a\.en is empty"),
    ],
)
def test_what_is_not_utf8_text_is_refused_with_place_and_remedy(
    content: bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message):
        list(read_lines(written(tmp_path / "a.en", content)))


def test_lines_before_the_damage_are_given(tmp_path: Path) -> None:
    lines = read_lines(written(tmp_path / "a", b"one\ntwo\n\xff\n"))
    assert [next(lines), next(lines)] == ["one", "two"]


@pytest.mark.parametrize("n_cut", [1, 8, 12, 5_000])
def test_a_truncated_gz_is_refused(n_cut: int, tmp_path: Path) -> None:
    packed = gzip.compress(b"\n".join(os.urandom(50).hex().encode() for _ in range(5_000)))
    (tmp_path / "a.gz").write_bytes(packed[:-n_cut])
    with pytest.raises(DataError, match=r"a\.gz is damaged or cut off.*again"):
        list(read_lines(tmp_path / "a.gz"))


@settings(max_examples=40)
@given(place=st.integers(0, 200), value=st.integers(0, 255))
def test_a_damaged_gz_is_refused_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int
) -> None:
    lines = [f"line {i}" for i in range(200)]
    packed = bytearray(gzip.compress("\n".join(lines).encode(), mtime=0))
    packed[place] = value
    path = tmp_path_factory.getbasetemp() / "damaged.gz"
    path.write_bytes(packed)
    with contextlib.suppress(DataError):  # any other error is a traceback to the user
        assert list(read_lines(path)) == lines


def test_a_gz_of_nothing_or_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="unpacks to nothing"):
        list(read_lines(written(tmp_path / "a.gz", b"")))
    (tmp_path / "b.gz").write_bytes(b"plain text\n")
    with pytest.raises(DataError, match="b.gz is damaged"):
        list(read_lines(tmp_path / "b.gz"))


def test_only_a_file_is_a_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a directory"):
        check_file(tmp_path)
    with pytest.raises(DataError, match="no such file: .*missing"):
        check_file(tmp_path / "missing")
    for there, asked in (("a.en.gz", "a.en"), ("b.en", "b.en.gz")):
        written(tmp_path / there, b"a")
        with pytest.raises(DataError, match=f"no such file: .*{asked}. There is .*{there}.$"):
            check_file(tmp_path / asked)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="pipe or a device"):
        check_file(tmp_path / "pipe")
    with pytest.raises(DataError, match="cannot read"):
        check_file(Path("a\x00b"))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(DataError, match="cannot read"):
        check_file(tmp_path / "loop")
    written(tmp_path / "file", b"a")
    with pytest.raises(DataError, match=r"cannot read|no such file"):
        check_file(tmp_path / "file" / "inside")
