"""Scores and alternatives of units that were translated in pieces."""

from typing import NamedTuple

import pytest

from headway.filling.judging import TOO_WIDE, fitted, ranked
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


def test_alternatives_are_those_of_a_text_that_was_read_at_once():
    texts = piece(("eins", -1.0), ("zwei", -2.0))
    found = ranked(made_of(" eins.", texts))
    assert found.score == -1.0
    assert [(one.segment.text, one.score) for one in found.n_best] == [
        (" eins.", -1.0),
        (" zwei.", -2.0),
    ]
    two = ranked(made_of("eins eins", texts, texts))
    assert (two.score, two.n_best) == (-2.0, ())


def test_of_a_piece_whose_codes_were_put_back_only_the_best_is_known():
    coded = piece(("eins", -1.0), ("zwei", -2.0), written="<b>eins</b>")
    found = ranked(made_of("<b>eins</b>", coded))
    assert (found.score, found.n_best) == (-1.0, ())


def test_what_says_no_scores_has_none():
    translated = Translated(Segment(("a",)), True, 0, ())
    found = ranked(made_of("a", TranslatedPiece(Segment(("b",)), translated)))
    assert (found.score, found.n_best) == (None, ())


@pytest.mark.parametrize(("most", "told"), [(13, False), (12, True)])
def test_what_does_not_fit_is_told_and_codes_of_the_file_take_no_room(most, told):
    unit = Unit(Segment(("a", Code("<x/>"))), width=Width(most))
    made = Outcome(unit, Segment(("much too long", Code("<x/>"))), MODEL)
    assert [flag.name for flag in fitted(made).flags] == [TOO_WIDE] * told
