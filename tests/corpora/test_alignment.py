import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.corpora.alignment import suspicious
from headway.corpora.shifts import suspicions


def lengths(n_pairs: int, seed: int, noise: float) -> np.ndarray:
    """Of texts of 5 to 150 characters, and of translations about 1.2 times as long: [2, pairs]."""
    random = np.random.default_rng(seed)
    source = random.integers(5, 150, n_pairs)
    target = np.maximum(1, source * 1.2 * np.exp(random.normal(0, noise, n_pairs)))
    return np.stack([source, target]).astype(np.uint32)


def both_say(files: list[np.ndarray], step: int) -> tuple[bool, bool]:
    """Whether the screen is suspicious, which gets `step` pairs at a time, and the detector."""
    parts = []
    for number, (source, target) in enumerate(files):
        rows = np.zeros(len(source), [("source", "<u4"), ("target", "<u4"), ("line", "<u8")])
        rows["source"], rows["target"], rows["line"] = source, target, np.arange(len(source)) + 1
        starts = range(0, len(rows), step)
        parts += [(str(number), rows[start : start + step]) for start in starts]
    return suspicious(parts), bool(suspicions(parts))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([5, 30, 60, 99, 150, 499, 501, 700, 1_300, 2_600]),
            st.integers(0, 9),
            st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.2]),
            st.sampled_from([0, 0, 1, 2, 3, 17]),
            st.floats(0.0, 1.0),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([1, 7, 500, 5_000]),
)
def test_the_screen_is_suspicious_wherever_the_detector_finds_something(
    drawn: list[tuple[int, int, float, int, float]], step: int
) -> None:
    files = []
    for n_pairs, seed, noise, missing, place in drawn:
        source, target = lengths(n_pairs + missing, seed, noise)
        start = int(place * n_pairs)
        files.append(np.stack([source[:n_pairs], np.delete(target, slice(start, start + missing))]))
    suspicious, found = both_say(files, step)
    assert suspicious or not found


@pytest.mark.parametrize("n_pairs", [60, 150, 700, 5_000])
def test_a_missing_line_is_suspicious_and_aligned_text_is_not(n_pairs: int) -> None:
    source, target = lengths(n_pairs + 1, 1, 0.3)
    assert both_say([np.stack([source, target])], 1_000) == (False, False)
    shifted = np.stack([source[:-1], np.delete(target, n_pairs // 3)])
    assert both_say([shifted], 1_000) == (True, True)


def test_unrelated_sides_are_suspicious() -> None:
    source, target = lengths(3_000, 1, 0.3)
    assert both_say([np.stack([source, target[::-1]])], 1_000) == (True, True)
