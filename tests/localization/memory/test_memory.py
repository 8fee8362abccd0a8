from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from similarity import similarity

from headway.core.cleaning import Pair
from headway.localization.formats.units import Unit
from headway.localization.memory.building import memory_of_pairs
from headway.localization.memory.memory import Memories, Memory
from headway.localization.memory.store import MemoryStore, StoreBuilder
from headway.localization.memory.units import Label, MemoryUnit
from headway.localization.memory.words import normal, read
from headway.localization.placeholders.segments import Code, Segment


def text_unit(
    text: str, key: str = "", before: str | None = None, after: str | None = None
) -> Unit:
    return Unit(Segment((text,)), key=key, before=before, after=after)


def memory(*units: tuple[str, str, int, Label, str, str]) -> Memory:
    builder = StoreBuilder()
    for line, (source, target, file, label, before, after) in enumerate(units, start=1):
        builder.add(MemoryUnit(source, target, line, label, before, after), file)
    return Memory(builder.built(), ["first.tmx", "second.tmx"])


def pairs(*texts: tuple[str, str]) -> Memory:
    return memory_of_pairs(Pair(*text, "m.tsv", line) for line, text in enumerate(texts, start=1))


def test_of_several_the_one_in_context_is_taken_then_the_first_file_the_newest_the_last() -> None:
    plain = Label()
    known = memory(
        ("Open", "key", 1, Label("state"), "x", "y"),
        ("Open", "sides", 1, plain, "File", "Close"),
        ("Open", "both", 1, Label("verb"), "File", "Close"),
        ("Open", "newest", 0, Label("", 20240101000000), "x", "y"),
        ("Open", "old", 0, Label("", 20200101000000), "x", "y"),
        ("Close", "first", 0, plain, "a", "b"),
        ("Close", "last", 0, plain, "a", "b"),
        ("Close", "other file", 1, plain, "a", "b"),
    )

    def best(unit: Unit) -> tuple[str, bool]:
        found = known.exact(unit)
        assert found
        return found.target, found.in_context

    assert best(text_unit("Open", "state")) == ("key", True)
    assert best(text_unit("Open", "", "File", "Close")) == ("sides", True)
    assert best(text_unit("Open", "verb", "File", "Close")) == ("both", True)
    assert best(text_unit("Open", "", "File", "other")) == ("newest", False)
    assert best(text_unit("Open")) == ("newest", False)
    assert best(text_unit("Close")) == ("last", False)
    found = known.exact(text_unit("Open"))
    assert found
    assert (found.percent, found.place, found.n_others) == (100, "first.tmx:4", 4)


@pytest.mark.parametrize("sides", [("", ""), ("February", "April")])
def test_a_text_without_a_key_takes_no_translation_of_a_key_where_its_file_has_one_without(
    sides: tuple[str, str],
) -> None:
    # as in Django's catalogues: the month's name, then the same list of months within a date
    known = memory(
        ("March", "Март", 0, Label(), "February", "April"),
        ("March", "мар.", 0, Label("abbrev. month"), "February", "April"),
        ("March", "марта", 0, Label("alt. month"), "February", "April"),
    )
    wanted = {"": "Март", "abbrev. month": "мар.", "alt. month": "марта", "unheard of": "Март"}
    found = {key: known.exact(text_unit("March", key, *sides)) for key in wanted}
    assert {key: one.target for key, one in found.items() if one} == wanted


def test_outer_white_space_and_composition_are_no_difference() -> None:
    known = pairs(("Cafe\u0301 \n", "Kaffee"))
    found = known.exact(text_unit(" Café"))
    assert found
    assert found.target == "Kaffee"
    assert known.exact(text_unit("café")) is None


def test_near_matches_are_put_right_and_the_best_comes_first() -> None:
    known = pairs(
        ("Step 2 of 5: open the door", "Schritt 2 von 5: Öffnen Sie die Tür"),
        ("Step 2 of 5: close the door", "Schritt 2 von 5: Schließen Sie die Tür"),
        ("Nothing like it", "Nichts dergleichen"),
        ("Step two", "Schritt zwei"),
    )
    first, second = known.near(text_unit("Step 3 of 7: open the door"))
    assert (first.percent, first.target) == (99, "Schritt 3 von 7: Öffnen Sie die Tür")
    assert first.repaired == ("2 -> 3", "5 -> 7")
    assert (second.percent, second.differs) == (85, ("words",))


