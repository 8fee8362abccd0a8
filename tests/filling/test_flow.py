"""A unit's way through memory, model, terms and checks."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from headway.filling.flow import Flow, Steps
from headway.filling.judging import Checks, MemoryLookup, RunChecks, TermChecker
from headway.filling.steps import FlowOptions
from headway.localization.checks.calibration import Verdict
from headway.localization.formats.piecewise import MISSING
from headway.localization.formats.units import (
    DOUBTFUL,
    FUZZY,
    MEMORY,
    MODEL,
    Flag,
    Match,
    Outcome,
    Unit,
    Width,
)
from headway.localization.placeholders.segments import Segment
from headway.translation.coded import SegmentTranslation


def unit(text: str, line: int = 1) -> Unit:
    return Unit(Segment((text,)), "a.po", line)


def test_no_glossary_is_told_from_the_one_of_the_run(tmp_path: Path) -> None:
    kept = tmp_path / "kept.tsv"
    kept.touch()
    given = [FlowOptions(glossary=some).known() for some in ((), (Path("none"),), (kept,))]
    assert all(one not in given[:n] for n, one in enumerate(given))
    assert FlowOptions(glossary=(kept,)).known() == given[2]
    os.utime(kept, (0, 0))
    assert FlowOptions(glossary=(kept,)).known() != given[2]


class Shouting:
    """A model that writes capitals, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, segments: Sequence[Segment]) -> list[SegmentTranslation]:
        self.asked += [one.text for one in segments]
        return [SegmentTranslation(Segment((one.text.upper(),)), True, 0) for one in segments]


class Known(NamedTuple):
    """A memory of texts and percentages."""

    matches: dict[str, int]

    def exact(self, unit: Unit) -> Match | None:
        return next((one for one in self._all(unit) if one.percent == 100), None)

    def near(self, unit: Unit) -> Sequence[Match]:
        return [one for one in self._all(unit) if one.percent < 100]

    def _all(self, unit: Unit) -> list[Match]:
        percent = self.matches.get(unit.source.text)
        remembered = Segment((f"remembered {unit.source.text}",))
        return [] if percent is None else [Match(unit.source, remembered, percent)]


class Doubting:
    """Checks that trust what has no question mark."""

    def judge(self, outcome: Outcome) -> Verdict:
        assert outcome.segment is not None
        doubt = "?" in outcome.segment.text
        return Verdict([Flag("question", 0.9, "it asks")] if doubt else [], 1.0 - 0.9 * doubt)


class NoCats:
    """Terms of which one never holds."""

    def lost(self, source: Segment, target: Segment) -> Sequence[Flag]:
        return [Flag("term", 1.0, "cat")] if "cat" in source.text and target.text else []


def through(units: list[Unit], steps: Steps, model: Shouting) -> list[Outcome]:
    flow = Flow(model, steps)
    for _ in flow.run(units):
        pass
    return [flow.outcome(one) for one in units]


def test_the_parts_of_this_test_are_what_a_flow_asks_for():
    assert isinstance(Known({}), MemoryLookup)
    assert isinstance(Doubting(), Checks)
    assert isinstance(NoCats(), TermChecker)


def test_what_the_memory_knows_is_never_asked_of_the_model():
    model = Shouting()
    units = [unit("a dog"), unit("a cat"), unit("a cow"), unit("a hen")]
    memory = Known({"a cat": 100, "a cow": 90, "a hen": 80})
    found = through(units, Steps(memory, fuzzy_from=85), model)
    assert [(one.origin, one.percent) for one in found] == [
        (MODEL, None),
        (MEMORY, 100),
        (FUZZY, 90),
        (MODEL, None),
    ]
    assert model.asked == ["a dog", "a hen"]
    assert [one.segment.text for one in found if one.segment] == [
        "A DOG",
        "remembered a cat",
        "remembered a cow",
        "A HEN",
    ]
    assert [len(one.near) for one in found] == [0, 0, 1, 1]


