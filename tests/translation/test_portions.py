"""Texts of more than a model takes at once are cut, translated and put together again."""

import itertools
import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headway.core.hypothesis import DecodingSettings, SearchRequest, penalty
from headway.core.subwords import SpecialIds
from headway.languages.sentences import AtOnce
from headway.localization.placeholders.own_codes import compiled
from headway.localization.placeholders.segments import Code, Segment
from headway.translation.coded import SegmentTranslation
from headway.translation.detailed import Alternative, Translation
from headway.translation.portions import (
    Portions,
    combined,
    translate_segments,
)

TEXTS = st.lists(st.text(alphabet="abC. \n?!。，第", max_size=30), max_size=4)
ALPHA = 0.7


def alternative(target: str, *log_probs: float, complete: bool = True) -> Alternative:
    score = sum(log_probs) / float(penalty(len(log_probs), ALPHA))
    n = len(log_probs) - 1
    return Alternative(
        target=target,
        score=score,
        ids=list(range(n)),
        tokens=["x"] * n,
        token_log_probs=list(log_probs),
        alignment=[(0, place) for place in range(n)],
        written=target,
        codes_complete=complete,
        attended=[float(n)],
    )


REQUEST = SearchRequest(
    SpecialIds(0, 1, 2, 3), DecodingSettings(length_penalty=ALPHA), torch.device("cpu")
)


def same(texts: Sequence[str], _request: SearchRequest = REQUEST) -> list[Translation]:
    """A model that copies."""
    return [Translation(text, [text], [alternative(text, -1.0, -0.5)], 0) for text in texts]


PORTIONS = Portions(AtOnce(1, 20), len, None)


@given(TEXTS)
def test_a_model_that_copies_gives_the_text_back(texts):
    found = PORTIONS(texts, REQUEST, same)
    for text, one in zip(texts, found, strict=True):
        assert one.source == text
        # between Chinese sentences there is no space, between others there is some
        assert "".join(one.target.split()) == "".join(text.split())
        assert one.target.count("\n") == text.strip().count("\n")


def test_a_users_code_is_not_cut():
    text, own = "See ⟦Read me! Then go⟧ now. And go.", compiled((r"⟦[^⟧]+⟧",))
    portions = Portions(AtOnce(1, 60), len, None)
    for some, halves in ((portions, True), (portions._replace(own=own), False)):
        pieces = some.of_text(text)
        assert "".join(pieces) == text
        assert ("See ⟦Read me!" in pieces) == halves
        assert [piece.text for piece in some.of_segment(Segment((text,)))] == pieces


def test_what_fits_is_translated_as_before():
    [one] = PORTIONS(["A short text"], REQUEST, same)
    assert one == same(["A short text"])[0]
    assert one.parts == ()


def test_beside_a_text_that_is_cut_one_that_is_not_to_be_stays_whole():
    whole, long = "abcdefghij, abcdefghijkl", "abc abc abc abc. " * 3
    [one, cut] = PORTIONS([whole, long], REQUEST, same, lambda text: text != whole)
    assert one == same([whole])[0]
    assert cut == PORTIONS([long], REQUEST, same)[0]
    assert len(PORTIONS([whole], REQUEST, same)[0].parts) > 1, "else it would not be cut anyway"


def test_the_score_is_that_of_the_whole():
    parts = [
        Translation("One.", ["One", "."], [alternative("Eins.", -1.0, -2.0, -0.25)], 0),
        " ",
        Translation("Two.", ["Two"], [alternative("Zwei.", -0.5, -0.125)], 3),
    ]
    whole = combined("One. Two.", parts, alpha=ALPHA, n_best=1)
    [best] = whole.n_best
    assert best.target == "Eins. Zwei."
    assert best.token_log_probs == [-1.0, -2.0, -0.5, -0.375]
    assert best.score == pytest.approx(-3.875 / float(penalty(5, ALPHA)))
    assert best.alignment == [(0, 0), (0, 1), (2, 2)]
    assert best.attended == [2.0, 1.0]
    assert (whole.n_cut, whole.source_tokens) == (3, ["One", ".", "Two"])
    assert len(best.tokens) + 1 == len(best.token_log_probs)


