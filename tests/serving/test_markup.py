"""HTML and XML of a request: what is translated in it, and that all else stays, byte for byte."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.placeholders.segments import Segment
from headway.serving.markup import MOST_CODES, MarkupText


def shouted(text: str, kind: str = "html", ignored=(), source="en", target="de") -> str:
    """Every text of a piece in capitals."""
    piece = MarkupText(text, kind, ignored)
    new = [
        Segment(tuple(p.upper() if isinstance(p, str) else p for p in one.parts))
        for one in piece.segments
    ]
    return piece.written(new, source, target)


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        # nested, white space, entities: LibreTranslate #806, #288, #552
        ("<p>a <b>bold <i>and</i></b> x</p>", "<p>A <b>BOLD <i>AND</i></b> X</p>"),
        ("\n <p>\n  one\n </p>\n\n<p>two</p> \n", "\n <p>\n  ONE\n </p>\n\n<p>TWO</p> \n"),
        ("<p>a &amp; b &lt;c&gt;</p>", "<p>A &amp; B &lt;C&gt;</p>"),
        ("<p>a&nbsp;b</p>", "<p>A&nbsp;B</p>"),
        ("plain, no tags", "PLAIN, NO TAGS"),
        ("one<br/>two<br>three", "ONE<br/>TWO<br>THREE"),
        ("<ul><li>a<li>b</ul>", "<ul><li>A<li>B</ul>"),
        # what stays
        ('<p>a <span translate="no">keep</span> b</p>',
         '<p>A <span translate="no">keep</span> B</p>'),
        ("<p>a <span translate=no>keep</span> b</p>", "<p>A <span translate=no>keep</span> B</p>"),
        ('<div class="x notranslate"><p>keep</p></div><p>a</p>',
         '<div class="x notranslate"><p>keep</p></div><p>A</p>'),
        ("<p>run <code>ls -l</code> now</p>", "<p>RUN <code>ls -l</code> NOW</p>"),
        ("<script>var a = '<p>x</p>';</script>y", "<script>var a = '<p>x</p>';</script>Y"),
        ("<style>p > a {}</style>y", "<style>p > a {}</style>Y"),
        ("a<!-- keep <b> -->b", "A<!-- keep <b> -->B"),
        ("<textarea>keep</textarea>", "<textarea>keep</textarea>"),
        # attributes that are seen
        ('<img src="a.png" alt="a dog">', '<img src="a.png" alt="A DOG">'),
        ("<input placeholder='name' value='x'>", "<input placeholder='NAME' value='x'>"),
        ('<a title="t &quot;q&quot;" href="u">w</a>', '<a title="T &quot;Q&quot;" href="u">W</a>'),
        ('<p>see <a title="tip">it</a> now</p>', '<p>SEE <a title="TIP">IT</a> NOW</p>'),
        # languages
        ('<html lang="en-US"><p>a</p></html>', '<html lang="de"><p>A</p></html>'),
        ('<p lang="EN">a <i lang="fr">b</i></p>', '<p lang="de">A <i lang="fr">B</i></p>'),
        ('<p>a <i lang="en" title="t">b</i></p>', '<p>A <i lang="de" title="T">B</i></p>'),
        ('<p class="notranslate" lang="en">a</p>b', '<p class="notranslate" lang="en">a</p>B'),
    ],
)  # fmt: skip
def test_text_is_translated_and_all_else_stays(given_text: str, wanted: str) -> None:
    assert shouted(given_text) == wanted


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        ('a <x id="7"></x> b', 'A <x id="7"></x> B'),  # as Weblate sends placeholders
        ('<x id="0"></x>', '<x id="0"></x>'),
        ("a <x>keep me</x> b", "A <x>keep me</x> B"),
        ('<p>one</p>\n  <p>two <g id="1">x</g></p>', '<p>ONE</p>\n  <p>TWO <g id="1">X</g></p>'),
        ("a &amp; b  &#39;c&#39;", "A &amp; B  'C'"),
        ("a <![CDATA[keep <b>]]> b <?pi x?> c", "A <![CDATA[keep <b>]]> B <?pi x?> C"),
        ("<b>a</i> b", "<b>A</i> B"),  # not well-formed
        ("1 < 2 a", "1 &lt; 2 A"),
    ],
)
def test_in_xml_all_tags_are_kept_and_ignored_elements_whole(given_text, wanted) -> None:
    assert shouted(given_text, "xml", ["X"]) == wanted


def test_xml_with_very_many_tags_is_translated_between_them() -> None:
    text = "".join(f"<p>a{i} b</p>" for i in range(MOST_CODES))
    assert shouted(text, "xml") == text.upper().replace("P>", "p>")
    assert len(MarkupText(text, "xml").segments) == MOST_CODES


def test_html_with_very_many_tags_in_a_sentence_is_translated_between_them() -> None:
    text = "<p>" + "<b>a b</b> c" * 300 + "</p>"
    assert shouted(text) == text.replace("a b", "A B").replace("c", "C")


def test_what_a_reader_sees_tells_the_language() -> None:
    piece = MarkupText("<p>Der <b>Hund</b></p><script>x</script><img alt='Katze'>", "html")
    assert piece.bare.split() == ["Der", "Hund", "Katze"]


_TEXTS = st.text(st.sampled_from("abcäß &;\n\t."), max_size=8)
_NAMES = st.sampled_from(
    "p div b i span a code script ul li br td pre x textarea h1 template".split()
)
_ATTRIBUTES = st.sampled_from(
    ["", ' lang="en"', ' class="notranslate"', ' translate="no"', ' title="a &amp; b"', " alt=x",
     " data-a='<>'", ' lang="fr" title="t"']
)  # fmt: skip
_TAGS = st.one_of(
    st.builds("<{}{}>".format, _NAMES, _ATTRIBUTES),
    st.builds("</{}>".format, _NAMES),
    st.builds("<{}{}/>".format, _NAMES, _ATTRIBUTES),
    st.sampled_from(["<!-- c -->", "<", "&lt;", "&nbsp;", "&eacute;", "<!DOCTYPE html>",
                     "<![CDATA[a]]>", "&#x41;", "{{ name }}", "\r\n", "<a", "-->", "<p <b>"]),
)  # fmt: skip
_HTML = st.lists(st.one_of(_TEXTS, _TAGS), max_size=14).map("".join)
_MARKUP = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)


@given(_HTML, st.sampled_from(["html", "xml"]))
def test_whatever_the_markup_a_piece_that_is_not_translated_is_the_same_bytes(text, kind) -> None:
    piece = MarkupText(text, kind, ["x"])
    assert piece.written(piece.segments, "en", None) == text


@given(_HTML, st.sampled_from(["html", "xml"]))
def test_whatever_the_markup_its_tags_come_out_in_their_order(text, kind) -> None:
    piece = MarkupText(text, kind, ["x"])
    new = [
        Segment(tuple("ö" if isinstance(p, str) and p.strip() else p for p in one.parts))
        for one in piece.segments
    ]
    written = piece.written(new, None, None)
    plain = lambda tag: re.sub(r'(title|alt)=("[^"]*"|x)', "", tag)  # noqa: E731
    assert list(map(plain, _MARKUP.findall(written))) == list(map(plain, _MARKUP.findall(text)))


@given(_HTML)
def test_text_outside_of_what_is_translated_stays_byte_for_byte(text) -> None:
    piece = MarkupText(text, "html")
    written = piece.written([Segment(("\0",)) for _ in piece.segments], None, None)
    left = [re.escape(part) for part in written.split("\0")]
    assert re.fullmatch(".*?".join(left), text, re.DOTALL) or "\0" not in written
