"""Scores and room of units that were translated in pieces."""

from typing import NamedTuple

import pytest

from headway.filling.judging import TOO_WIDE, fitted, scored
from headway.localization.formats.piecewise import TranslatedPiece
from headway.localization.formats.units import MODEL, Outcome, Unit, Width
from headway.localization.placeholders.segments import Code, Segment


class Text(NamedTuple):
    target: str
    score: float


class Part(NamedTuple):
    n_best: list[Text]


class Translated(NamedTuple):
    segment: Segment
    complete: bool
    n_cut: int
    parts: tuple[Part, ...]


def piece(*texts: tuple[str, float], written: str = "") -> TranslatedPiece:
    scored = [Text(*one) for one in texts]
    segment = Segment((written or scored[0].target,))
    return TranslatedPiece(Segment(("source",)), Translated(segment, True, 0, (Part(scored),)))


def made_of(text: str, *pieces: TranslatedPiece) -> Outcome:
    unit = Unit(Segment(("source",)))
    return Outcome(unit, Segment((text,)), MODEL, evidence=pieces)


def test_the_score_of_several_pieces_is_their_sum():
    found = scored(
        made_of("eins zwei", piece(("eins", -1.0), ("ein", -3.0)), piece(("zwei", -2.5)))
    )
    assert found.score == -3.5


def test_what_says_no_scores_has_none():
    translated = Translated(Segment(("a",)), True, 0, ())
    found = scored(made_of("a", TranslatedPiece(Segment(("b",)), translated)))
    assert found.score is None


@pytest.mark.parametrize(("most", "told"), [(13, False), (12, True)])
def test_what_does_not_fit_is_told_and_codes_of_the_file_take_no_room(most, told):
    unit = Unit(Segment(("a", Code("<x/>"))), width=Width(most))
    made = Outcome(unit, Segment(("much too long", Code("<x/>"))), MODEL)
    assert [flag.name for flag in fitted(made).flags] == [TOO_WIDE] * told