def test_near_matches_are_only_shown_unless_asked_for():
    model = Shouting()
    (found,) = through([unit("a cow")], Steps(Known({"a cow": 99})), model)
    assert found.origin == MODEL
    assert found.near[0].percent == 99


def test_the_same_text_is_translated_once_wherever_it_stands():
    model = Shouting()
    units = [unit("a dog", line) for line in range(1, 5)]
    found = through(units, Steps(), model)
    assert model.asked == ["a dog"]
    assert [one.unit.line for one in found] == [1, 2, 3, 4]


def test_what_is_doubtful_is_left_and_kept_for_the_report():
    units = [unit("a dog?"), unit("a dog")]
    doubtful, sure = through(units, Steps(checks=Doubting(), leave_below=0.4), Shouting())
    assert (doubtful.segment, doubtful.why_not) == (None, DOUBTFUL)
    assert doubtful.target == doubtful.rejected == Segment(("A DOG?",))
    assert [flag.name for flag in doubtful.flags] == ["question"]
    assert sure.segment == Segment(("A DOG",))
    assert sure.confidence == 1.0
    (told, _) = through(units, Steps(checks=Doubting()), Shouting())
    assert told.segment == Segment(("A DOG?",))
    assert told.flags == doubtful.flags


def test_checks_and_terms_look_at_what_the_memory_gave_too():
    steps = Steps(Known({"a cat?": 100}), glossary=NoCats(), checks=Doubting())
    (found,) = through([unit("a cat?")], steps, Shouting())
    assert [flag.name for flag in found.flags] == ["term", "question"]


def test_every_piece_comes_with_what_the_model_said_of_it():
    (found,) = through([unit("a dog\n\na cat")], Steps(), Shouting())
    assert [(one.source.text, one.translated.segment.text) for one in found.evidence] == [
        ("a dog", "A DOG"),
        ("a cat", "A CAT"),
    ]


def test_what_was_not_reached_is_missing_and_can_be_gone_on_with():
    units = [unit(f"dog {n}", n) for n in range(1, 300)]
    model = Shouting()
    flow = Flow(model, Steps())
    steps = flow.run(units)
    next(steps)
    steps.close()
    n_done = sum(flow.outcome(one).segment is not None for one in units)
    assert 0 < n_done < len(units)
    assert flow.outcome(units[-1]).why_not == MISSING
    for _ in flow.run(units):
        pass
    assert len(model.asked) == len(set(model.asked)) == len(units)


def test_a_text_that_has_not_the_room_is_flagged():
    narrow, wide = Width(5), Width(5, "byte")
    units = [
        Unit(Segment(("a dog",)), width=narrow),
        Unit(Segment(("a goose",)), width=narrow),
        Unit(Segment(("ä dog",)), width=wide),
    ]
    found = through(units, Steps(), Shouting())
    assert [[flag.name for flag in one.flags] for one in found] == [[], ["too_wide"], ["too_wide"]]
    assert all(one.segment is not None for one in found)


def test_a_check_never_sees_an_accelerator():
    seen: list[tuple[str, str]] = []

    class Looking:
        def look(self, source: str, target: str, _readings: object) -> Verdict:
            seen.append((source, target))
            return Verdict((), None)

    unit = Unit(Segment(("Save &as...",)), accelerator="&")
    RunChecks(Looking()).judge(Outcome(unit, Segment(("另存为(&A)...",))))  # type: ignore[arg-type]
    assert seen == [("Save as...", "另存为...")]


def test_an_accelerator_is_none_of_the_model_s_business():
    model = Shouting()
    units = [Unit(Segment((text,)), "a.ts", 1, accelerator="&") for text in ("E&xit", "Exit now")]
    found = through(units, Steps(glossary=NoCats()), model)
    assert [one.segment and one.segment.text for one in found] == ["E&XIT", "EXIT NOW"]
    assert model.asked == ["Exit", "Exit now"]
    flow = Flow(model, Steps(), "zh")
    for _ in flow.run(units[:1]):
        pass
    done = flow.outcome(units[0]).segment
    assert done is not None
    assert done.text == "EXIT(&X)"
