from pathlib import Path

import pytest

from headway.core.errors import DataError
from headway.localization.formats.xml_events import MAX_DEPTH, MAX_UNIT_BYTES, XmlEvents

FILE = Path("memory.tmx")


def run(*chunks: bytes, root: str = "a", unit: str = "") -> list[str]:
    """Names of what began and ended; elements called `unit` are units."""
    told: list[str] = []
    events = XmlEvents(FILE, root)

    def start(name: str, _attributes: dict[str, str]) -> None:
        told.append(name)
        if name == unit:
            events.unit_begins()

    def end(name: str) -> None:
        told.append("/" + name)
        if name == unit:
            events.unit_ends()

    events.tell(start, end)
    for _ in events.run(chunks):
        pass
    return told


def test_what_begins_and_ends_is_told_in_order() -> None:
    assert run(b"<a><b", b"><c/></", b"b></a>") == ["a", "b", "c", "/c", "/b", "/a"]


def test_a_document_type_is_named_and_never_fetched() -> None:
    assert run(b'<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a/>') == ["a", "/a"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'\n<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>', r"nothing is declared in it; .*tmx:2"),
        (b"<!DOCTYPE a [<!ELEMENT a ANY>]><a/>", r"nothing is declared in it; .* Remove"),
        (b'<!DOCTYPE a SYSTEM "a.dtd"><a>\n&nbsp;</a>', r"memory.tmx:2 has &nbsp;\. Write the"),
        (b"<a>\n&nbsp;</a>", r"memory.tmx:2 is not \(undefined entity.*\)\. Write the"),
        (b"<a>\n<b></a>", r"well-formed XML; .*:2 is not \(mismatched tag.*Close each"),
        (b"<a>\n<b>", r":2 is not \(no element found.*cut off"),
        (b"<a>\n<b", r":2 is not \(unclosed token.*cut off"),
        (b"", r":1 is not \(no element found.*cut off"),
        (b"<a>\n\x08</a>", r":2 is not .*invalid token.*Remove the character"),
        (b"<a>&#8;</a>", r"invalid character number.*Mend that place"),
        (b"<b/>", r"begins with <a>; memory.tmx:1 begins with <b>\. Give"),
    ],
)
def test_what_is_refused_is_refused_with_line_and_remedy(data: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        run(data)


def test_elements_may_lie_so_deep_and_no_deeper() -> None:
    assert len(run(b"<a>" * MAX_DEPTH + b"</a>" * MAX_DEPTH)) == 2 * MAX_DEPTH
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
    assert run(b"<a><u/>", *long, b"</a>", unit="u") == ["a", "u", "/u", "/a"]
