"""HTML: what a reader reads is filled in; tags, scripts and code stay."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import html

from headway.core.errors import DataError
from headway.localization.formats.html_files import open_document
from headway.localization.placeholders.segments import Code, Segment

FILE = """\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>I love cats</title>
<meta name="description" content="About &quot;cats&quot;"><meta name="author" content="me">
<script>var a = "<p>no</p>";</script><style>p > a {}</style></head>
<body class="x">
<!-- comment -->
<h1>Hello <em>big</em> world</h1>
<p>I love <a href="x.html" title="See more" aria-label="more">red
   cats</a> &amp; dogs&nbsp;here. <br> Use <code>x = 1</code> now. <img src=a alt="A 'cat'"></p>
<ul><li>One<li>Two <span class="notranslate">Brand</span> three</ul>
<pre>  keep   me </pre>
<input type="submit" value="Send it"><input placeholder='Your name'><input value="data">
<p translate="no">Keep this</p>
<div>{% block x %}Hello {{ name }}!{% endblock %}</div>
<p>a < b is an open tag that never ends
"""
CHANGED = {
    "I love cats": "I LOVE CATS",
    "About &quot;cats&quot;": "ABOUT &quot;CATS&quot;",
    "Hello <em>big</em> world": "HELLO <em>BIG</em> WORLD",
    'I love <a href="x.html" title="See more" aria-label="more">red\n   cats</a> &amp; dogs': (
        'I LOVE <a href="x.html" title="SEE MORE" aria-label="MORE">RED CATS</a> &amp; DOGS'
    ),
    "&nbsp;here. <br> Use <code>x = 1</code> now.": "&nbsp;HERE. <br> USE <code>x = 1</code> NOW.",
    "A 'cat'": "A 'CAT'",
    "<li>One<li>Two": "<li>ONE<li>TWO",
    "</span> three": "</span> THREE",
    "Send it": "SEND IT",
    "Your name": "YOUR NAME",
    "Hello {{ name }}": "HELLO {{ name }}",
    "a < b is an open tag that never ends": "A &lt; B IS AN OPEN TAG THAT NEVER ENDS",
}


def shouted(source):
    return Segment(tuple(p.upper() if isinstance(p, str) else p for p in source.parts))


def filled(path, language=None):
    document = open_document(path, None, language, False)
    assert document.filled([gap.source for gap in open_document(path, None, None, False).gaps])
    return document.filled([shouted(gap.source) for gap in document.gaps])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_only_what_readers_read_changes(tmp_path, encoding):
    path = tmp_path / "a.html"
    path.write_bytes(FILE.encode(encoding))
    document = open_document(path, None, None, False)
    assert document.source_language == "en"
    assert document.filled([None] * len(document.gaps)) == path.read_bytes()
    assert document.filled([gap.source for gap in document.gaps]) == path.read_bytes()
    wanted = FILE
    for before, after in CHANGED.items():
        assert wanted.count(before) == 1
        wanted = wanted.replace(before, after)
    assert filled(path).decode(encoding) == wanted
    assert filled(path, "de").decode(encoding) == wanted.replace('lang="en"', 'lang="de"')


def test_values_need_no_quotes_and_have_some_behind_a_translation(tmp_path):
    path = tmp_path / "a.html"
    path.write_text(
        "<html lang=en><img alt=Save><input type=submit value=Save/><img alt=a/b />"
        '<meta name=description content="Hello"><p translate=no>New</p><p class=notranslate>New</p>'
    )
    assert filled(path, "de").decode() == (
        '<html lang=de><img alt="SAVE"><input type=submit value="SAVE"/><img alt="A/B" />'
        '<meta name=description content="HELLO"><p translate=no>New</p><p class=notranslate>New</p>'
    )


@pytest.mark.parametrize("source", ["en", "en-US", None])
def test_what_says_that_it_is_in_another_language_stays(tmp_path, source):
    """Where the language that is translated is known."""
    path = tmp_path / "a.html"
    text = '<html lang="en"><p lang="ar">مرحبا <b>one</b></p><p lang=en>two <i lang=fr>trois</i>'
    path.write_text(text, encoding="utf-8")
    gaps = open_document(path, source, "de", False).gaps
    written = open_document(path, source, "de", False).filled([shouted(one.source) for one in gaps])
    expected = text.replace('lang="en"', 'lang="de"').replace("two", "TWO")
    if source is None:
        expected = expected.replace("one", "ONE").replace("trois", "TROIS")
    assert written.decode() == expected


def test_what_an_old_encoding_lacks_is_written_by_number(tmp_path):
    path = tmp_path / "a.html"
    path.write_bytes('<meta charset="windows-1251"><p>Привет'.encode("cp1251"))
    document = open_document(path, None, None, False)
    assert [gap.source.text for gap in document.gaps] == ["Привет"]
    assert document.filled([Segment(("Здравствуй 猫",))]).decode("cp1251").endswith("й &#29483;")


QUOTED = "<p>It\u2019s \u201clate\u201d \u2013 says Ren\u00e9\u2026"


@pytest.mark.parametrize("declared", ["", "<meta charset=iso-8859-1>", "<meta charset=x-unknown>"])
def test_old_western_pages_are_read_as_browsers_read_them(tmp_path, declared):
    path = tmp_path / "a.html"
    path.write_bytes((declared + QUOTED).encode("cp1252"))
    [gap] = open_document(path, None, None, False).gaps
    assert gap.source.text == QUOTED[3:]
    assert filled(path).decode("cp1252").endswith(QUOTED[3:].upper())


@pytest.mark.parametrize(
    ("page", "line"),
    [
        (b"<meta charset=utf-8>\n<p>Caf\xe9", 2),
        ("<p>Z\u00fcrich\n\n<p>".encode() + b"Caf\xe9", 3),
        (b"<p>Caf\xe9\n" + "<p>Z\u00fcrich, G\u00f6teborg".encode(), 1),
        (b"<meta charset=euc-kr>\n<p>Caf\xe9", 2),
    ],
)
def test_a_page_with_a_damaged_character_is_refused_with_its_line(tmp_path, page, line):
    """All other characters would be wrong in an encoding that has this one."""
    path = tmp_path / "a.html"
    path.write_bytes(page)
    with pytest.raises(DataError, match=rf"a\.html:{line} is not"):
        open_document(path, None, None, False)


def structure(data):
    root = html.document_fromstring(data, parser=html.HTMLParser(encoding="utf-8"))
    kept = ("href", "src", "class")
    return [(e.tag, [e.get(name) for name in kept]) for e in root.iter() if isinstance(e.tag, str)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])), max_size=9))
def test_whatever_is_filled_in_the_structure_is_the_same(tmp_path, texts):
    path = tmp_path / "a.html"
    path.write_text(FILE.replace("<p>a < b is an open tag that never ends\n", ""))
    document = open_document(path, None, None, False)
    new = [
        Segment((text, *gap.source.codes)) for text, gap in zip(texts, document.gaps, strict=False)
    ]
    after = document.filled(new + [None] * (len(document.gaps) - len(new)))
    assert structure(after) == structure(path.read_bytes())


def test_codes_that_would_cross_are_put_behind_the_text(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("<p>one <b>two <i>three</i></b> four")
    [gap] = open_document(path, None, None, False).gaps
    b, i, i_end, b_end = gap.source.codes
    assert [code.text for code in gap.source.codes] == ["<b>", "<i>", "</i>", "</b>"]
    crossed = Segment((b, "two ", i, b_end, "three", i_end))
    after = open_document(path, None, None, False).filled([crossed])
    assert after == b"<p>two three<b><i></i></b>"
    assert Code("<b>", "<b>") == b


def test_a_template_between_three_braces_is_one_code(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("<p>See {{{html}}} and {{name}} here")
    [gap] = open_document(path, None, None, False).gaps
    assert [code.text for code in gap.source.codes] == ["{{{html}}}", "{{name}}"]
