"""Tables are filled in line by line; every other byte stays."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.localization.formats.csv_files import open_tsv
from headway.localization.formats.documents import Document
from headway.localization.placeholders.segments import Segment

Open = Callable[..., Document]


def opened(
    open_document: Open, path: Path, data: bytes, *, overwrite: bool = False, to: str | None = "de"
) -> Document:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    document = open_document(path, "en", to, overwrite)
    assert isinstance(document, Document)
    return document


def filled(open_document: Open, path: Path, data: bytes, *, overwrite: bool = False) -> bytes:
    document = opened(open_document, path, data, overwrite=overwrite)
    return document.filled([Segment((gap.source.text.upper(),)) for gap in document.gaps])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\tb\nc\t\n", b"a\tb\nc\tC\n"),
        (b"a\t\r\nb", b"a\tA\r\nb\tB"),
        (b"\xef\xbb\xbfa\t\tnote\tmore", b"\xef\xbb\xbfa\tA\tnote\tmore"),
        (b"en\tde\na\t \n", b"en\tde\na\tA\n"),
        (b"de\ten\n\ta\nb\tc\nd\n", b"de\ten\nA\ta\nb\tc\nd\n"),
        (b"source\ttarget\n\n---\t\n\tb\n", b"source\ttarget\n\n---\t\n\tb\n"),
        (b"a\r\r\nb\x0bc\t\n", b"a\r\tA \r\nb\x0bc\tB\x0bC\n"),
    ],
)
def test_the_empty_column_of_a_tsv_is_filled(tmp_path, before, after):
    assert filled(open_tsv, tmp_path / "a.tsv", before) == after
    assert filled(open_tsv, tmp_path / "a.tsv.gz", before) == after


def test_a_translation_never_makes_a_new_row_or_column(tmp_path):
    document = opened(open_tsv, tmp_path / "a.tsv", b"a\t\n")
    assert document.filled([Segment(("b\tc\r\nd",))]) == b"a\tb c d\n"


def test_a_header_may_name_further_columns(tmp_path):
    data = b"source\ttarget\tnote\na\t\tb\n"
    assert filled(open_tsv, tmp_path / "a.tsv", data, overwrite=True) == data[:-4] + b"\tA\tb\n"


def test_rows_without_a_gap_are_counted(tmp_path):
    data = b"en\tde\na\tb\n\nc\t\n"
    document = opened(open_tsv, tmp_path / "a.tsv", data)
    assert document.counts.units == 4
    left = {"header": 1, "translated": 1, "blank_side": 1}
    assert document.counts.left == left
    assert [(gap.source.text, gap.line) for gap in document.gaps] == [("c", 4)]
    assert (document.source_language, document.target_language) == ("en", "de")
    assert opened(open_tsv, tmp_path / "b.tsv", b"a\t\n").target_language is None


def test_all_is_translated_on_request(tmp_path):
    assert filled(open_tsv, tmp_path / "a.tsv", b"a\tb\n", overwrite=True) == b"a\tA\n"


def test_only_halves_of_characters_cannot_be_held(tmp_path):
    document = opened(open_tsv, tmp_path / "a.tsv", b"a\t\n")
    assert document.can_hold(Segment(("好 🙂",)))
    assert not document.can_hold(Segment(("\ud800",)))
