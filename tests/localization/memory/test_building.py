"""What goes into a memory from files: pairs of files, and what is left out."""

from pathlib import Path

import pytest

from headway.core.cleaning import Report
from headway.core.errors import DataError
from headway.languages.codes import LanguagePair
from headway.localization.formats.file_kinds import opener_of
from headway.localization.formats.units import Unit
from headway.localization.memory.building import grouped, memory_of, own_memory
from headway.localization.placeholders.segments import Segment

HEADER = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nLanguage: pl\\n"

"""
EN_PL = LanguagePair("en", "pl")


def exact(memory, text: str) -> str | None:
    found = memory.exact(Unit(Segment((text,))))
    return found and found.target


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


EN = {
    "menu.open": "Open", "state.open": "Open", "close": "Close", "wait": "...", "hours": "Open",
    "save": "Save", "quit": "Quit",
}  # fmt: skip
DE = {
    "save": "Sichern", "hours": "Offen von", "wait": "...", "close": "Zu", "state.open": "Offen",
    "menu.open": "Öffnen",
}  # fmt: skip
LAYOUTS = {
    ".json": ("{", '"{}": "{}"', ",", "}"),
    ".arb": ("{", '"{}": "{}"', ",", "}"),
    ".properties": ("", "{}={}", "\n", "\n"),
    ".strings": ("", '"{}" = "{}";', "\n", "\n"),
    ".resx": ("<root>", '<data name="{}"><value>{}</value></data>', "\n", "</root>"),
}


def keyed(path: Path, texts: dict[str, str]) -> Path:
    before, entry, between, after = LAYOUTS[path.suffix]
    entries = (entry.format(key, text) for key, text in texts.items())
    path.write_text(before + between.join(entries) + after, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", LAYOUTS)
def test_texts_of_one_language_are_known_by_their_keys_and_by_their_neighbours(
    tmp_path: Path, kind: str
) -> None:
    source, target = keyed(tmp_path / f"en{kind}", EN), keyed(tmp_path / f"de{kind}", DE)
    memory = memory_of([source, target], LanguagePair("en", "de"), report := Report())
    assert (report.read, report.kept, report.dropped) == (7, 5, {"missing_language": 1})
    renamed = keyed(tmp_path / f"new{kind}", {f"v2.{key}": text for key, text in EN.items()})
    expected = [DE.get(key) for key, text in EN.items() if text != "..."]
    for path in (source, renamed):
        found = [
            memory.exact(Unit(gap.source, "", gap.line, gap.key, gap.before, gap.after))
            for gap in opener_of(path)(path, "en", "de", True).gaps
        ]
        assert [one and one.target for one in found] == expected
        assert all(one is None or one.in_context for one in found)
    assert exact(memory, "Open") == "Offen von"  # the last one, where nothing is known
