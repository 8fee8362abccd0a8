import pytest
from doctoring import everyday, found_by, lines_of

from headway.doctor.findings import Severity
from headway.doctor.leftovers import Leftovers


def test_clean_text_holds_no_leftovers() -> None:
    right = [("R&D; AT&T", "a & b"), ('"No," he said.', '"不，"他说。'), ('"Yes!"', "是！")]
    assert found_by(Leftovers, [*everyday(300), *right]) == {}


@pytest.mark.parametrize("entity", ["&quot;", "&#39;", "&#x27;", "&amp;nbsp;", "&frac12;"])
def test_entities_are_found_though_both_sides_have_them(entity: str) -> None:
    found = found_by(Leftovers, [*everyday(30), (f"so {entity}", f"und {entity}")])
    assert set(found) == {"entities"}
    assert lines_of(found["entities"]) == [31]
    assert found["entities"].n == 1


def test_a_table_in_quotation_marks_asks_for_a_look_and_some_direct_speech_does_not() -> None:
    texts = everyday(40)
    quoted = [(f'"{source}"', f'"{target}"') for source, target in texts]
    assert found_by(Leftovers, quoted)["quoted"].severity is Severity.LOOK
    some = found_by(Leftovers, [*texts, *quoted[:3]])
    assert some["quoted"].severity is Severity.INFORMATION
