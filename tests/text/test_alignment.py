import numpy as np
import pytest

from headway.text.alignment import ShiftDetector
from headway.text.cleaning import Pair


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
    found = suspicions(sources, targets)
    n_lines = from_source + from_target
    assert "from about f:2501:" in found[0] or "from about f:3001:" in found[0]
    assert f"the source {n_lines} line(s) {where}" in found[0]
    assert len(found) <= 5
