from pathlib import Path

import pytest

from headway.core.errors import DataError
from headway.localization.formats.xml_events import MAX_DEPTH, MAX_UNIT_BYTES, XmlUnits

FILE = Path("memory.tmx")


def run(*chunks: bytes, root: str = "a", unit: str = "") -> list[str]:
    """Names of all elements in those that are called `unit`, with it first."""
    units = XmlUnits(FILE, root, (unit,), (unit,))
    return [one.name for found in units.read(chunks) for one in (found, *found.below())]


def test_a_unit_is_a_tree_with_its_texts_and_what_is_around_it() -> None:
    units = XmlUnits(FILE, "a", ("b",), ("t",))
    data = b"<a x='1'>no<b><c>no</c>\n<t>one <i> two </i>three</t></b><b/></a>"
    found = list(units.read([data[:30], data[30:]]))
    assert [one.name for one in found] == ["b", "b"]
    assert [one.name for one in found[0].below()] == ["c", "t", "i"]
    [text] = found[0].inner("t")
    assert (text.text, text.note, text.line) == ("one  two three", "one two three", 2)
    assert text.inherited("x") == "1"
    assert text.inherited("y") is None
    assert data[text.start :].startswith(b"<t>")
    assert data[text.end :].startswith(b"</t>")


def test_a_document_type_is_named_and_never_fetched() -> None:
    assert run(b'<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a><b/></a>', unit="b") == ["b"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'\n<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>', r"nothing is declared in it; .*tmx:2"),
        (b"<!DOCTYPE a [<!ELEMENT a ANY>]><a/>", r"nothing is declared in it; .* Remove"),
        (b'<!DOCTYPE a SYSTEM "a.dtd"><a>\n&nbsp;</a>', r"memory.tmx:2 has &nbsp;\. Write the"),
        (b"<a>\n&nbsp;</a>", r"memory.tmx:2 is not \(undefined entity.*\)\. Mend that place"),
        (b"<a>\n<b></a>", r"well-formed XML; .*:2 is not \(mismatched tag.*Mend that place"),
        (b"<a>\n<b>", r":2 is not \(no element found.*cut off"),
        (b"<a>\n<b", r":2 is not \(unclosed token.*cut off"),
        (b"", r":1 is not \(no element found.*cut off"),
        (b"<a>\n\x08</a>", r":2 is not .*invalid token.*Mend that place"),
        (b"<a>&#8;</a>", r"invalid character number.*Mend that place"),
        (b"<b/>", r"begins with <a>; memory.tmx:1 begins with <b>\. Give"),
    ],
)
def test_what_is_refused_is_refused_with_line_and_remedy(data: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        run(data)


def test_elements_may_lie_so_deep_and_no_deeper() -> None:
    assert len(run(b"<a>" * MAX_DEPTH + b"</a>" * MAX_DEPTH, unit="a")) == MAX_DEPTH - 1
    with pytest.raises(
        DataError, match=rf"at most {MAX_DEPTH} levels deep; .* level {MAX_DEPTH + 1}"
    ):
        run(b"<a>" * 200_000)


@pytest.mark.parametrize(
    ("beginning", "piece"),
    [
        (b"<a b='", b"x"),
        (b"<a ", b"b='' "),
        (b"<a><!--", b"x"),
        (b"<a><?b ", b"x"),
        (b"<a><u>", b"x"),
        (b"<a><u>", b"<b/>"),
    ],
)
def test_what_has_no_end_is_refused_before_it_is_gathered(beginning: bytes, piece: bytes) -> None:
    n_too_many = 2 + MAX_UNIT_BYTES // 100_000
    endless = [piece * (100_000 // len(piece))] * n_too_many
    with pytest.raises(DataError, match=r"a unit, tag or comment has at most 1 MiB; memory.tmx:1"):
        run(beginning, *endless, unit="u")


def test_text_outside_of_units_may_be_of_any_length() -> None:
    long = [b"x" * 100_000] * 30
    assert run(b"<a><u/>", *long, b"</a>", unit="u") == ["u"]
