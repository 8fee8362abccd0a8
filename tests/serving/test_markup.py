"""HTML and XML of a request: what is translated in it, and that all else stays, byte for byte."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.placeholders.segments import Segment
from headway.serving.markup import MOST_CODES, MarkupText
from headway.serving.xml_outline import NO_TAGS, XmlTags


def shouted(text: str, kind: str = "html", tags=NO_TAGS, source="en", target="de") -> str:
    """Every text of a piece in capitals."""
    piece = MarkupText(text, kind, tags)
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
    assert shouted(given_text, "xml", XmlTags(["X"])) == wanted


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        # elements that stand beside each other, with whatever is between them
        ("<d><p>A man sits.</p><p>A dog runs.</p></d>", ["A man sits.", "A dog runs."]),
        ("<d><p>A man</p><p>A dog</p></d>", ["A man", "A dog"]),
        ("<d>\n <p>A man</p>\n <p>A dog</p>\n</d>", ["A man", "A dog"]),
        ('<string name="a">A man</string><string name="b">A dog</string>', ["A man", "A dog"]),
        ("<d><seg>A <b>man</b></seg><!-- c --><seg/><seg>A dog</seg></d>",
         ["A <b>man</b>", "A dog"]),
        ("<data name='a'><value>A man</value></data><data name='b'><value>A dog</value></data>",
         ["A man", "A dog"]),
        ("<list>To do<item><t>A man</t><t>A dog</t></item></list>", ["To do", "A man", "A dog"]),
        # one text: what stands inside of sentences
        ("<g id='1'>A man</g> <g id='2'>sits.</g>", ["<g>A man</g> <g>sits.</g>"]),
        ("<p>A <em>man</em> sits<fn>here</fn>.</p>", ["A <em>man</em> sits<fn>here</fn>."]),
        ("<p>A <name><first>man</first></name> sits.</p>",
         ["A <name><first>man</first></name> sits."]),
        # a sentence that ends at a tag
        ("<b>A man sits.</b><i>A dog runs.</i>", ["A man sits.", "A dog runs."]),
        ("<p>A man sits.<br/>A dog <b>runs</b>.</p>", ["A man sits.", "A dog <b>runs</b>."]),
        ("<p>他走了。<n/>她来了。</p>", ["他走了。", "她来了。"]),
        ("<p>&quot;A man.&quot;<n/>&quot;A dog.&quot;</p>", ['"A man."', '"A dog."']),
        ("<p>See 2.<b>5</b> and e.g.<b>this</b>.</p>", ["See 2.<b>5</b> and e.g.<b>this</b>."]),
    ],
)  # fmt: skip
def test_elements_of_xml_beside_each_other_are_texts_of_their_own(text, texts) -> None:
    piece = MarkupText(text, "xml")
    assert [one.text for one in piece.segments] == texts
    assert piece.written(piece.segments, "en", None) == text


def test_what_is_asked_of_tags_goes_before_what_they_look_like() -> None:
    def texts(text: str, **asked) -> list[str]:
        return [one.text for one in MarkupText(text, "xml", XmlTags(**asked)).segments]

    rows = "<d><p>a man</p><p>a dog</p></d>"
    assert texts(rows) == ["a man", "a dog"]
    assert texts(rows, non_splitting=["P"]) == ["<p>a man</p><p>a dog</p>"]
    assert texts(rows, outline=False) == ["<p>a man</p><p>a dog</p>"]
    assert texts(rows, outline=False, splitting=["P"]) == ["a man", "a dog"]
    assert texts("<d>a man<b>a dog</b><k/>a cat</d>", splitting=["b", "k"]) == [
        "a man", "a dog", "a cat",
    ]  # fmt: skip
    assert texts("<d><x><p>keep</p></x><p>a dog</p></d>", ignored=["x"]) == ["a dog"]
    assert texts("<p>A man.<n/>A dog.</p>", non_splitting=["n"]) == ["A man.<n/>A dog."]


def test_xml_that_is_nested_deeply_is_read() -> None:
    n = 20_000
    text = "<a>x" * n + "<p>one</p><p>two</p>" + "</a>" * n
    assert [one.text for one in MarkupText(text, "xml").segments][-2:] == ["one", "two"]


def test_xml_with_very_many_tags_is_translated_between_them() -> None:
    text = "".join(f"<b>a{i} c</b>" for i in range(MOST_CODES))
    assert shouted(text, "xml") == text.upper().replace("B>", "b>")
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
    piece = MarkupText(text, kind, XmlTags(["x"]))
    assert piece.written(piece.segments, "en", None) == text


@given(_HTML, st.sampled_from(["html", "xml"]))
def test_whatever_the_markup_its_tags_come_out_in_their_order(text, kind) -> None:
    piece = MarkupText(text, kind, XmlTags(["x"]))
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
