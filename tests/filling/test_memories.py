"""What is translated already is found before the model is asked."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polib
import pytest
from everyday_run import command
from hypothesis import given
from hypothesis import strategies as st

import headway
from headway.core.cleaning import Pair
from headway.core.config import format_toml
from headway.core.disk import checksum
from headway.core.errors import DataError
from headway.core.run_folder import RunFolder
from headway.demo import generate
from headway.filling import memories
from headway.filling.filling import unit_of
from headway.filling.flow import Flow, Steps
from headway.filling.memories import memories_for, training_memories
from headway.filling.report import row_of
from headway.languages.codes import LanguagePair
from headway.localization.formats.file_kinds import opener_of
from headway.localization.formats.units import FUZZY, MEMORY, MODEL, Outcome, Unit
from headway.localization.memory.building import memory_of_pairs
from headway.localization.memory.memory import Memories
from headway.localization.placeholders.segments import Segment
from headway.translation.coded import SegmentTranslation

PO = """msgid ""
msgstr "Language: de\\n"

msgid "Open"
msgstr "Öffnen"

msgid "Close"
msgstr ""
"""


def silent(*_told: Any) -> None:
    """Show nothing."""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that was trained on one pair, as far as a memory asks for it."""
    (tmp_path / "train.en").write_text("Step 2 is done\n", encoding="utf-8")
    (tmp_path / "train.de").write_text("Schritt 2 ist fertig\n", encoding="utf-8")
    files = {
        side: [str(tmp_path / f"train.{code}")]
        for side, code in (("source", "en"), ("target", "de"))
    }
    settings = {"data": {**files, "source_language": "en", "target_language": "de"}, "model": {}}
    folder = RunFolder(tmp_path)
    known = (Path(file) for some in files.values() for file in some)
    folder.write_data({"sha256": {str(file): checksum(file) for file in known}})
    folder.config.write_text(format_toml(settings), encoding="utf-8")
    return tmp_path


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    path = tmp_path / "app.de.po"
    path.write_text(PO, encoding="utf-8")
    return path


def outcomes(
    run: Path, files: Sequence[Path], named: Sequence[Path], fuzzy_from: int | None, *texts: str
) -> dict[str, tuple[str, str]]:
    asked = []

    def translate(segments: Sequence[Segment]) -> list[SegmentTranslation]:
        asked.extend(one.text for one in segments)
        return [SegmentTranslation(Segment(("modelled",)), True, 0) for _ in segments]

    known = memories_for(run, files, named, LanguagePair("en", "de"), fuzzy_from, silent, silent)
    flow = Flow(translate, Steps(known, fuzzy_from))
    units = [Unit(Segment((text,))) for text in texts]
    for _ in flow.run(units):
        pass
    found = [flow.outcome(unit) for unit in units]
    assert asked == [one.unit.source.text for one in found if one.origin == MODEL]
    return {one.unit.source.text: (one.origin, one.segment.text) for one in found if one.segment}


def test_a_file_finds_its_own_translations_those_named_and_those_of_training(
    run: Path, catalogue: Path, tmp_path: Path
) -> None:
    named = tmp_path / "m.tsv"
    named.write_text("Open\tAuf\nSave\tSpeichern\n", encoding="utf-8")
    texts = "Open", "Save", "Step 2 is done", "Step 3 is done", "Unheard"
    assert outcomes(run, [catalogue], [named], 85, *texts) == {
        "Open": (MEMORY, "Öffnen"),  # the file's own goes before
        "Save": (MEMORY, "Speichern"),
        "Step 2 is done": (MEMORY, "Schritt 2 ist fertig"),
        "Step 3 is done": (FUZZY, "Schritt 3 ist fertig"),
        "Unheard": (MODEL, "modelled"),
    }


def test_a_row_of_the_report_says_how_a_near_match_differs_and_what_was_put_right(
    run: Path, catalogue: Path
) -> None:
    unit = Unit(Segment(("Step 3 is done.",)))
    known = memories_for(run, [catalogue], [], LanguagePair("en", "de"), 85, silent, silent)
    assert known
    near = tuple(known.near(unit))
    row = row_of(Outcome(unit, near[0].target, FUZZY, near[0].percent, near=near), None)
    assert row["near"][0]["differs"] == "punctuation, numbers"
    assert row["reasons"][0]["why"].endswith("(differs: punctuation, numbers; adapted: 2 -> 3)")
    assert row["near"][0]["adapted"] == "2 -> 3"


def test_near_matches_are_taken_only_when_that_is_asked_for(run: Path, catalogue: Path) -> None:
    assert outcomes(run, [catalogue], [], None, "Step 3 is done") == {
        "Step 3 is done": (MODEL, "modelled")
    }


def po_of(text: str) -> str:
    made = polib.POFile()
    made.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    made.append(polib.POEntry(msgid=text))
    return str(made)


