"""What goes into a memory from files: every plural form, earlier texts, pairs of files."""

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
"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2);\\n"

"""
FILES = 'msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] {}\nmsgstr[1] {}\nmsgstr[2] {}\n'
EN_PL = Given("en", "pl")


def exact(memory, text: str, key: str = "") -> str | None:
    found = memory.exact(Unit(Segment((text,)), key=key))
    return found and found.target


def test_each_plural_form_is_filled_with_its_own(tmp_path: Path) -> None:
    old, new = tmp_path / "old.po", tmp_path / "new.po"
    old.write_text(HEADER + FILES.format('"%d plik"', '"%d pliki"', '"%d plików"'), "utf-8")
    new.write_text(HEADER + FILES.format('""', '""', '""'), "utf-8")
    memory = memory_of([old], EN_PL)
    gaps = po.open_document(new, "en", "pl", False).gaps
    found = [exact(memory, gap.source.text, gap.key) for gap in gaps]
    assert found == ["%d plik", "%d pliki", "%d plików"]


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
