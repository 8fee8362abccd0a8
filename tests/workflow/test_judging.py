"""What is held against each other in choices and lines, and what is said of it."""

from collections.abc import Sequence

import pytest

from headway.tasks.translation.coded import SegmentTranslation
from headway.tasks.translation.texts import Alternative, Translation
from headway.text.checks.checker import Checker, Verdict
from headway.text.checks.held import Held
from headway.text.checks.signs import Reading
from headway.text.checks.trust import Trust
from headway.text.formats.segments import Segment, Width
from headway.text.units import Match, Outcome, Unit
from headway.workflow.flow import Flow, Steps
from headway.workflow.judging import RunChecks

CHECKER = Checker(Held.from_dict({}), Trust.from_dict({}))
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


def translated(source: str, model: Table, language: str) -> Outcome:
    steps = Steps(checks=RunChecks(CHECKER, language))
    flow, unit = Flow(model, steps, language), Unit(Segment((source,)))
    for _ in flow.run([unit]):
        pass
    return flow.outcome(unit)


def remembered(source: str, target: str, language: str) -> Outcome:
    steps = Steps(Table({source: target}), checks=RunChecks(CHECKER, language))
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
        (FILES, FILES, "de", ["copy"]),
        ("{c} file|{c} files", "{c} plik|{c} pliki|{x} plików", "pl", ["code"]),
    ],
)
def test_a_choice_from_a_memory_is_judged_by_its_branches(source, target, language, flags):
    assert named(remembered(source, target, language)) == flags


def test_what_the_model_said_is_said_of_the_translation_that_was_taken():
    heard: list[Reading] = []

    class Hearing:
        def look(self, _source: str, _target: str, readings: Sequence[Reading]) -> Verdict:
            heard.extend(readings)
            return Verdict((), None)

    best, other = (
        Alternative(text, -n, [], [], [-float(n)], [], text) for n, text in ((1, "lang"), (2, "ab"))
    )
    part = Translation("x", ["x"], [best, other], 0)
    flow = Flow(
        lambda some: [SegmentTranslation(Segment(("lang",)), True, 0, (part,)) for _ in some],
        Steps(checks=RunChecks(Hearing())),  # type: ignore[arg-type]
    )
    units = [Unit(Segment(("x",))), Unit(Segment(("x",)), width=Width(2))]
    for _ in flow.run(units):
        pass
    assert [flow.outcome(unit).segment for unit in units] == [Segment(("lang",)), Segment(("ab",))]
    assert [one.log_probs for one in heard] == [[-1.0], [-2.0]]
