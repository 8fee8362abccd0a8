import random

from doctoring import found_by

from headway.data.doctor.alignment import Alignment
from headway.data.doctor.findings import Notes, Severity


def translations(n_pairs: int) -> tuple[list[str], list[str]]:
    """Texts of 5 to 150 characters, and translations about 1.2 times as long."""
    draw = random.Random(1)
    lengths = [draw.randint(5, 150) for _ in range(n_pairs)]
    return (
        ["x" * length for length in lengths],
        ["y" * max(1, round(length * draw.uniform(0.9, 1.5))) for length in lengths],
    )


def test_aligned_text_is_no_finding_and_makes_a_curve() -> None:
    sources, targets = translations(3_000)
    notes = Notes()
    check = Alignment(notes)
    found = found_by(lambda _notes: check, zip(sources, targets, strict=True))
    assert (found, notes.findings()) == ({}, [])
    assert [block.first.line for block in check.blocks] == [1, 501, 1001, 1501, 2001, 2501]
    assert min(block.correlation for block in check.blocks) > 0.9


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


def test_unrelated_sides_are_one_finding() -> None:
    sources, targets = translations(3_000)
    found = found_by(Alignment, zip(sources, targets[::-1], strict=True))
    assert set(found) == {"unrelated"}
    assert found["unrelated"].n == 3_000
