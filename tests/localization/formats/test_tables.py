"""Tables are filled in line by line; every other byte stays."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.localization.formats.documents import Document
from headway.localization.formats.tables import open_jsonl, open_tsv
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
    data = b"en\tde\na\tb\n\nc\t\n" + b"d" * (1 << 20) + b"e\t\n"
    document = opened(open_tsv, tmp_path / "a.tsv", data)
    assert document.counts.units == 5
    left = {"header": 1, "translated": 1, "blank_side": 1, "line_too_long": 1}
    assert document.counts.left == left
    assert [(gap.source.text, gap.line, gap.there) for gap in document.gaps] == [("c", 4, None)]
    assert (document.source_language, document.target_language) == ("en", "de")
    assert opened(open_tsv, tmp_path / "b.tsv", b"a\t\n").target_language is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"source": "a", "target": ""}\n', b'{"source": "a", "target": "A"}\n'),
        (
            b'{"target":null ,"id":[1,{"x":"}"}], "source":"a"}',
            b'{"target":"A" ,"id":[1,{"x":"}"}], "source":"a"}',
        ),
        (b'{ "source" : "a" }\r\n', b'{ "source" : "a", "target": "A" }\r\n'),
        (
            b'{"en": "a"}\n{"en": "b", "de": "c"}\n',
            b'{"en": "a", "de": "A"}\n{"en": "b", "de": "c"}\n',
        ),
        (b'{"DE": "", "EN": "a"}\n', b'{"DE": "A", "EN": "a"}\n'),
        (
            b'\xef\xbb\xbf{"source": "\\u00e4 \\" \xc3\xbc", "target": ""}',
            '\ufeff{"source": "\\u00e4 \\" ü", "target": "Ä \\" Ü"}'.encode(),
        ),
        (
            b'{"source": "a", "target": "", "target": "" }',
            b'{"source": "a", "target": "", "target": "A" }',
        ),
        (
            b'{"source": "a", "target": ""}\n\n[1]\n{"source": 1}\n{}\n',
            b'{"source": "a", "target": "A"}\n\n[1]\n{"source": 1}\n{}\n',
        ),
    ],
)
def test_the_missing_target_of_a_json_line_is_filled(tmp_path, before, after):
    assert filled(open_jsonl, tmp_path / "a.jsonl", before) == after


def test_json_lines_without_a_gap_are_counted(tmp_path):
    data = b'{"source": "a", "target": "b"}\n\n[1]\n{"source": 1}\n{"source": "--"}\n'
    document = opened(open_jsonl, tmp_path / "a.jsonl", data)
    assert document.counts.units == 5
    left = {"translated": 1, "blank_side": 2, "not_json": 1, "missing_language": 1}
    assert document.counts.left == left


def test_keys_that_do_not_tell_the_source_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"a\.jsonl:2 has 'text'"):
        opened(open_jsonl, tmp_path / "a.jsonl", b'\n{"text": "a"}\n')
    with pytest.raises(DataError, match="two language codes"):
        opened(open_jsonl, tmp_path / "a.jsonl", b'{"en": "a"}\n', to=None)


def test_all_is_translated_on_request(tmp_path):
    assert filled(open_tsv, tmp_path / "a.tsv", b"a\tb\n", overwrite=True) == b"a\tA\n"
    data = b'{"source": "a", "target": "b"}'
    after = b'{"source": "a", "target": "A"}'
    assert filled(open_jsonl, tmp_path / "a.jsonl", data, overwrite=True) == after


def test_only_halves_of_characters_cannot_be_held(tmp_path):
    document = opened(open_tsv, tmp_path / "a.tsv", b"a\t\n")
    assert document.can_hold(Segment(("好 🙂",)))
    assert not document.can_hold(Segment(("\ud800",)))


TEXT = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=20)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(TEXT, TEXT), min_size=1), spaced=st.booleans())
def test_json_reads_back_what_was_filled_in(tmp_path, rows, spaced):
    separators = (" ,  ", " :\t") if spaced else (",", ":")
    objects = [
        {"id": n, "target": target, "source": source} for n, (source, target) in enumerate(rows)
    ]
    lines = [json.dumps(one, ensure_ascii=spaced, separators=separators) for one in objects]
    document = opened(open_jsonl, tmp_path / "a.jsonl", "\n".join(lines).encode())
    result = document.filled([Segment((f"<{gap.source.text}>",)) for gap in document.gaps])
    wanted = {gap.line for gap in document.gaps}
    for n, (old, new) in enumerate(zip(objects, result.decode().split("\n"), strict=True), start=1):
        expected = {**old, "target": f"<{old['source']}>"} if n in wanted else old
        assert json.loads(new) == expected
