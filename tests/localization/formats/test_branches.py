"""Choices of texts are taken apart and put together with all that is no text as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.formats.branches import branches_of, is_choice
from headway.localization.placeholders.segments import Code, Segment

NUMBER = Code("#", "#")
FILES = "{n, plural, =0 {No files} one {# file} other {# files}}"


def upper(segment: Segment) -> Segment:
    return Segment(tuple(part.upper() if isinstance(part, str) else part for part in segment.parts))


def translated(text: str, language: str | None) -> str | None:
    found = branches_of(Segment((text,)), language)
    if found is None:
        return None
    whole = found.together([Segment((f"<{one.text}>",)) for one in found.sources])
    return whole and whole.text


@pytest.mark.parametrize(
    ("language", "after"),
    [
        ("de", "{n, plural, =0 {<No files>} one {<# file>} other {<# files>}}"),
        ("zh-CN", "{n, plural, =0 {<No files>} other {<# files>}}"),
        (
            "pl",
            "{n, plural, =0 {<No files>} one {<# file>} few {<# files>} many {<# files>}"
            " other {<# files>}}",
        ),
        ("fr", "{n, plural, =0 {<No files>} one {<# file>} other {<# files>}}"),
        (None, "{n, plural, =0 {<No files>} one {<# file>} other {<# files>}}"),
    ],
)
def test_a_plural_has_the_branches_of_the_target_language(language, after):
    assert translated(FILES, language) == after


@pytest.mark.parametrize(
    ("text", "language", "after"),
    [
        ("{n, plural, one {A file} other {# files}}", "ru", "{n, plural, one {<# files>}"
         " few {<# files>} many {<# files>} other {<# files>}}"),
        ("{n, plural, one {A {x} file} other {{n} {x} files}}", "fr",
         "{n, plural, one {<{n} {x} files>} other {<{n} {x} files>}}"),
        ("{n, plural, =0 {No file} one {A file} other {# files}}", "fr",
         "{n, plural, =0 {<No file>} one {<A file>} other {<# files>}}"),
        ("{n, plural, one {A file} other {# files}}", "de",
         "{n, plural, one {<A file>} other {<# files>}}"),
        ("a day|%count% days", "uk", "<%count% days>|<%count% days>|<%count% days>"),
        ("a day|%count% days", "pl", "<a day>|<%count% days>|<%count% days>"),
    ],
)  # fmt: skip
def test_what_is_said_of_one_alone_is_not_said_of_21_or_0(text, language, after):
    assert translated(text, language) == after


def test_what_stands_around_a_choice_is_part_of_each_sentence():
    text = "Hi {name}, {g,select,male{he has}female{she has}other{they have}} {n} mails."
    assert translated(text, "de") == (
        "{g,select,male{<Hi {name}, he has {n} mails.>}female{<Hi {name}, she has {n} mails.>}"
        "other{<Hi {name}, they have {n} mails.>}}"
    )


def test_choices_in_choices_are_taken_apart_to_the_ground():
    text = "{g, select, other {{n, plural, offset:1 one {a # } other {b #}}}} done"
    assert translated(text, "de") == (
        "{g, select, other {{n, plural, offset:1 one {<a #  done>} other {<b # done>}}}}"
    )
    assert translated("{n, plural, other {# cats}} and {m, plural, other {# dogs}}", "zh") is None


@pytest.mark.parametrize(
    "text",
    [
        "{n, plural, one {a} other {b}",
        "{n, plural, one {a}}",
        "{n, plural, other {{n, number, {x}}}}",
        "a # {n, plural, other {b}}",
        "{n, plural, other {b}} }",
        "{a,select,other{" * 50 + "x" + "}}" * 50,
        "".join(f"{{a{n},select,x{{a}}y{{b}}other{{c}}}}" for n in range(5)),
    ],
)
def test_what_cannot_be_taken_apart_is_left(text):
    assert is_choice(Segment((text,)))
    assert branches_of(Segment((text,)), "de") is None


def test_quotes_hide_braces_and_new_apostrophes_do_not():
    text = "{n, plural, other {it''s '{n}' of {m}}}"
    found = branches_of(Segment((text,)), None)
    assert found is not None
    assert found.sources == (Segment(("it''s ", Code("'{n}'", "'{n}'"), " of {m}")),)
    again = found.together(found.sources)
    assert again == Segment((text,))
    whole = found.together([Segment(("l'{m} d'#",))])
    assert whole is not None
    assert whole.text == "{n, plural, other {l''{m} d''#}}"


def test_the_number_of_a_plural_is_a_code_where_it_stands_for_one():
    text = "{g, select, other {#1: {n, plural, one {# {x} file} other {no '#', # of #}}}}"
    assert branches_of(Segment((text,)), "de") is None  # `#1` would become a number
    found = branches_of(Segment((text.replace("#1: ", ""),)), "de")
    assert found is not None
    assert found.sources == (
        Segment((NUMBER, " {x} file")),
        Segment(("no ", Code("'#'", "'#'"), ", ", NUMBER, " of ", NUMBER)),
    )
    select = branches_of(Segment(("{g, select, a {#1} other {#2}}",)), "de")
    assert select is not None
    assert [one.codes for one in select.sources] == [[], []]
    whole = found.together([Segment(("l'", NUMBER, " {x}")), Segment((NUMBER, "'"))])
    assert whole == Segment(("{g, select, other {{n, plural, one {l''# {x}} other {#''}}}}",))


@pytest.mark.parametrize(
    ("end", "written"), [("boys'", "boys''"), ("it''", "it''"), ("x'{n}'", "x''{n}''")]
)
def test_an_apostrophe_at_the_end_does_not_hide_the_brace_behind_it(end, written):
    found = branches_of(Segment(("{n, plural, other {a}}",)), None)
    assert found is not None
    whole = found.together([Segment((end,))])
    assert whole is not None
    assert whole.text == f"{{n, plural, other {{{written}}}}}"


@pytest.mark.parametrize("wrong", ["a}", "{", "{x, plural, other {y}}", "'{"])
def test_a_translation_that_would_break_the_message_is_not_taken(wrong):
    found = branches_of(Segment((FILES,)), "de")
    assert found is not None
    assert found.together([Segment((wrong,)), Segment(("a",)), Segment(("b",))]) is None


def test_codes_of_the_file_stay_in_their_branches():
    bold, end = Code("<b>", "<g id='1'>"), Code("</b>", "</g>")
    source = Segment(("{n, plural, one {", bold, "# file", end, "} other {# files}}"))
    found = branches_of(source, "de")
    assert found is not None
    assert found.sources[0] == Segment((bold, NUMBER, " file", end))
    whole = found.together([upper(one) for one in found.sources])
    assert whole == Segment(("{n, plural, one {", bold, "# FILE", end, "} other {# FILES}}"))


@pytest.mark.parametrize(
    ("text", "language", "after"),
    [
        ("a|b", "de", "<a>|<b>"),
        ("one car | many cars", "ru", "<one car >|< many cars>"),
        ("{0} none|{1} %count% one|]1,Inf] %count%", "ru", "{0} <none>|{1} <%count% one>|]1,Inf] "
         "<%count%>"),
        ("a {{ limit }} day|{{ limit }} days", "zh", "<{{ limit }} days>|<{{ limit }} days>"),
        ("a {{ limit }} day|{{ limit }} days", "de", "<a {{ limit }} day>|<{{ limit }} days>"),
        (":count day|:count days", "ru", "<:count day>|<:count days>|<:count days>"),
    ],
)  # fmt: skip
def test_each_part_between_bars_is_a_text(text, language, after):
    assert translated(text, language) == after


@pytest.mark.parametrize("text", ["see |name| there", "use (a|b) here", "a||b", "|", "a |", "x"])
def test_bars_that_part_nothing_are_left(text):
    assert branches_of(Segment((text,)), "de") is None
    found = branches_of(Segment(("a|b",)), "de")
    assert found is not None
    assert found.together([Segment(("c|d",)), Segment(("e",))]) is None


TREES = st.recursive(
    st.sampled_from(["# a", "it''s {x} b", "'{x}' '#' c", " d "]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda t: f"{{n, plural, one {{{t[0]}}} other {{{t[1]}}}}}"),
        st.tuples(inner, inner).map(lambda t: f"{{g,select,a{{{t[0]}}}other{{{t[1]}}}}}"),
    ),
    max_leaves=6,
)


@given(tree=TREES)
def test_a_translation_that_changes_nothing_gives_the_message_back(tree):
    found = branches_of(Segment((tree,)), "en")
    if found is not None:
        whole = found.together(found.sources)
        assert whole is not None
        assert whole.text == tree


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("one|many", 3),
        ("an apple|apples", 3),
        ("city|cities", 3),
        ("Yes|No", 2),
        ("Open|Closed", 2),
    ],
)
def test_parts_of_one_and_of_many_are_as_many_as_polish_forms(text, n):
    found = branches_of(Segment((text,)), "pl")
    assert found is not None
    assert len(found.sources) == n
