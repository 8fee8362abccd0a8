import re

import numpy as np
import pytest

from headway.core.cleaning import Pair
from headway.corpora.shifts import ShiftDetector


def translations(n_pairs: int, noise: float) -> list[tuple[str, str]]:
    """Texts of 5 to 150 characters, and translations about 1.2 times as long."""
    random = np.random.default_rng(1)
    source = random.integers(5, 150, n_pairs)
    target = np.maximum(1, source * 1.2 * np.exp(random.normal(0, noise, n_pairs)))
    return [("x" * s, "y" * int(t)) for s, t in zip(source, target, strict=True)]


def suspicions(sources: list[str], targets: list[str]) -> list[str]:
    detector = ShiftDetector()
    for line, (source, target) in enumerate(zip(sources, targets, strict=False), start=1):
        detector.add(Pair(source, target, "f", line))
    return detector.suspicions()


def test_aligned_text_is_not_suspicious() -> None:
    sources, targets = map(list, zip(*translations(5_000, 0.3), strict=True))
    assert suspicions(sources, targets) == []


def test_unrelated_text_is_suspicious_as_a_whole() -> None:
    sources, targets = map(list, zip(*translations(5_000, 0.3), strict=True))
    (suspicion,) = suspicions(sources, targets[::-1])
    assert "have nothing to do with each other" in suspicion


def test_text_of_one_length_or_of_few_lines_says_nothing() -> None:
    sources, targets = map(list, zip(*translations(99, 0.3), strict=True))
    assert suspicions(sources, targets[::-1]) == []
    assert suspicions(["x"] * 2_000, ["y"] * 2_000) == []


@pytest.mark.parametrize(
    ("from_source", "from_target", "where"), [(1, 0, "before"), (0, 1, "after"), (0, 3, "after")]
)
def test_a_missing_line_is_found_near_its_place(
    from_source: int, from_target: int, where: str
) -> None:
    sources, targets = map(list, zip(*translations(5_000, 0.3), strict=True))
    del sources[2_600 : 2_600 + from_source]
    del targets[2_600 : 2_600 + from_target]
    (message,) = suspicions(sources, targets)
    n_lines = from_source + from_target
    found = re.match(r"from about f:(\d+) to about line (\d+): ", message)
    assert found is not None
    assert abs(int(found[1]) - 2_601) <= 5
    assert int(found[2]) >= 4_990
    assert f"the source {n_lines} line(s) {where}" in message


@pytest.mark.parametrize("n_pairs", [60, 100, 150, 700])
def test_a_shift_is_found_in_short_files_and_aligned_ones_are_left_in_peace(n_pairs: int) -> None:
    sources, targets = map(list, zip(*translations(5_000, 0.3), strict=True))
    for start in range(0, 4_000, 800):
        source, target = (side[start : start + n_pairs] for side in (sources, targets))
        assert suspicions(source, target) == []
        del target[n_pairs // 3]
        (message,) = suspicions(source, target)
        found = re.match(r"from about f:(\d+) to about line (\d+): ", message)
        assert found is not None
        assert abs(int(found[1]) - n_pairs // 3 - 1) <= 5
        assert int(found[2]) == n_pairs - 1


def test_two_lines_missing_in_two_places_are_two_shifts() -> None:
    sources, targets = map(list, zip(*translations(1_400, 0.3), strict=True))
    del targets[900], targets[300]
    detector = ShiftDetector()
    for line, (source, target) in enumerate(zip(sources, targets, strict=False), start=1):
        detector.add(Pair(source, target, "f", line))
    first, second = detector.shifts()
    assert (first.lines, second.lines) == (1, 2)
    assert abs(first.first.line - 301) <= 5
    assert abs(first.last.line - 899) <= 5
    assert abs(second.first.line - 900) <= 5
    assert second.last.line == 1_398


def shifted_between(first: int, last: int) -> ShiftDetector:
    """A missing target line, made up for later: pairs `first` to `last` are shifted."""
    sources, targets = map(list, zip(*translations(5_000, 0.3), strict=True))
    shifted = [*targets[: first - 1], *targets[first : last + 1], "z", *targets[last + 1 :]]
    detector = ShiftDetector()
    for line, (source, target) in enumerate(zip(sources, shifted, strict=False), start=1):
        detector.add(Pair(source, target, "f", line))
    return detector


def test_a_shift_ends_where_a_line_too_many_makes_up_for_it() -> None:
    (shift,) = shifted_between(700, 1_800).shifts()
    assert shift.lines == 1
    assert abs(shift.first.line - 700) <= 5
    assert abs(shift.last.line - 1_800) <= 5
    assert abs(shift.n_pairs - 1_100) <= 10


def test_asking_twice_gives_the_same() -> None:
    detector = shifted_between(700, 1_800)
    assert detector.shifts() == detector.shifts()
    assert detector.suspicions() == detector.suspicions()
    assert len(detector.correlations) == 10


def test_every_file_is_judged_by_itself() -> None:
    """A shift in one file says nothing about the next, whose lines begin anew."""
    sources, targets = map(list, zip(*translations(3_000, 0.3), strict=True))
    detector = ShiftDetector()
    for file, shifted in (("a", targets), ("b", targets[1:]), ("c", targets)):
        for line, (source, target) in enumerate(zip(sources, shifted, strict=False), start=1):
            detector.add(Pair(source, target, file, line))
    (shift,) = detector.shifts()
    assert (shift.first.file, shift.last.file) == ("b", "b")
    assert shift.first.line == 1
    assert shift.last.line == 2_999