def test_what_cannot_be_put_right_has_a_lower_percentage() -> None:
    known = pairs(("Copy 2 files", "Kopiere zwei Dateien"))
    (found,) = known.near(text_unit("Copy 3 files"), at_least=50)
    assert (found.percent, found.failed) == (65, ("2 -> 3",))
    assert known.near(text_unit("Copy 3 files"), at_least=70) == []


WORDS = st.lists(st.sampled_from("open the File 1 2 %s <b> now .".split()), min_size=1, max_size=6)
SENTENCES = WORDS.map(" ".join)


@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=20), SENTENCES)
def test_a_memory_finds_what_comparing_with_every_text_finds(
    texts: list[tuple[str, str]], query: str
) -> None:
    known = pairs(*texts)
    asked, unit = read(query), text_unit(query)
    sources = {normal(source) for source, _ in texts}
    exact = known.exact(unit)
    assert (exact is not None) == (asked.text in sources)
    if exact:
        assert exact.target in {target for source, target in texts if normal(source) == asked.text}
    near = known.near(unit, at_least=50, most=99)
    bounds = {s: similarity(asked, read(s)) for s in sources if s != asked.text}
    assert all(50 <= one.percent <= bounds[one.source] for one in near)
    assert len({one.source for one in near}) == len(near)
    never_failing = {s for s, bound in bounds.items() if bound >= 50 and not _marked(s + query)}
    assert never_failing <= {one.source for one in near}
    assert [one.percent for one in near] == sorted((one.percent for one in near), reverse=True)


def _marked(text: str) -> bool:
    return any(sign in text for sign in "12%<")


def test_a_store_that_was_saved_is_the_same_again(tmp_path: Path) -> None:
    known = pairs(
        ("Step 2", "Schritt 2"), ("Open", "Öffnen"), ("\ud800 odd", "Ĳ\0"), ("Open", "Auf")
    )
    known.store.save(tmp_path)
    again = Memory(MemoryStore.load(tmp_path), known.files)
    for text in ("Step 3", "Open", "open", "\ud800 odd", "", "?"):
        unit = text_unit(text)
        assert again.exact(unit) == known.exact(unit)
        assert again.near(unit) == known.near(unit)


def test_an_empty_memory_knows_nothing() -> None:
    known = pairs()
    assert (known.exact(text_unit("a")), known.near(text_unit("a")), len(known)) == (None, [], 0)


def test_what_the_first_of_several_memories_has_goes_before_unless_another_is_in_context() -> None:
    own = memory(("Open", "own", 0, Label(), "a", "b"), ("Step 1", "own 1", 0, Label(), "a", "b"))
    other = memory(
        ("Open", "other", 0, Label("key"), "a", "b"), ("Step 2", "2", 0, Label(), "", "")
    )
    both = Memories([own, other])
    exact = [both.exact(text_unit("Open", key)) for key in ("", "key")]
    assert [one.target.text for one in exact if one] == ["own", "other"]
    assert [(one.percent, one.target.text) for one in both.near(text_unit("Step 3"))] == [
        (99, "own 3"),
        (99, "3"),
    ]
    assert both.exact(text_unit("nothing")) is None


@pytest.mark.parametrize("n", [1, 150])
def test_a_match_has_the_codes_of_its_place(n: int) -> None:
    known = pairs(*[(f"Click <b>OK</b> {i}", f"<b>OK</b> klicken {i}") for i in range(n)])
    bold, end = Code("<b>", "<g id='4'>"), Code("</b>", "</g>")
    unit = Unit(Segment(("Click ", bold, "OK", end, " 0")))
    match = Memories([known]).exact(unit)
    assert match
    assert match.target.parts == (bold, "OK", end, " klicken 0")
    (near, *_) = Memories([known]).near(Unit(Segment(("Click ", bold, "OK", end, " 999"))))
    assert near.percent == 99
    assert near.target.parts == (bold, "OK", end, " klicken 999")
