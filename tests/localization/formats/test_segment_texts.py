"""Segments on their way to a model and back."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from headway.localization.formats.splitting import restored, stripped, trimmed
from headway.localization.placeholders.codes import parsed
from headway.localization.placeholders.segments import Code, Segment

parts = st.lists(
    st.one_of(
        st.text(alphabet="ab \n%s\u00a0", max_size=6),
        st.tuples(st.sampled_from(["<b>", "%s", "\n"]), st.sampled_from(["", "raw"])),
    )
)


def segment_of(drawn: list[str | tuple[str, str]]) -> Segment:
    return Segment(tuple(part if isinstance(part, str) else Code(*part) for part in drawn))


@given(parts)
def test_what_is_not_changed_comes_back_as_it_was(drawn):
    segment = segment_of(drawn)
    prepared = trimmed(segment)
    back = restored(segment, prepared, parsed(prepared.segment))
    assert Counter(back.codes) == Counter(segment.codes)
    assert back.text == segment.text


@given(parts)
def test_only_white_space_around_is_stripped_and_nothing_inside_is_cleaned(drawn):
    segment = segment_of(drawn)
    before, inside, after = stripped(segment)
    assert before + inside.text + after == segment.text
    assert not (before + after).strip()
    assert restored(segment, stripped(segment), inside).text == segment.text
    assert inside.codes == segment.codes
    ends = [part for part in (*inside.parts[:1], *inside.parts[-1:]) if isinstance(part, str)]
    assert all(end.strip() for end in ends)


@given(parts)
def test_the_model_sees_one_clean_line_without_outer_space(drawn):
    prepared = trimmed(segment_of(drawn)).segment
    for part in prepared.parts:
        assert not isinstance(part, str) or not set(part) & set("\n\r\t")
    if prepared.parts and isinstance(prepared.parts[0], str):
        assert prepared.parts[0] == prepared.parts[0].lstrip()
    if prepared.parts and isinstance(prepared.parts[-1], str):
        assert prepared.parts[-1] == prepared.parts[-1].rstrip()


def test_line_ends_inside_are_codes_and_white_space_around_stays():
    segment = Segment(("\n two\nlines ", Code("<b>", "x"), "\n"))
    prepared = trimmed(segment)
    assert prepared.before == "\n "
    assert prepared.after == "\n"
    assert prepared.segment.parts == ("two", Code("\n"), "lines ", Code("<b>", "x"))


def test_only_the_files_own_codes_are_codes_in_the_file():
    segment = Segment(("a %s ", Code("%s", '<ph x="1"/>'), " b"))
    translated = Segment(("b ", Code("%s", '<ph x="1"/>'), Code("%s"), " a"))
    result = restored(segment, trimmed(segment), translated)
    assert result.parts == ("b ", Code("%s", '<ph x="1"/>'), "%s a")
