"""Apple's strings: keys, comments, escapes, UTF-8 and UTF-16."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.localization.formats.key_values import open_strings as open_document
from headway.localization.formats.keyed import texts_of
from headway.localization.placeholders.segments import Segment

FILE = (
    '/* For "all" */\n"a \\"b\\"" = "Say \\"hi\\"\\n";\r\n// not OK\nkey.x=value;\n'
    '"alone";\n"u" /* c */ = \n "\\U00e4 ü %@" ; // end'
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-8-sig"])
def test_texts_are_read_and_filled_and_the_rest_stays(tmp_path, encoding):
    path = tmp_path / "de.lproj" / "a.strings"
    path.parent.mkdir()
    path.write_bytes(FILE.encode(encoding))
    assert list(texts_of(path)) == [
        ('a "b"', 'Say "hi"\n', 2, ('For "all"',)), ("key.x", "value", 4, ("not OK",)),
        ("u", "ä ü %@", 6, ()),
    ]  # fmt: skip
    document = open_document(path, None, "fr", False)
    assert document.source_language == "de"
    assert document.filled([None] * 3) == FILE.encode(encoding)
    after = document.filled([Segment(('"é"\n',)), Segment(("b",)), Segment(("c",))])
    wanted = FILE.replace('"Say \\"hi\\"\\n"', '"\\"é\\"\\n"').replace("value", '"b"')
    assert after == wanted.replace('"\\U00e4 ü %@"', '"c"').encode(encoding)


def test_halves_of_characters_are_joined_and_one_alone_is_no_half(tmp_path):
    path = tmp_path / "a.strings"
    path.write_text('"a" = "\\Ud83d\\Ude00 x"; "b" = "cut \\Ud83d";')
    assert [row[1] for row in texts_of(path)] == ["😀 x", "cut \ufffd"]


@pytest.mark.parametrize("wrong", ['"a" = "b"', '"a" "b";', '"a = "b";', "= x;", "/* x", '"a" = ;'])
def test_what_is_no_file_of_strings_is_refused(tmp_path, wrong):
    path = tmp_path / "a.strings"
    path.write_text('"z" = "y";\n' + wrong)
    with pytest.raises(DataError, match=r"a\.strings:2"):
        list(texts_of(path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_what_was_filled_in_is_read_back(tmp_path, text):
    path = tmp_path / "a.strings"
    path.write_text('"k" = "v";')
    path.write_bytes(open_document(path, None, None, False).filled([Segment((text,))]))
    assert [row[:2] for row in texts_of(path)] == [("k", text)]
