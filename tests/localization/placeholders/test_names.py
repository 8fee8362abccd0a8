"""Names told by their form: codes where the model cannot know them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.placeholders.codes import parsed
from headway.localization.placeholders.may_hold import may_hold_codes
from headway.localization.placeholders.names import OwnCodes, located, names_in
from headway.localization.placeholders.segments import Code, Segment


def found(text, known=()):
    return [text[a:b] for a, b in names_in(text, lambda whole, a, b: whole[a:b] in known)]


@pytest.mark.parametrize(
    "name",
    "headway-XR500 AcmeCorp iPhone XR500 COVID-19 v1.2.3 3.10.2 1.2.3-rc1 README.md MP3 LaTeX "
    "Report-May.xlsx my-AcmeCorp ISO8601 x86 H2O".split(),
)
def test_names_are_told_by_their_form(name) -> None:
    assert found(f"The {name} dog, {name}.") == [name, name]
    assert may_hold_codes(f"The {name} dog.")
    assert found(name, {name}) == []


@pytest.mark.parametrize(
    "text",
    [
        "The Dog is BIG. It's NATO's T-Shirt and X-Ray.",
        "on 12.10.2020 or 1.2.21, 10 km, 3rd, 1990s, 5km, 2nd, 10am",
        "3.14 is pi; 1,000.50; well-known; e.g. Jean-Luc",
        "PCs, CDs and LehrerInnen, end.The next",
        "用中文写的",
    ],
)
def test_words_numbers_and_dates_are_no_names(text) -> None:
    assert found(text) == []


@given(st.text(st.sampled_from("aB1.-_ é中"), max_size=12))
def test_the_door_is_open_wherever_a_name_is_found(text) -> None:
    if found(text):
        assert may_hold_codes(text)


def test_names_are_codes_beside_all_others() -> None:
    own = OwnCodes(lambda text, a, b: text[a:b] == "AcmeCorp")
    segment = Segment(("An XR5 by AcmeCorp: %s ", Code("<b>", "<b>"), "XR5"))
    assert [code.text for code in own.parsed(segment).codes] == ["XR5", "%s", "<b>", "XR5"]
    assert [code.text for code in own.alone(segment).codes] == ["XR5", "<b>", "XR5"]
    assert own.alone(segment).text == segment.text


def test_an_output_has_the_names_of_its_source_and_no_others() -> None:
    source = OwnCodes(lambda text, a, b: False).parsed(Segment(("The XR5 is here",)))
    output = Segment(("XR5、XR50和AB7 %s",))
    assert [code.text for code in located(output, source).codes] == ["XR5", "%s"]
    assert located(output, parsed(source)).text == output.text
