"""What is held against each other in choices and lines, and what is said of it."""

from collections.abc import Sequence

import pytest

from headway.filling.flow import Flow, Steps
from headway.filling.judging import RunChecks
from headway.localization.checks.calibration import Calibration, Checker
from headway.localization.checks.training_stats import TrainingStats
from headway.localization.formats.units import Match, Outcome, Unit
from headway.localization.placeholders.segments import Segment
from headway.localization.terms.glossary import Glossary, GlossaryRow
from headway.localization.terms.keeping import Terms
from headway.translation.coded import SegmentTranslation

CHECKER = Checker(TrainingStats.from_dict({}), Calibration.from_dict({}))
FILES = "{n, plural, one {# file} other {# files}}"


class Table(dict[str, str]):
    """A model, or a memory, that knows some texts."""

    def __call__(self, segments: Sequence[Segment]) -> list[SegmentTranslation]:
        return [SegmentTranslation(self._of(one), True, 0) for one in segments]

    def exact(self, unit: Unit) -> Match | None:
        return Match(unit.source, self._of(unit.source), 100)

    def near(self, _unit: Unit) -> Sequence[Match]:
        return ()

    def _of(self, source: Segment) -> Segment:
        parts = "".join(part if isinstance(part, str) else "@" for part in source.parts)
        before, at, after = self[parts].partition("@")
        return Segment(tuple(part for part in (before, *source.codes[: len(at)], after) if part))


def named(outcome: Outcome) -> list[str]:
    return [flag.name for flag in outcome.flags]


def translated(source: str, model: Table, language: str, terms: Terms | None = None) -> Outcome:
    steps = Steps(glossary=terms, checks=RunChecks(CHECKER, language))
    flow, unit = Flow(model, steps, language), Unit(Segment((source,)))
    for _ in flow.run([unit]):
        pass
    return flow.outcome(unit)


def remembered(source: str, target: str, language: str, terms: Terms | None = None) -> Outcome:
    steps = Steps(Table({source: target}), glossary=terms, checks=RunChecks(CHECKER, language))
    flow, unit = Flow(Table(), steps, language), Unit(Segment((source,)))
    for _ in flow.run([unit]):
        pass
    return flow.outcome(unit)


def test_a_right_choice_is_not_doubtful_whatever_the_number_of_its_forms():
    model = Table({"{count} file": "{count} plik", "{count} files": "{count} pliki"})
    found = translated("{count} file|{count} files", model, "pl")
    assert found.segment == Segment(("{count} plik|{count} pliki|{count} pliki",))
    assert named(found) == []
    model["{count} files"] = "pliki"
    assert named(translated("{count} file|{count} files", model, "pl")) == ["code"]
    found = translated(FILES, Table({"@ file": "@ plik", "@ files": "@ pliki"}), "pl")
    assert found.segment is not None
    assert named(found) == []


COPIED = "{n, plural, one {# new file} other {# new files}}"
POLISH = "one {# plik} few {# pliki} many {# plików} other {# pliku}"


@pytest.mark.parametrize(
    ("source", "target", "language", "flags"),
    [
        (FILES, "{n, plural, one {# Datei} other {# Dateien}}", "de", []),
        (FILES, "{n, plural, other {# Dateien} one {# Datei}}", "de", []),
        (FILES, f"{{n, plural, {POLISH}}}", "pl", []),
        (FILES, f"{{n, plural, =0 {{brak plików}} {POLISH}}}", "pl", []),
        (FILES, "{n, plural, other {# 个文件}}", "zh", []),
        ("{c} file|{c} files", "{c} plik|{c} pliki|{c} plików", "pl", []),
        (COPIED, COPIED, "de", ["copy"]),
        ("{c} file|{c} files", "{c} plik|{c} pliki|{x} plików", "pl", ["code"]),
    ],
)
def test_a_choice_from_a_memory_is_judged_by_its_branches(source, target, language, flags):
    assert named(remembered(source, target, language)) == flags


TERMS = [
    ("Things\nBig things", "Dinge\nGroße Dinge", "de", ("big", "große")),
    ("{n, plural, one {# day} other {# days}}",
     "{n, plural, one {# Tag} other {# Tage}}", "de", ("other", "andere")),
    ("{file, plural, one {a day} other {# days}}",
     "{file, plural, one {ein Tag} other {# Tage}}", "de", ("file", "Datei")),
    ("{n, plural, one {# file} other {# files}}", "{n, plural, other {# 个文件}}", "zh",
     ("file*", "文件")),
    ("{n, plural, one {File} other {# files}}",
     "{n, plural, one {Fichier} other {# fichiers}}", "de", ("file*", "fichier*")),
    ("day|File", "jour|Fichier", "fr", ("file", "fichier")),
]  # fmt: skip


@pytest.mark.parametrize(("source", "target", "language", "term"), TERMS)
def test_a_term_is_asked_for_where_the_translator_was_asked_for_it(source, target, language, term):
    terms = Terms(Glossary.of([GlossaryRow(*term, "", "", "t:1")], "t"))
    assert named(remembered(source, target, language, terms)) == []
    model = Table(
        {"Things": "Dinge", "Big things": "Große Dinge", "@ day": "@ Tag", "@ days": "@ Tage",
         "a day": "ein Tag", "day": "jour", "@ file": "@ 个文件", "File": "Fichier",
         "@ files": "@ 个文件" if language == "zh" else "@ fichiers"}
    )  # fmt: skip
    found = translated(source, model, language, terms)
    assert found.segment == Segment((target,))
    assert named(found) == []


def test_a_term_that_is_lost_in_some_branches_is_told_once():
    terms = Terms(Glossary.of([GlossaryRow("file", "Datei", "", "", "t:1")], "t"))
    source = "{n, plural, one {# file} other {# file left}}"
    model = Table({"@ file": "@ Akte", "@ file left": "@ Akte blieb"})
    assert named(translated(source, model, "de", terms)) == ["term"]
    target = "{n, plural, one {# Datei} other {# Akte blieb}}"
    assert named(remembered(source, target, "de", terms)) == ["term"]