FILES: dict[str, tuple[Callable[[str], str], Callable[[str], str]]] = {
    ".po": (po_of, lambda data: str(polib.pofile(data)[0].msgstr)),
    ".json": (lambda text: json.dumps({"a": text}), lambda data: str(json.loads(data)["a"])),
}
"""By kind: a file of one text, and what was written for that."""
SPACE = st.text(alphabet=" \t\n\u00a0", max_size=3)


def never(_segments: list[Segment]) -> list[SegmentTranslation]:
    raise AssertionError("nothing is to be translated")


@pytest.mark.parametrize("kind", FILES)
@given(before=SPACE, after=SPACE, number=st.sampled_from("23"))
def test_a_match_has_the_white_space_of_the_text_that_it_is_for(
    kind: str, before: str, after: str, number: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    write, read = FILES[kind]
    path = tmp_path_factory.mktemp("space") / f"a{kind}"
    path.write_text(write(f"{before}Step {number}{after}"), encoding="utf-8")
    document = opener_of(path)(path, "en", "de", False)
    known = memory_of_pairs([Pair(" Step 2", "Schritt 2\n", "m.tsv", 1)])
    flow = Flow(never, Steps(Memories([known]), fuzzy_from=85))
    units = [unit_of(gap, str(path)) for gap in document.gaps]
    assert list(flow.run(units)) == []
    made = [flow.outcome(unit) for unit in units]
    assert [one.origin for one in made] == [MEMORY if number == "2" else FUZZY]
    written = read(document.filled([one.segment for one in made]).decode())
    assert written == f"{before}Schritt {number}{after}"


def test_training_pairs_are_left_out_where_they_are_gone_large_or_of_another_direction(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [len(one) for one in training_memories(run, LanguagePair("en", "de"), silent)] == [1]
    assert list(training_memories(run, LanguagePair("de", "en"), silent)) == []
    with monkeypatch.context() as small:
        small.setattr(memories, "TRAINING_BYTES", 3)
        assert list(training_memories(run, LanguagePair("en", "de"), silent)) == []
    (run / "train.de").unlink()
    assert list(training_memories(run, LanguagePair("en", "de"), silent)) == []


@pytest.mark.usefixtures("torch_settings_restored")
def test_training_pairs_of_another_tag_are_no_memory(tmp_path: Path) -> None:
    """One model writes two languages, or in two ways: the other one's words are wrong here."""
    texts = [english for english, _ in generate(40, 9)]
    for tag in ("one", "two"):
        lines = "".join(f"{text}\t{tag}: {text}\n" for text in texts)
        (tmp_path / f"{tag}.tsv").write_text(lines, encoding="utf-8")
    run = headway.train(
        pairs=[f"{tmp_path / tag}.tsv:tag={tag}" for tag in ("one", "two")],
        out=tmp_path / "run",
        settings={"training": {"max_steps": 1}, "model": {"d_model": 16, "d_ff": 16, "heads": 2}},
        say=silent,
    )
    file = tmp_path / "app.po"
    file.write_text(po_of(texts[3]), encoding="utf-8")
    for tag in ("one", "two"):
        headway.translate_files(run, file, out=tmp_path / f"{tag}.po", tag=tag, say=silent)
        assert polib.pofile(tmp_path / f"{tag}.po")[0].msgstr == f"{tag}: {texts[3]}"
        done = command("translate", str(run), str(file), "--tag", tag, "--json")
        [unit] = json.loads(done.out)["translations"]
        assert (unit["origin"], unit["target"]) == (MEMORY, f"{tag}: {texts[3]}")
    assert list(training_memories(run, LanguagePair(), silent)) == [], "it must be told which"


def test_a_memory_in_another_language_than_the_file_is_refused_whatever_the_run_says(
    run: Path, tmp_path: Path
) -> None:
    french, german = tmp_path / "app.po", tmp_path / "m.tsv"
    french.write_text(PO.replace("Language: de", "Language: fr"), encoding="utf-8")
    german.write_text("en\tde\nClose\tSchließen\n", encoding="utf-8")
    config = RunFolder(run).config
    text = config.read_text(encoding="utf-8")
    config.write_text(re.sub("(?m)^target_language = .*", "", text), encoding="utf-8")
    with pytest.raises(DataError, match="the target of .*m.tsv is de, and fr is wanted"):
        headway.translate_files(run, french, memory=[german], everything=True, say=silent)


def test_lines_of_text_are_looked_up_in_named_memories_only(run: Path, tmp_path: Path) -> None:
    named = tmp_path / "m.tsv"
    named.write_text("Open\tAuf\n", encoding="utf-8")
    known = memories_for(run, [], [named], LanguagePair("en", "de"), None, silent, silent)
    assert known
    assert [one.files for one in known.memories] == [(str(named),)]
    assert memories_for(run, [], [], LanguagePair("en", "de"), None, silent, silent) is None
