"""Resources of .NET: texts are filled; numbers, pictures and comments stay."""

from xml.etree import ElementTree

from headway.localization.formats.keyed import texts_of
from headway.localization.formats.resx import open_document
from headway.localization.placeholders.segments import Segment

FILE = """<?xml version="1.0" encoding="utf-8"?>
<root>
  <!-- <data name="no"><value>no</value></data> -->
  <xsd:schema id="root" xmlns:xsd="http://www.w3.org/2001/XMLSchema"><xsd:element name="data"/>
  </xsd:schema>
  <resheader name="resmimetype"><value>text/microsoft-resx</value></resheader>
  <data name="Hi" xml:space="preserve">
    <value>Hi &amp; {0}
ho</value>
    <comment>not OK</comment>
  </data>
  <data name="N" type="System.Int32"><value>1</value></data>
  <data name="P" mimetype="application/x-microsoft.net.object.binary"><value>AA</value></data>
  <data name=">>b.Name"><value>b</value></data>
  <data name="E"><value/></data>
  <data name="$this.Text"><value>Window</value></data>
</root>
"""


def test_texts_are_filled_and_all_else_stays(tmp_path):
    path = tmp_path / "Resources.en-GB.resx"
    path.write_bytes(FILE.replace("\n", "\r\n").encode())
    assert list(texts_of(path)) == [
        ("Hi", "Hi & {0}\nho", 7, ("not OK",)), ("E", "", 15, ()), ("$this.Text", "Window", 16, ()),
    ]  # fmt: skip
    document = open_document(path, None, "de", False)
    assert document.source_language == "en-GB"
    assert document.counts.left == {"blank_side": 1}
    after = document.filled([Segment(("<Hallo>\n& {0}",)), Segment(("Fenster",))])
    wanted = FILE.replace("Hi &amp; {0}\nho", "&lt;Hallo&gt;\n&amp; {0}").replace(
        "Window", "Fenster"
    )
    assert after == wanted.replace("\n", "\r\n").encode()
    values = [value.text for value in ElementTree.fromstring(after).iter("value")]
    assert "<Hallo>\n& {0}" in values
    assert document.filled([None, None]) == path.read_bytes()
