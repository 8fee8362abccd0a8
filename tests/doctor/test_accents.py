import random

import pytest
from doctoring import as_pairs

from headway.doctor.accents import Accents, lost_letter
from headway.doctor.batches import batches
from headway.doctor.findings import Finding, FindingsLog

WORDS = "höher grün für Gärten über läuft schön Tür Mädchen groß Haus Baum Weg und der".split()
BARE = str.maketrans("äöüß", "aous")


def texts(n: int) -> list[tuple[str, str]]:
    draw = random.Random(1)
    return [(f"text {i}", " ".join(draw.choices(WORDS, k=8))) for i in range(n)]


def found(pairs: list[tuple[str, str]]) -> dict[str, Finding]:
    notes = FindingsLog()
    check = Accents(notes, as_pairs(pairs))
    for batch in batches(as_pairs(pairs)):
        check.add(batch)
    check.conclude()
    return {finding.name: finding for finding in notes.findings()}


def test_texts_whose_accents_were_taken_off_are_named() -> None:
    pairs = texts(400)
    assert found(pairs) == {}
    rows = (7, 100, 333)
    for row in rows:
        pairs[row] = pairs[row][0], pairs[row][1].translate(BARE)
    finding = found(pairs)["accents_missing"]
    assert sorted(case.line for case in finding.examples) == [row + 1 for row in rows]
    assert finding.examples[0].detail.startswith("target: ")


def test_a_single_word_tells_however_many_texts_lost_their_accents() -> None:
    pairs = texts(400)
    for row in range(0, 400, 10):
        pairs[row] = pairs[row][0], "Haus und Weg der Haus uber"
    finding = found(pairs)["accents_missing"]
    assert finding.n == 40
    assert finding.examples[0].detail == "target: uber"


def test_words_that_are_written_both_ways_say_nothing() -> None:
    pairs = [
        (f"t {i}", "schon schön mutter mütter" if i % 2 else "schon mutter") for i in range(90)
    ]
    assert found(pairs) == {}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Das M?dchen l?uft.", "The girl runs."),
        ("?ber das Haus", "Over the house"),
        ("???? ?? ????????", "He is there"),
        ("le gar?on", "the boy"),
    ],
)
def test_question_marks_for_letters(text: str, other: str) -> None:
    assert lost_letter(text, other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Really? Yes.", "Wirklich? Ja."),
        ("Open http://a.b/c?d=e now", "Öffne"),
        ("你好吗?我很好", "How are you?"),
        ("What??? No????", "Was??? Nein????"),
        ("a ? b : c", "x"),
        ("use x?y", "nimm x?y"),
        ("Is he there?No.", "Ist er da?Nein."),
    ],
)
def test_question_marks_that_belong(text: str, other: str) -> None:
    assert lost_letter(text, other) == ""
