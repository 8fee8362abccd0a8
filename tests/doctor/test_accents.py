import random

from doctoring import as_pairs, found_by

from headway.doctor.accents import AccentCheck
from headway.doctor.findings import Finding

WORDS = "höher grün für Gärten über läuft schön Tür Mädchen groß Haus Baum Weg und der".split()
BARE = str.maketrans("äöüß", "aous")


def texts(n: int) -> list[tuple[str, str]]:
    draw = random.Random(1)
    return [(f"text {i}", " ".join(draw.choices(WORDS, k=8))) for i in range(n)]


def found(pairs: list[tuple[str, str]]) -> dict[str, Finding]:
    return found_by(lambda log: AccentCheck(log, as_pairs(pairs)), pairs)


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
