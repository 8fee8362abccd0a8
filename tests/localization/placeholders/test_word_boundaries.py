"""A tag stands between words of the output, unless its source has one inside of a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.placeholders.codes import parsed_text, repaired
from headway.localization.placeholders.word_boundaries import inside_words


@pytest.mark.parametrize(
    ("source", "written", "expected"),
    [
        ("a <b>small</b> dog", "ein kle<b>iner</b> Hund", "ein <b>kleiner</b> Hund"),
        ("a <b>small</b> dog", "ein <b>klei</b>ner Hund", "ein <b>kleiner</b> Hund"),
        ("a <b>small</b> dog", "<b>ei</b>n Hund", "<b>ein</b> Hund"),
        ("a <br/> dog", "ein Hu<br/>nd", "ein Hund<br/>"),
        ("a <b>small</b> dog", "ein 3<b>.5</b> Hund", "ein <b>3.5</b> Hund"),
        ("a <b>small</b> dog", "don'<b>t</b> Hund", "<b>don't</b> Hund"),
        ("a <b><i>small</i></b> dog", "kle<b><i>iner</i></b>", "<b><i>kleiner</i></b>"),
        ("a <b>small</b> dog", "一<b>只小</b>狗", "一<b>只小</b>狗"),
        ("un<b>believ</b>able", "un<b>glaub</b>lich", "un<b>glaub</b>lich"),
        ("see {x} now", "si{x}ehe", "si{x}ehe"),
        ("a <b>small</b> dog", "ein <b>kleiner</b>Hund", "ein <b>kleinerHund</b>"),
        ("no tag", "kein Tag", "kein Tag"),
    ],
)
def test_a_tag_in_a_word_goes_to_its_end(source, written, expected) -> None:
    done = repaired(parsed_text(source), parsed_text(written))
    assert done.text == expected
    again = repaired(parsed_text(source), done)
    assert again.text == expected


pieces = st.lists(st.sampled_from(["<b>", "</b>", "<br/>", "ab", "c", " ", "?", "中", "1"]))


@given(pieces)
def test_none_is_left_in_a_word_and_nothing_else_changes(some) -> None:
    written = parsed_text("".join(some))
    plain = "".join(one for one in some if one[:1] not in "<")
    source = parsed_text(" ".join(code.text for code in written.codes))
    done = repaired(source, written)
    assert sorted(code.text for code in done.codes) == sorted(c.text for c in written.codes)
    assert not inside_words(done)
    if done.text.count("<") == written.text.count("<"):
        bare = "".join(part for part in done.parts if isinstance(part, str))
        assert bare.replace(" ", "") == plain.replace(" ", "")


def test_tags_inside_of_words_are_counted() -> None:
    assert inside_words(parsed_text("ein kle<b>iner</b> H<br/>und")).total() == 2
    assert inside_words(parsed_text("un<b>believ</b>able")).total() == 2
    assert inside_words(parsed_text("<b>ein</b> Hund一<b>只</b>狗 a%sb")).total() == 0
