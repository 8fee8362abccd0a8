"""A text is read alike whole and character by character."""

from hypothesis import example, given
from hypothesis import strategies as st

from headway.text.terms.holding import Holding, Spelling, Wanted, Where

SPELLINGS = (
    Spelling("ab", open_end=True),
    Spelling("硬件"),
    Spelling("Cd", where=Where.OPENING),
    Spelling("cd", where=Where.INSIDE),
)
TEXT = st.text(st.sampled_from("abCdx. ,硬件和3!\n"), max_size=12)


@given(st.sets(st.sampled_from(SPELLINGS)), TEXT, TEXT)
@example(set(), "x. ", "cd")
@example({SPELLINGS[0]}, "a", "b")
def test_what_no_spelling_begins_in_is_passed_as_if_read(wanted, before, text) -> None:
    holding = Holding([Wanted((one,)) for one in sorted(wanted)])
    begun = holding.start()
    for character in before:
        begun = holding._read(begun, character)
    one_by_one = begun
    for character in text:
        one_by_one = holding._read(one_by_one, character)
    assert holding.read(begun, text) == one_by_one
