import random

import pytest
from doctoring import found_by

from headway.doctor.findings import FindingsLog, Severity
from headway.doctor.lengths import Alignment


def translations(n_pairs: int) -> tuple[list[str], list[str]]:
    """Texts of 5 to 150 characters, and translations about 1.2 times as long."""
    draw = random.Random(1)
    lengths = [draw.randint(5, 150) for _ in range(n_pairs)]
    return (
        ["x" * length for length in lengths],
        ["y" * max(1, round(length * draw.uniform(0.9, 1.5))) for length in lengths],
    )


def test_aligned_text_is_no_finding() -> None:
    sources, targets = translations(3_000)
    notes = FindingsLog()
    found = found_by(lambda _notes: Alignment(notes), zip(sources, targets, strict=True))
    assert (found, notes.findings()) == ({}, [])


def test_a_missing_target_line_is_named_with_its_place_and_remedy() -> None:
    sources, targets = translations(3_000)
    del targets[699]
    finding = found_by(Alignment, zip(sources, targets, strict=False))["misaligned"]
    assert finding.severity is Severity.LOOK
    (case,) = finding.examples
    assert abs(case.line - 700) <= 5
    assert f"f:{case.line}" in finding.title
    assert "insert what the target lacks" in finding.remedy
    assert abs(finding.n - 2_300) <= 5


def test_a_missing_source_line_is_told_the_other_way_round() -> None:
    sources, targets = translations(3_000)
    del sources[699]
    finding = found_by(Alignment, zip(sources, targets, strict=False))["misaligned"]
    assert "insert what the source lacks" in finding.remedy


@pytest.mark.parametrize(("n_shifts", "serious"), [(1, False), (25, True)])
def test_small_shifts_are_serious_by_their_sum_and_none_is_left_untold(
    n_shifts: int, serious: bool
) -> None:
    """Each is of 60 pairs, below a hundredth."""
    sources, targets = translations(12_500)
    for first in range(250, 500 * n_shifts, 500):
        targets[first : first + 60] = [*targets[first + 1 : first + 60], targets[first]]
    notes = FindingsLog()
    found_by(lambda _: Alignment(notes), zip(sources, targets, strict=True))
    findings = notes.findings()
    assert [finding.serious for finding in findings] == [serious] * n_shifts
    assert abs(sum(finding.n for finding in findings) - 60 * n_shifts) <= 10 * n_shifts


def test_unrelated_sides_are_one_finding() -> None:
    sources, targets = translations(3_000)
    found = found_by(Alignment, zip(sources, targets[::-1], strict=True))
    assert set(found) == {"unrelated"}
    assert found["unrelated"].n == 3_000
