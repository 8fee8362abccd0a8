"""Java properties: escapes, lines that go on, and both of their encodings."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.localization.formats.key_values import open_properties as open_document
from headway.localization.formats.keyed import texts_of
from headway.localization.placeholders.segments import Segment


def filled(path: Path, data: bytes, new: str) -> bytes:
    path.write_bytes(data)
    document = open_document(path, "en", "de", False)
    assert document.filled([None] * len(document.gaps)) == data
    return document.filled([Segment((new,)) for _ in document.gaps])


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("a=b", "a", "b"),
        ("  a : b c ", "a", "b c "),
        ("a b=c", "a", "b=c"),
        ("a\\ b\\=c=d", "a b=c", "d"),
        ("a = \\  b", "a", "  b"),
        ("a=one \\\n   two\\\r\n\tthree", "a", "one twothree"),
        ("a=\\u00e4\\t\\n\\q\\\\", "a", "ä\t\nq\\"),
        ("a=\\ud83d\\ude00", "a", "😀"),
        ("a=\\ud83d!", "a", "\ufffd!"),
        ("a=b\\\\", "a", "b\\"),
        ("a\\\n  =b", "a", "b"),
        ("a==b", "a", "=b"),
    ],
)
def test_keys_and_values_are_read_as_java_reads_them(tmp_path, line, key, value):
    path = tmp_path / "a.properties"
    path.write_text(f"# one\n! two\n{line}\n\nz=y", newline="")
    found = list(texts_of(path))
    assert found[0] == (key, value, 3, ("one two",))
    assert found[1][:2] == ("z", "y")
    assert found[1][3] == ()


def test_a_value_takes_the_place_of_all_lines_of_the_old_one(tmp_path):
    before = b"#c\r\na = one \\\r\n  two\r\nb=\r\nc\r\n d:e"
    after = b"#c\r\na = x\r\nb=\r\nc\r\n d:x"
    assert filled(tmp_path / "a.properties", before, "x") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a=b", b"a=\\ \\u00e4\\n\\\\ \\ud83d\\ude00"),
        ("a=\\u00fc", b"a=\\ \\u00e4\\n\\\\ \\ud83d\\ude00"),
        ("a=ü", "a=\\ ä\\n\\\\ 😀".encode()),
        ("a=ü".encode("latin-1"), b"a=\\ \\u00e4\\n\\\\ \\ud83d\\ude00"),
    ],
)
def test_characters_are_written_as_the_file_writes_them(tmp_path, before, after):
    data = before if isinstance(before, bytes) else before.encode()
    assert filled(tmp_path / "a.properties", data, " ä\n\\ 😀") == after


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_what_was_filled_in_is_read_back(tmp_path, text):
    for before in (b"k=one\n", "k=ü\n".encode()):
        path = tmp_path / "a.properties"
        path.write_bytes(filled(path, before, text))
        assert [row[:2] for row in texts_of(path)] == [("k", text)]


@pytest.mark.parametrize(
    ("source", "new", "written"),
    [
        ("The friend {0}", "C'est l'ami {0} d'{1}", "C''est l''ami {0} d''{1}"),
        ("It''s {0,date,long}", "C''est l'ami {0,date,long}", "C''est l''ami {0,date,long}"),
        ("A '{'quoted'}' {0}", "L'un '{'cité'}' {0}", "L''un '{'cit\\u00e9'}' {0}"),
        ("The friend", "C'est l'ami", "C'est l'ami"),
        ("Don't {0}", "L'ami {0}", "L'ami {0}"),
    ],
)
def test_apostrophes_are_doubled_in_messages_alone(tmp_path, source, new, written):
    file = tmp_path / "app_en.properties"
    file.write_text(f"key = {source}\n", encoding="utf-8")
    document = open_document(file, "en", "fr", False)
    assert document.filled([Segment((new,))]).decode() == f"key = {written}\n"


@pytest.mark.parametrize("text", ["= x", ": x", "=", " = x"])
@pytest.mark.parametrize("between", [" ", "=", " : "])
def test_a_sign_between_key_and_value_that_a_translation_begins_with_is_kept(
    tmp_path, text, between
):
    path = tmp_path / "a.properties"
    path.write_text(f"k1{between}Hello")
    path.write_bytes(open_document(path, None, None, False).filled([Segment((text,))]))
    assert [(one.key, one.text) for one in texts_of(path)] == [("k1", text)]
