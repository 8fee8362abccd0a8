import pytest
from doctoring import everyday, found_by, lines_of

from headway.doctor.characters import Characters


def test_clean_text_holds_nothing_odd() -> None:
    right = [("L’été — „schön“ … Ångström 100 € µ", "我爱（学习）：「好」。"), ("à É", "नमस्ते ‍क")]
    assert found_by(Characters, [*everyday(300), *right]) == {}


@pytest.mark.parametrize(
    ("text", "name", "detail"),
    [
        ("lost \ufffd here", "replacement_character", "U+FFFD replacement character"),
        ("\uf0b7 item", "private_use", "U+F0B7"),
        ("zero\u200bwidth", "invisible", "U+200B zero width space"),
        ("soft\u00adhyphen", "invisible", "U+00AD soft hyphen"),
        ("bidi \u202etxet", "invisible", "U+202E right-to-left override"),
        ("no \ufdd0 character", "noncharacter", "U+FDD0"),
        ("no \U0001ffff character", "noncharacter", "U+1FFFF"),
        ("schÃ¶n", "mojibake", "should be: schön"),
        ("the c\u0430pital", "mixed_scripts", ""),
    ],
)
@pytest.mark.parametrize("n", [0, 1])
def test_what_is_out_of_place_is_named_with_its_line(
    text: str, name: str, detail: str, n: int
) -> None:
    texts = [list(pair) for pair in everyday(50)]
    texts[29][n] = text
    found = found_by(Characters, texts)
    assert set(found) == {name}
    assert lines_of(found[name]) == [30]
    assert detail in found[name].examples[0].detail
    assert ("source", "target")[n] in found[name].examples[0].detail


def test_scripts_side_by_side_are_no_mixed_word() -> None:
    assert found_by(Characters, [("Moscow is Москва", "USB-кабель и HTML")]) == {}


@pytest.mark.parametrize("text", ["zero\u200bwidth", "schÃ¶n", "the c\u0430pital"])
def test_a_pair_that_shows_it_on_both_sides_is_one_case(text: str) -> None:
    (finding,) = found_by(Characters, [(text, text)]).values()
    assert finding.n == 1
    assert all(side in finding.examples[0].detail for side in ("source", "target"))