def test_the_n_best_are_those_of_all_combinations():
    lists = [
        [alternative(f"{name}{n}", -0.3 * n - place) for n in range(3)]
        for place, name in enumerate("ABCD")
    ]
    parts = [Translation(str(n), [str(n)], some, 0) for n, some in enumerate(lists)]
    found = combined("", parts, alpha=ALPHA, n_best=5).n_best
    every = sorted(itertools.product(*lists), key=lambda some: -sum(one.score for one in some))
    totals = [sum(one.score for one in some) for some in every[:5]]
    by_target = {" ".join(one.target for one in some): some for some in every}
    assert [sum(one.score for one in by_target[each.target]) for each in found] == pytest.approx(
        totals
    )


def test_complete_codes_come_first():
    one = [alternative("a", -1.0, complete=False), alternative("b", -2.0)]
    whole = combined("", [Translation("x", ["x"], one, 0)] * 2, alpha=ALPHA, n_best=2)
    assert [sorted(each.target.split()) for each in whole.n_best] == [["b", "b"], ["a", "b"]]
    assert [each.codes_complete for each in whole.n_best] == [True, False]


def test_the_best_of_the_whole_is_made_of_what_is_best_of_each_part_whatever_its_score():
    lists = [[alternative(f"{n}{rank}", -rank) for rank in (3, 1, 2)] for n in "ABC"]
    parts = [Translation(str(n), [str(n)], some, 0) for n, some in enumerate(lists)]
    for n_best in (1, 2, 5):
        whole = combined("", parts, alpha=ALPHA, n_best=n_best)
        assert whole.target == "A3 B3 C3"
        assert len({one.target for one in whole.n_best}) == n_best


def test_without_scores_there_are_none():
    bare = alternative("a", -1.0)._replace(score=math.nan, token_log_probs=[])
    whole = combined("", [Translation("x", ["x"], [bare], 0)] * 2, alpha=ALPHA, n_best=1)
    assert whole.target == "a a"
    assert whole.n_best[0].token_log_probs == []


BOLD, END = Code("<b>", "<g>"), Code("</b>", "</g>")


class Shouting:
    """A model of segments that makes capitals of what it is `asked`."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, segments: list[Segment]) -> list[SegmentTranslation]:
        self.asked.extend(segment.text for segment in segments)
        return [
            SegmentTranslation(
                Segment(tuple(p.upper() if isinstance(p, str) else p for p in one.parts)), True, 0
            )
            for one in segments
        ]


@pytest.mark.parametrize("in_a_file", [True, False])
def test_sentences_on_both_sides_of_a_line_break_are_translated_each_by_itself(in_a_file):
    line_break = Code("<br>", "<br>") if in_a_file else "<br>"
    shout, segment = Shouting(), Segment.of(("One is.", line_break, "Two is. Three", line_break))
    [found] = translate_segments([segment], PORTIONS, shout)
    assert shout.asked[:2] == ["One is.", "Two is."]
    assert found.segment.text.replace("<BR>", "<br>") == "ONE IS.<br>TWO IS. THREE<br>"
    assert found.segment.codes == segment.codes


def test_codes_around_several_sentences_stay_around_them():
    shout = Shouting()
    segment = Segment(("  One is.\n", BOLD, "Two is. Three is.", END, " Four is."))
    [found] = translate_segments([segment], PORTIONS, shout)
    assert found.segment == Segment(("  ONE IS.\n", BOLD, "TWO IS. THREE IS.", END, " FOUR IS."))
    assert shout.asked == ["One is.", "Two is.", "Three is.", "Four is."]
