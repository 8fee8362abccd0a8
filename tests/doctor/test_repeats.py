from collections.abc import Callable

import pytest
from doctoring import as_pairs, everyday, lines_of

from headway.doctor.batches import batches
from headway.doctor.findings import Finding, FindingsLog
from headway.doctor.repeats import RepeatCheck

Texts = list[tuple[str, str]]
Look = Callable[..., dict[str, Finding]]


@pytest.fixture
def look() -> Look:
    def at(train: Texts, valid: Texts = [], notes: FindingsLog | None = None) -> dict[str, Finding]:  # noqa: B006
        notes = notes or FindingsLog()
        check = RepeatCheck(notes, batches(as_pairs(valid, "v")), lambda: iter(as_pairs(train)))
        for batch in batches(as_pairs(train)):
            check.add(batch)
        check.conclude()
        notes.conclude(check.symptoms, len(train))
        return {finding.name: finding for finding in notes.findings()}

    return at


def test_different_pairs_are_no_finding(look: Look) -> None:
    pairs = everyday(1_000)
    assert look(pairs[:800], pairs[800:]) == {}
    assert look([]) == {}


def test_near_duplicates_are_named_with_what_they_repeat(look: Look) -> None:
    texts = [*everyday(50), ("Item 1.", "Teil 1."), ("x", "y"), ("ITEM 2", "teil 2!")]
    found = look([*texts, ("item", "Teil")])
    assert set(found) == {"near_duplicate"}
    assert lines_of(found["near_duplicate"]) == [53, 54]
    assert {case.detail for case in found["near_duplicate"].examples} == {"as f:51"}


def test_another_translation_of_the_same_source_is_named(look: Look) -> None:
    found = look([("Yes.", "Ja."), ("No.", "Nein."), ("yes", "Doch!")])
    assert set(found) == {"translated_twice"}
    (case,) = found["translated_twice"].examples
    assert (case.line, case.detail) == (3, "as f:1")


def test_validation_text_that_is_nearly_in_training_is_named(look: Look) -> None:
    train = [*everyday(30), ("the end", "fin"), ("other", "DAS ENDE")]
    found = look(train, [("The End!", "das Ende"), ("not there", "nicht da")])
    assert lines_of(found["near_leakage"]) == [31, 32]


def test_repeats_are_those_of_a_set(look: Look) -> None:
    texts = [(f"s{'ab'[i % 2] * (i % 37)}", f"t{'x' * (i % 41)}") for i in range(9_000)]
    found = look(texts)
    assert found["near_duplicate"].n == len(texts) - len(set(texts)) > 1_000


def test_whoever_listens_hears_every_repeat(look: Look) -> None:
    heard: list[int] = []
    notes = FindingsLog(lambda _symptom, pair, _detail: heard.append(pair.line))
    found = look([("a", "b")] + [(f"a {i}", f"b {i}") for i in range(30)], notes=notes)
    assert heard == list(range(2, 32))
    assert found["near_duplicate"].n == 30
