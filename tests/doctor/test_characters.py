import pytest
from doctoring import everyday, found_by, lines_of

from headway.doctor.characters import CharacterCheck, lost_letter


def test_clean_text_holds_nothing_odd() -> None:
    right = [("L’été — „schön“ … Ångström 100 € µ", "我爱（学习）：「好」。"), ("à É", "नमस्ते ‍क")]
    right += [("R&D; AT&T", "a & b")]
    assert found_by(CharacterCheck, [*everyday(300), *right]) == {}


@pytest.mark.parametrize(
    ("text", "name", "detail"),
    [
        ("lost \ufffd here", "replacement_character", "U+FFFD replacement character"),
        ("zero\u200bwidth", "invisible", "U+200B zero width space"),
        ("soft\u00adhyphen", "invisible", "U+00AD soft hyphen"),
        ("bidi \u202etxet", "invisible", "U+202E right-to-left override"),
        ("schÃ¶n", "mojibake", "should be: schön"),
    ],
)
@pytest.mark.parametrize("n", [0, 1])
def test_what_is_out_of_place_is_named_with_its_line(
    text: str, name: str, detail: str, n: int
) -> None:
    texts = [list(pair) for pair in everyday(50)]
    texts[29][n] = text
    found = found_by(CharacterCheck, texts)
    assert set(found) == {name}
    assert lines_of(found[name]) == [30]
    assert detail in found[name].examples[0].detail
    assert ("source", "target")[n] in found[name].examples[0].detail


@pytest.mark.parametrize("text", ["zero\u200bwidth", "schÃ¶n"])
def test_a_pair_that_shows_it_on_both_sides_is_one_case(text: str) -> None:
    (finding,) = found_by(CharacterCheck, [(text, text)]).values()
    assert finding.n == 1
    assert all(side in finding.examples[0].detail for side in ("source", "target"))


@pytest.mark.parametrize("entity", ["&quot;", "&#39;", "&#x27;", "&amp;nbsp;", "&frac12;"])
def test_entities_are_found_though_both_sides_have_them(entity: str) -> None:
    found = found_by(CharacterCheck, [*everyday(30), (f"so {entity}", f"und {entity}")])
    assert set(found) == {"entities"}
    assert lines_of(found["entities"]) == [31]
    assert found["entities"].n == 1


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
