"""Scores and alternatives of units that were translated in pieces."""

from itertools import product
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.filling.judging import TOO_WIDE, chosen, fitted, ranked
from headway.localization.formats.piecewise import TranslatedPiece
from headway.localization.formats.units import MODEL, Outcome, Unit, Width
from headway.localization.placeholders.own_codes import compiled
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


def made_of(
    text: str, *pieces: TranslatedPiece, width: Width | None = None, source: str = "source"
) -> Outcome:
    unit = Unit(Segment((source,)), width=width)
    return Outcome(unit, Segment((text,)), MODEL, evidence=pieces)


@given(
    scores=st.lists(
        st.lists(
            st.integers(-9000, 0).map(lambda n: n / 1000), min_size=3, max_size=3, unique=True
        ),
        min_size=1,
        max_size=4,
    )
)
def test_the_n_best_of_several_pieces_are_those_of_all_combinations(scores):
    scores = [sorted((n / 1000 for n in some), reverse=True) for some in scores]
    names = [[f"<{i}{j}>" for j in range(3)] for i in range(len(scores))]
    pieces = [
        piece(*zip(some, known, strict=True)) for some, known in zip(names, scores, strict=True)
    ]
    found = ranked(made_of("  ".join(some[0] for some in names), *pieces))
    every = sorted(
        (-sum(known[j] for known, j in zip(scores, picks, strict=True)), picks)
        for picks in product(range(3), repeat=len(scores))
    )
    assert [one.score for one in found.n_best] == pytest.approx([-total for total, _ in every[:3]])
    assert found.score == found.n_best[0].score
    assert found.n_best[0].segment == found.segment
    for one in found.n_best:
        picks = tuple(
            some.index(text) for some, text in zip(names, one.segment.text.split("  "), strict=True)
        )
        total = sum(known[j] for known, j in zip(scores, picks, strict=True))
        assert one.score == pytest.approx(total)


def test_of_a_piece_whose_codes_were_put_back_only_the_best_is_known():
    coded = piece(("eins", -1.0), ("zwei", -2.0), written="<b>eins</b>")
    found = ranked(made_of("<b>eins</b> drei", coded, piece(("drei", -1.0), ("vier", -1.5))))
    assert [one.segment.text for one in found.n_best] == ["<b>eins</b> drei", "<b>eins</b> vier"]


def test_what_says_no_scores_has_none():
    translated = Translated(Segment(("a",)), True, 0, ())
    found = ranked(made_of("a", TranslatedPiece(Segment(("b",)), translated)))
    assert (found.score, found.n_best) == (None, ())


def test_the_best_that_fits_is_taken_and_what_never_fits_is_told():
    texts = piece(("much too long", -1.0), ("long", -2.0), ("ok", -3.0))
    for most, expected in ((99, "much too long"), (5, "long"), (3, "ok")):
        found = fitted(ranked(made_of("much too long", texts, width=Width(most))))
        assert found.segment == Segment((expected,))
        assert not found.flags
    found = fitted(ranked(made_of("much too long", texts, width=Width(1))))
    assert found.segment == Segment(("much too long",))
    assert [flag.name for flag in found.flags] == [TOO_WIDE]


def test_what_fits_has_the_placeholders_of_the_text_and_is_known_to_be_taken():
    best = "Wirklich %s löschen?"
    first = piece(("Wirklich %s", -1.0), ("Ja", -2.0), ("Ob %s", -3.0))
    other = piece(("löschen?", -1.0), ("weg?", -1.5))
    for most, expected, fits in (
        (99, best, True),
        (17, "Wirklich %s weg?", True),
        (12, best, False),
    ):
        found = fitted(ranked(made_of(best, first, other, width=Width(most), source="Del %s?")))
        assert found.segment == Segment((expected,))
        assert [flag.name for flag in found.flags] == [TOO_WIDE] * (not fits)
        assert " ".join(chosen(one).text for one in found.evidence) == expected


def test_what_fits_has_a_user_s_own_codes_too():
    texts = piece(("lang ~x~", -1.0), ("ab", -2.0))
    whole = ranked(made_of("lang ~x~", texts, width=Width(4), source="a ~x~"))
    assert fitted(whole).segment == Segment(("ab",))
    own = compiled((r"~\w+~",))
    assert fitted(whole, own).segment == Segment(("lang ~x~",))


def test_no_translation_without_its_codes_is_taken_because_it_fits():
    unit = Unit(Segment(("a", Code("<x/>"))), width=Width(3))
    made = Outcome(unit, Segment(("much", Code("<x/>"))), MODEL)
    assert [flag.name for flag in fitted(made).flags] == [TOO_WIDE]
