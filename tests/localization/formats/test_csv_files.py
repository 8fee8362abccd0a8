"""CSV: Python's own reader is the oracle."""

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.core.cleaning import Report
from headway.core.errors import DataError
from headway.corpora.corpus import Corpus
from headway.localization.formats.csv_files import csv_languages, open_document, read_csv
from headway.localization.placeholders.segments import Segment


def read(path: Path, source: str | None = None, target: str | None = None):
    report = Report()
    corpus = Corpus(source_language=source, target_language=target)
    pairs = list(read_csv(path, corpus, report))
    assert report.read == len(pairs) + sum(report.dropped.values())
    return [pair[:2] for pair in pairs], report


def filled(path: Path, data: bytes, *languages: str | None) -> bytes:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    document = open_document(path, *(languages or (None, None)), False)
    assert document.filled([None] * len(document.gaps)) == data
    return document.filled([Segment((gap.source.text.upper(),)) for gap in document.gaps])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a,b\nc,\n", b"a,b\nc,C\n"),
        (b'source;note;target\r\n"a;b";x;\r\n', b'source;note;target\r\n"a;b";x;"A;B"\r\n'),
        (b"en\tde\n'a'\t\nb\tc", b"en\tde\n'a'\t'A'\nb\tc"),
        (b'\xef\xbb\xbfde,en\n,"say ""a"""\n', b'\xef\xbb\xbfde,en\n"SAY ""A""","say ""a"""\n'),
        (b'"a\nb",""\n"c",\n', b'"a\nb","A\nB"\n"c","C"\n'),
        (b"source,target\na\nb,\n", b"source,target\na,A\nb,B\n"),
        (b"a|x\nb|\n", b"a|x\nb|B\n"),
    ],
)
def test_the_empty_cells_are_filled(tmp_path, before, after):
    languages = ("en", "de") if b"en" in before else (None, None)
    assert filled(tmp_path / "a.csv", before, *languages) == after
    assert filled(tmp_path / "a.csv.gz", before, *languages) == after


def test_columns_are_found_by_their_names(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "id,de,Comment,en,fr,Status,maxlength\n"
        "7,ja,not OK,yes,oui,draft,4\n8,,,a,b,,x\n9,,,c,d,,\x1d3 \n"
    )
    pairs, report = read(path, "en", "de")
    assert pairs == [("yes", "ja")]
    assert report.dropped == {"header": 1, "untranslated": 2}
    [pair] = read_csv(path, Corpus(source_language="fr", target_language="de"), Report())
    assert (pair.source, pair.remarks) == ("oui", ("not OK", "state: draft"))
    corpus = Corpus(source_language="en", target_language="de")
    assert csv_languages(path, corpus) == ("en", "de")
    document = open_document(path, "en", "de", True)
    assert [(gap.key, gap.width and gap.width.most) for gap in document.gaps] == [
        ("7", 4), ("8", None), ("9", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        ("en,de", 1),
        ("EN,DE", 1),
        ("pt_BR,de-AT", 1),
        ("Go,Va", 0),
        ("Ja,No", 0),
        ("a,b", 0),
        ("OK,OK", 0),
        ("no,no", 0),
        ("eng,deu", 1),
    ],
)
@pytest.mark.parametrize("before", ["", "\n"])
def test_only_codes_of_languages_in_one_case_are_a_header(tmp_path, before, first, is_header):
    path = tmp_path / "a.csv"
    path.write_text(f"{before}{first}\nA dog.,Ein Hund.\n", encoding="utf-8")
    pairs, report = read(path)
    assert report.dropped["header"] == is_header
    assert len(pairs) == 2 - is_header


@pytest.mark.parametrize(
    ("first", "source", "target", "taken"),
    [
        ("en,de,fr", None, None, (0, 1)),
        ("en,de,fr", "en", None, (0, 1)),
        ("en,de,fr", None, "fr", (0, 2)),
        ("en,de,fr", "fr", "en", (2, 0)),
        ("id,en-US,de-DE,fr-FR", None, None, (1, 2)),
        ("id,en-US,de-DE,fr-FR", "de", "fr", (2, 3)),
        ("zh-Hans,note,en,de", "en", None, (2, 0)),
    ],
)
def test_of_many_languages_those_asked_for_are_taken_else_the_first(
    tmp_path, first, source, target, taken
) -> None:
    path = tmp_path / "a.csv"
    codes = first.split(",")
    path.write_text(f"{first}\n{','.join(f'in {code}' for code in codes)}\n", encoding="utf-8")
    corpus = Corpus(source_language=source, target_language=target)
    [pair] = read_csv(path, corpus, Report())
    assert (pair.source, pair.target) == tuple(f"in {codes[n]}" for n in taken)
    assert csv_languages(path, corpus) == tuple(codes[n] for n in taken)


def test_a_language_that_no_column_has_is_refused(tmp_path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("en,de,fr\na,b,c\n", encoding="utf-8")
    with pytest.raises(DataError, match="are in en, de, fr; zh was asked for"):
        list(read_csv(path, Corpus(target_language="zh"), Report()))


def test_a_quote_that_is_never_closed_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n"c,d\n')
    with pytest.raises(DataError, match=r"a\.csv:2 has one"):
        read(path)


CELL = st.text(st.sampled_from('ab",;\n\r é'), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(CELL, CELL), min_size=1),
    sign=st.sampled_from(",;\t"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_rows_are_read_as_python_reads_them(tmp_path, rows, sign, quoting):
    path, rows = tmp_path / "a.csv", [("source", "target"), *rows]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=sign, quoting=quoting).writerows(rows)
    data = text.getvalue().encode()
    path.write_bytes(data)
    pairs, _ = read(path)
    assert pairs == [(s, t) for s, t in rows[1:] if t.strip() or not s.strip()]
    after = filled(path, data).decode()
    again = list(csv.reader(io.StringIO(after, newline=""), delimiter=sign))
    gaps = [(s, s.upper() if not t.strip() and any(map(str.isalnum, s)) else t) for s, t in rows]
    assert [tuple(row) for row in again] == gaps
