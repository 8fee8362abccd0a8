from doctoring import as_pairs

from headway.commands.diagnosis import figures
from headway.corpora.shifts import LengthBlock, LineNumber
from headway.doctor.batches import batches
from headway.doctor.examination import Examination
from headway.doctor.lengths import SizeExaminer


def examined(texts: list[tuple[str, str]], blocks: list[LengthBlock]) -> Examination:
    sizes = SizeExaminer()
    for batch in batches(as_pairs(texts)):
        sizes.add(batch)
    return Examination([], sizes, {}, {}, alignment=blocks, n_sampled=0)


def test_every_value_is_in_a_bar_or_above_them() -> None:
    texts = [("s" * length, "t" * 5) for length in range(1, 401)]
    drawn = figures(examined([*texts, ("s" * 5_000, "t")], []))
    for name in ("source_characters", "target_characters", "target_over_source"):
        assert sum(drawn[name]["counts"]) + drawn[name]["above"] == 401
        assert len(drawn[name]["counts"]) <= 40
    lengths = drawn["source_characters"]
    assert lengths["above"] == 2  # 0.5 % of 401 are the two longest
    assert lengths["width"] == 10
    assert lengths["counts"][:2] == [9, 10]  # no text has 0 characters


def test_of_many_blocks_the_lowest_are_shown() -> None:
    blocks = [LengthBlock(LineNumber("f", 500 * i + 1), i % 3 / 10) for i in range(900)]
    points = figures(examined([], blocks))["alignment"]
    assert len(points) == 300
    assert {point["correlation"] for point in points} == {0.0}
    assert points[1] == {"file": "f", "line": 1_501, "correlation": 0.0}


def test_nothing_makes_empty_figures() -> None:
    drawn = figures(examined([], []))
    assert drawn["alignment"] == []
    assert drawn["source_characters"]["counts"] == []
