"""A model that takes a line or a sentence at a time translates whole segments."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from headway.localization.formats.piecewise import (
    CHOICE,
    CUT,
    MISSING,
    SILENT,
    Piecewise,
    Translated,
)
from headway.localization.placeholders.segments import Code, Segment

CODE = Code("<br/>")


class Translation(NamedTuple):
    segment: Segment
    complete: bool
    n_cut: int


class Shouting:
    """Writes capitals; takes at most `limit` characters, and loses codes of what it takes."""

    def __init__(self, limit: int = 30) -> None:
        self.limit = limit
        self.asked: list[str] = []

    def __call__(self, segments: list[Segment]) -> Sequence[Translated]:
        self.asked += [segment.text for segment in segments]
        return [
            Translation(
                Segment(
                    tuple(part.upper() if isinstance(part, str) else part for part in one.parts)
                    if "silence" not in one.text
                    else (" ",)
                ),
                not one.codes,
                max(0, len(one.text) - self.limit),
            )
            for one in segments
        ]


def text(string: str) -> Segment:
    return Segment((string,))


@pytest.mark.parametrize(
    "source",
    ["one", "  one\n\ttwo\n\n", "A long line. Of three sentences! Each of them fits.\nshort", "--"],
)
def test_white_space_and_lines_stay_where_they_are(source):
    piecewise = Piecewise(Shouting())
    list(piecewise.run([text(source)]))
    assert piecewise.whole(text(source)).segment == text(source.upper())


def test_what_fits_is_not_cut_into_sentences():
    shouting = Shouting()
    sources = [text("One. Two.\nThree."), text("A line that is too long. It has two sentences.")]
    list(Piecewise(shouting).run(sources))
    assert shouting.asked == [
        "One. Two.", "Three.", "A line that is too long. It has two sentences.",
        "A line that is too long.", "It has two sentences.",
    ]  # fmt: skip


def test_what_is_too_long_in_sentences_too_is_left():
    piecewise = Piecewise(Shouting(limit=5))
    sources = [text("short. but this is not."), text("endless"), text("One.\nendless")]
    list(piecewise.run(sources))
    assert [piecewise.whole(source)[:1] for source in sources] == [(None,)] * 3
    assert {piecewise.whole(source).why_not for source in sources} == {CUT}


def test_silence_and_lost_codes_are_told():
    piecewise = Piecewise(Shouting())
    silent, coded = text("one\nsilence"), Segment(("one", CODE, "two\nthree"))
    list(piecewise.run([silent, coded]))
    assert piecewise.whole(silent)[:3] == (None, True, SILENT)
    assert piecewise.whole(coded)[:3] == (Segment(("ONE", CODE, "TWO\nTHREE")), False, "")


def test_each_piece_is_translated_once_and_what_is_blank_not_at_all():
    shouting = Shouting()
    sources = [text("a\nb\na"), text("b"), text("..."), Segment((CODE,)), Segment()]
    piecewise = Piecewise(shouting)
    assert list(piecewise.run(sources)) == [(2, 2)]
    assert shouting.asked == ["a", "b"]
    assert [piecewise.whole(source).segment for source in sources[2:]] == sources[2:]


def test_what_was_not_reached_is_told():
    piecewise = Piecewise(Shouting())
    assert piecewise.whole(text("a"))[:3] == (None, True, MISSING)


def test_a_choice_of_texts_is_translated_branch_by_branch():
    shouting = Shouting()
    piecewise = Piecewise(shouting, "ru")
    plural, bars = text("{n, plural, =0 {none} other {a dog}}"), text("%d day|%d days")
    list(piecewise.run([plural, bars, text("a set, plural")]))
    assert shouting.asked == ["none", "a dog", "%d day", "%d days", "a set, plural"]
    assert piecewise.whole(plural).segment == text(
        "{n, plural, =0 {NONE} one {A DOG} few {A DOG} many {A DOG} other {A DOG}}"
    )
    assert piecewise.whole(bars).segment == text("%D DAY|%D DAYS|%D DAYS")


def test_a_choice_that_cannot_be_taken_apart_is_left_and_told():
    shouting = Shouting()
    piecewise = Piecewise(shouting)
    broken = text("{n, plural, one {a}}")
    list(piecewise.run([broken]))
    assert not shouting.asked
    assert piecewise.whole(broken)[:3] == (None, True, CHOICE)
    silent = text("{n, plural, other {silence}}")
    list(piecewise.run([silent]))
    assert piecewise.whole(silent).why_not == SILENT
