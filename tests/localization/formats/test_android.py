"""Strings of an Android app: Android's escapes, what is not translated, quantities."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from headway.core.errors import DataError
from headway.localization.formats.android import open_document
from headway.localization.formats.keyed import language_of, texts_of
from headway.localization.placeholders.segments import Segment

FILE = r"""<?xml version="1.0" encoding="utf-8"?>
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
    <!-- Shown in the title bar -->
    <string name="app_name" translatable="false">My App</string>
    <string name="hello">I love cats.</string>
    <!-- not OK -->
    <string name="dont">Don\'t say \"no\".\nShe sings.</string>
    <string name="quoted">"It's   cold today. "</string>
    <string name="ref">@string/hello</string>
    <string name="styled"><b>I</b> love <i>red</i>
        cats &amp; dogs.</string>
    <string name="arg">Hi <xliff:g id="name">%1$s</xliff:g>, %2$d cats\u0021</string>
    <string name="html"><![CDATA[I love <b>cats</b> &amp; dogs.]]></string>
    <string name="empty"/>
    <string-array name="animals">
        <item>I love cats.</item><item>The dog is tired.</item>
    </string-array>
    <plurals name="n">
        <item quantity="one">one cat</item>
        <item quantity="other">%d cats</item>
    </plurals>
    <color name="x">#fff</color>
</resources>
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "values-pt-rBR").mkdir()
    path = tmp_path / "values-pt-rBR" / "strings.xml"
    path.write_text(FILE)
    return path


def shouted(source):
    return Segment(tuple(p.upper() if isinstance(p, str) else p for p in source.parts))


def structure(data):
    """Every element with its attributes and how deep it lies, as lxml sees them."""
    root = etree.fromstring(data)
    return [(len(list(e.iterancestors())), e.tag, dict(e.attrib)) for e in root.iter(etree.Element)]


def open_filled(path, language):
    document = open_document(path, None, language, False)
    return document.filled([shouted(gap.source) for gap in document.gaps]).decode()


def test_texts_are_read_as_android_reads_them(path):
    found = {text.key: text.text for text in texts_of(path)}
    assert found == {
        "hello": "I love cats.", "dont": 'Don\'t say "no".\nShe sings.',
        "quoted": "It's   cold today. ", "styled": "<b>I</b> love <i>red</i> cats & dogs.",
        "arg": "Hi %1$s, %2$d cats!", "html": "I love <b>cats</b> & dogs.",
        "animals.0": "I love cats.", "animals.1": "The dog is tired.", "n.one": "one cat",
        "n.other": "%d cats",
    }  # fmt: skip
    assert language_of(path) == "pt-BR"
    assert [text.remarks for text in texts_of(path) if text.key == "dont"] == [("not OK",)]
    document = open_document(path, None, None, False)
    assert document.counts.left == {"do_not_translate": 2}
    assert document.filled([None] * len(document.gaps)) == FILE.encode()
    assert document.filled([gap.source for gap in document.gaps]) == FILE.encode()


def test_only_texts_change_and_another_reader_sees_the_same_structure(path):
    after = open_filled(path, "de")
    for line in (
        ">My App<", r">DON\'T SAY \"NO\".\nSHE SINGS.<", ">@string/hello<",
        "<b>I</b> LOVE <i>RED</i> CATS &amp; DOGS.<",
        '>HI <xliff:g id="name">%1$s</xliff:g>, %2$D CATS!<',
        "<![CDATA[I LOVE <b>CATS</b> &amp; DOGS.]]>", '<string name="empty"/>', ">#fff<",
    ):  # fmt: skip
        assert line in after, line
    assert structure(open_filled(path, "zh").encode()) == structure(FILE.encode())


def test_quantities_of_the_target_language_are_added_below_the_last(path):
    after = open_filled(path, "pl")
    few, many = (f'        <item quantity="{name}">%D CATS</item>\n' for name in ("few", "many"))
    assert f'        <item quantity="other">%D CATS</item>\n{few}{many}    </plurals>' in after
    assert '<item quantity="one">ONE CAT</item>' in after
    assert '<item quantity="one">%D CATS</item>' in open_filled(path, "ru")  # 21 takes it too


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(text=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1))
def test_what_was_filled_in_is_read_back(tmp_path, text):
    path = tmp_path / "strings.xml"
    path.write_text('<resources><string name="a"> one <b>two</b> three</string></resources>')
    [gap] = open_document(path, None, None, False).gaps
    parts = (text, *gap.source.codes)
    path.write_bytes(open_document(path, None, None, False).filled([Segment(parts)]))
    etree.parse(path)
    assert [one.text.removesuffix("<b></b>") for one in texts_of(path)] in ([text], [])


@pytest.mark.parametrize(
    "data",
    [
        '<!DOCTYPE r [<!ENTITY a "b">]><resources><string name="a">&a;</string></resources>',
        "<resources>" + "<b>" * 200 + "</b>" * 200 + "</resources>",
        "<manifest/>",
        "<resources><string>a</resources>",
        "<resources><string name='a'>&nbsp;</string></resources>",
    ],
)
def test_what_is_no_file_of_strings_is_refused(tmp_path, data):
    path = tmp_path / "strings.xml"
    path.write_text(data)
    with pytest.raises(DataError, match=r"strings\.xml:1"):
        open_document(path, None, None, False)


def test_an_escaped_sign_begins_a_text_and_no_reference(tmp_path):
    path = tmp_path / "strings.xml"
    path.write_text(
        '<resources><string name="a">\\@handle</string><string name="b">@string/a</string>'
        "</resources>"
    )
    document = open_document(path, None, None, False)
    assert [gap.source.text for gap in document.gaps] == ["@handle"]
    assert document.counts.left == {"do_not_translate": 1}


def test_the_end_of_a_cdata_section_in_a_translation_does_not_end_it(tmp_path):
    path = tmp_path / "strings.xml"
    path.write_text('<resources><string name="a"><![CDATA[Hello]]></string></resources>')
    path.write_bytes(open_document(path, None, None, False).filled([Segment(("a ]]> b",))]))
    assert etree.parse(path).findtext("string") == "a ]]> b"
