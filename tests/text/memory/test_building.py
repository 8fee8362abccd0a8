"""What goes into a memory from files: earlier texts, pairs of files."""

from pathlib import Path

import pytest

from headway.errors import DataError
from headway.text.formats import po
from headway.text.formats.segments import Segment
from headway.text.memory.building import grouped, memory_of, own_memory
from headway.text.memory.units import Given
from headway.text.units import Unit

HEADER = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nLanguage: pl\\n"

"""
EN_PL = Given("en", "pl")


def exact(memory, text: str) -> str | None:
    found = memory.exact(Unit(Segment((text,))))
    return found and found.target


def test_a_fuzzy_translation_belongs_to_the_earlier_text(tmp_path: Path) -> None:
    old = tmp_path / "old.po"
    old.write_text(
        HEADER + '#, fuzzy\n#| msgid "Open the "\n#| "door"\nmsgid "Open the window"\n'
        'msgstr "Otwórz drzwi"\n\n#, fuzzy\nmsgid "Close"\nmsgstr "Zamknij"\n',
        encoding="utf-8",
    )
    memory = memory_of([old], EN_PL)
    assert exact(memory, "Open the door") == "Otwórz drzwi"
    assert exact(memory, "Open the window") is None
    assert exact(memory, "Close") is None
    assert len(memory_of([old], Given("en", "pl"))) == 1
    document = po.open_document(old, "en", "pl", True)
    old.write_bytes(document.filled([Segment((gap.source.text,)) for gap in document.gaps]))
    assert exact(memory_of([old], EN_PL), "Open the door") is None  # it is another's by now


def test_files_of_one_language_come_in_twos(tmp_path: Path) -> None:
    source, target = tmp_path / "en.json", tmp_path / "pl.json"
    source.write_text('{"a": "Open", "b": "Close", "c": "Save"}', encoding="utf-8")
    target.write_text('{"a": "Otwórz", "b": "Close"}', encoding="utf-8")
    memory = memory_of([source, target], EN_PL)
    assert exact(memory, "Open") == "Otwórz"
    assert exact(memory, "Close") is None  # a copy of the source is no translation
    assert exact(own_memory([], EN_PL, [(source, target)]), "Open") == "Otwórz"
    catalogue = tmp_path / "x.po"
    assert grouped([catalogue, source, target, catalogue]) == [
        (catalogue,), (source, target), (catalogue,),
    ]  # fmt: skip
    for alone in ([source], [source, catalogue], [source, target, source]):
        with pytest.raises(DataError, match=r"en\.json stands alone"):
            grouped(alone)
