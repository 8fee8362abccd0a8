"""Documents of Word: runs become texts with codes, and all else in the archive stays."""

import io
import zipfile
from contextlib import suppress

import docx
import pytest
from docx.oxml.ns import qn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.localization.formats.docx_files import open_document
from headway.localization.formats.splitting import sentences_of
from headway.localization.placeholders.segments import Segment


@pytest.fixture
def path(tmp_path):
    document = docx.Document()
    document.add_heading("A title")
    paragraph = document.add_paragraph("I love ")
    paragraph.add_run("big").bold = True
    paragraph.add_run(" cats")
    paragraph.add_run(" & dogs.")
    tabbed = document.add_paragraph("\tOne\ttwo ")
    tabbed.add_run("three").italic = True
    document.add_table(1, 2).rows[0].cells[1].text = "In a cell"
    section = document.sections[0]
    section.header.paragraphs[0].text = "A header"
    section.footer.paragraphs[0].text = "--"
    path = tmp_path / "a.docx"
    document.save(str(path))
    return path


def shouted(source):
    return Segment(tuple(p.upper() if isinstance(p, str) else p for p in source.parts))


def seen(data):
    """Paragraphs with their styles and their runs that look different, as python-docx has them."""
    document = docx.Document(io.BytesIO(data))
    return [
        (one.style.name, one.text, [run.text for run in one.runs if run.bold or run.italic])
        for one in document.paragraphs
    ] + [cell.text for table in document.tables for row in table.rows for cell in row.cells]


def test_only_texts_change_and_another_reader_sees_the_same_structure(path):
    document = open_document(path, None, None, False)
    assert [gap.source.text for gap in document.gaps] == [
        "A title", "I love <b>big</b> cats & dogs.", "<x/>One<x/>two <i>three</i>", "In a cell",
        "A header",
    ]  # fmt: skip
    raw = path.read_bytes()
    assert document.filled([None] * 5) == raw
    assert document.filled([gap.source for gap in document.gaps]) == raw
    after = document.filled([shouted(gap.source) for gap in document.gaps])
    wanted = [
        one.upper()
        if isinstance(one, str)
        else (one[0], one[1].upper(), list(map(str.upper, one[2])))
        for one in seen(raw)
    ]
    assert seen(after) == wanted
    header = docx.Document(io.BytesIO(after)).sections[0].header
    assert header.paragraphs[0].text == "A HEADER"
    before, behind = (zipfile.ZipFile(io.BytesIO(data)) for data in (raw, after))
    assert before.namelist() == behind.namelist()
    changed = [n for n in before.namelist() if before.read(n) != behind.read(n)]
    assert changed == ["word/document.xml", "word/header1.xml"]


def test_a_line_break_stands_between_sentences(tmp_path):
    source, path = docx.Document(), tmp_path / "b.docx"
    run = source.add_paragraph("One is.").runs[0]
    run.add_break()
    run.add_text("Two is.")
    source.save(str(path))
    document = open_document(path, None, None, False)
    [gap] = document.gaps
    assert [piece.text for piece in sentences_of(gap.source)] == ["One is.", "<br/>", "Two is."]
    [paragraph] = docx.Document(io.BytesIO(document.filled([shouted(gap.source)]))).paragraphs
    assert paragraph.text == "ONE IS.\nTWO IS."


def test_fields_links_and_bookmarks_are_codes(path, tmp_path):
    document = docx.Document()
    body = document.add_paragraph("See page ")._p
    for raw in (
        '<w:r {0}><w:fldChar w:fldCharType="begin"/></w:r>',
        "<w:r {0}><w:instrText>PAGE</w:instrText></w:r>",
        '<w:r {0}><w:fldChar w:fldCharType="end"/></w:r>',
        '<w:bookmarkStart {0} w:id="1" w:name="x"/>',
        '<w:hyperlink {0} w:anchor="x"><w:r><w:rPr><w:u w:val="single"/></w:rPr><w:t>this</w:t>'
        "</w:r></w:hyperlink>",
        '<w:bookmarkEnd {0} w:id="1"/>',
        "<w:r {0}><w:t>, now.</w:t></w:r>",
    ):
        space = f'xmlns:w="{docx.oxml.ns.nsmap["w"]}"'
        body.append(docx.oxml.parse_xml(raw.format(space)))
    file = tmp_path / "b.docx"
    document.save(str(file))
    [gap] = (opened := open_document(file, None, None, False)).gaps
    assert gap.source.text == "See page <x/><x/><a>this</a><x/>, now."
    [after] = docx.Document(io.BytesIO(opened.filled([shouted(gap.source)]))).paragraphs
    assert after.text == "SEE PAGE THIS, NOW."
    [link] = after.hyperlinks
    assert [run.underline for run in link.runs] == [True]
    assert len(after._p.findall(f".//{qn('w:fldChar')}")) == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(text=st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1))
def test_what_was_filled_in_is_read_back(path, text):
    document = open_document(path, None, None, False)
    if not document.can_hold(Segment((text,))):
        return
    codes = document.gaps[1].source.codes
    new = [Segment((text,)), Segment((text, codes[0], text, codes[1])), None, None, None]
    found = seen(document.filled(new))
    assert [row[1] for row in found[:2]] == [text, text * 2]
    assert found[1][2] == [text]


def rewritten(path, name, data):
    packed = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            if info.filename != name:
                new.writestr(info, old.read(info))
        if data:
            new.writestr(name, data)
    path.write_bytes(packed.getvalue())


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "holds word/document.xml"),
        (b"<w:document>" + b" " * (33 << 20) + b"</w:document>", "at most 32 MiB"),
        (b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><w:document>&b;</w:document>',
         "nothing is declared"),
        (b"<w:document>" + b"<w:p>" * 200, "100 levels"),
        (b"<w:document>", "well-formed"),
        (b"<html/>", "begins with <w:document>"),
    ],
)  # fmt: skip
def test_what_is_no_document_or_could_harm_is_refused(path, data, said):
    rewritten(path, "word/document.xml", data)
    with pytest.raises(DataError, match=said):
        open_document(path, None, None, False)


def test_what_is_no_archive_is_refused(tmp_path):
    path = tmp_path / "a.docx"
    path.write_bytes(b"\xd0\xcf\x11\xe0 an older format")
    with pytest.raises(DataError, match="whole zip archive"):
        open_document(path, None, None, False)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_damaged_one_is_refused_before_anything_is_translated_or_can_be_filled(path, place, byte):
    whole = path.read_bytes()
    data = bytearray(whole)
    data[int(place * len(data))] = byte
    path.write_bytes(data)
    with suppress(DataError):
        document = open_document(path, None, None, False)
        document.filled([Segment(("x",)), *[None] * (len(document.gaps) - 1)])
    path.write_bytes(whole)
