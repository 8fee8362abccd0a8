"""What the hint lets pass unseen holds no code."""

import csv
import re
from pathlib import Path

import pytest
from code_samples import SAMPLES
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headway.localization.placeholders import kinds as code_kinds
from headway.localization.placeholders import patterns as code_patterns
from headway.localization.placeholders.may_hold import may_hold_codes

signs = st.text(st.sampled_from("aZ7é字 .:-()/<>&%{}`$|\\@[]_#w\ue000\uf8ff"), max_size=12)
pieces = st.lists(st.sampled_from([*SAMPLES, "www.", "doi:", "mailto:", "a", " "]) | signs)


def holds_codes(text: str) -> bool:
    """By the patterns alone: no hint is asked."""
    return bool(code_patterns._codes()[0].search(text) or code_patterns._PRIVATE.search(text))


@settings(max_examples=300)
@given(pieces)
@example(["www.-"])
@example(["x ", "3.5 a.b"])
def test_no_text_that_holds_a_code_passes_unseen(some: list[str]) -> None:
    text = "".join(some)
    assert may_hold_codes(text) or not holds_codes(text)


@settings(max_examples=300)
@given(pieces)
@example(["1http://a.b"])
@example(["_C:\\x"])
def test_no_code_begins_where_none_is_looked_for(some: list[str]) -> None:
    anywhere = re.compile("|".join(code_kinds.PATTERNS.values()), re.VERBOSE | re.ASCII)
    found, expected = (
        [match.span() for match in pattern.finditer("".join(some))]
        for pattern in (code_patterns._codes()[0], anywhere)
    )
    assert found == expected


@pytest.mark.parametrize("kind", code_kinds.PATTERNS)
def test_no_code_of_any_kind_passes_unseen(kind: str) -> None:
    pattern = re.compile(code_kinds.PATTERNS[kind], re.VERBOSE | re.ASCII)

    @settings(max_examples=25)
    @given(st.from_regex(pattern, fullmatch=True), signs)
    def check(code: str, around: str) -> None:
        for text in (code, around + code + around):
            assert may_hold_codes(text) or not holds_codes(text)

    check()


@pytest.mark.parametrize("code", SAMPLES)
def test_every_known_code_is_seen_inside_of_words(code: str) -> None:
    assert may_hold_codes(f"one {code} two")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The cat (a well-known one) cost 3.5 million: too much, at 10:30 a. m.?",
        "我们爱猫；它们也爱我们。",
        "“Größer – so what…” he didn't say!",
    ],
)
def test_plain_text_is_not_asked_further(text: str) -> None:
    assert not may_hold_codes(text)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("%n file(s) copied to %1 (%L2)", ["%n", "%1", "%L2"]),
        ("@count items by @user, !name and %label.", ["@count", "@user", "!name", "%label"]),
        ("The :attribute must be :min to :max.", [":attribute", ":min", ":max"]),
        ("100 %n or 50%n, 5%1", ["%n"]),
        ("at 10:30, a:b, Note:this; @ home, me@x.com", ["me@x.com"]),
        ("Wow! that is so !", []),
        ("see x[:end] or ::double", []),
    ],
)
def test_placeholders_of_qt_drupal_and_laravel(text: str, codes: list[str]) -> None:
    assert [text[start:end] for start, end, _ in code_patterns.find(text)] == codes


def kinds_of_codes() -> list[tuple[str, str, str]]:
    """Name, code, and where it is one, of each row of the benchmark's table."""
    table = Path(__file__).parents[3] / "benchmarks" / "code_kinds.tsv"
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(name, code, where) for name, code, where in rows[1:]]


EVERYWHERE = [row[:2] for row in kinds_of_codes() if row[2] == "*"]


@pytest.mark.parametrize(("name", "code"), EVERYWHERE, ids=[name for name, _ in EVERYWHERE])
@pytest.mark.parametrize("begins", [False, True])
def test_every_kind_of_placeholder_is_seen_whole(name: str, code: str, begins: bool) -> None:
    opening, framing, closing = code.partition(" … ")
    text = f"{opening}runs{closing}" if framing else opening
    text = f"{text} fast." if begins else f"The dog, {text} in the street"
    expected = [opening, closing] if framing else [opening]
    assert [text[start:end] for start, end, _ in code_patterns.find(text)] == expected


def test_a_hundred_kinds_and_more_are_known() -> None:
    assert len(EVERYWHERE) >= 100


@pytest.mark.parametrize(
    "text",
    [
        "It cost $5, US$ 10 or $US 12; $A and $3.50 (50% off, 100 % sure).",
        "He said [sic] that [s]he, no. 3, had 2 * 3 * 4 = 24 'or so'.",
        "We're there: a < b and c > d; C# and F#, AT&T, R&D, he/she.",
        "{see the manual} { } [optional] [1] (see: note) 10:30, 5:0",
    ],
)
def test_plain_prose_holds_no_placeholder(text: str) -> None:
    assert code_patterns.find(text) == []


@pytest.mark.parametrize("code", [code for _, code in EVERYWHERE if " … " in code])
def test_codes_that_frame_text_are_partners(code: str) -> None:
    if "{%" not in code and "<%" not in code:  # what these do is written in a language
        assert code_patterns.partners(code.split(" … ")) == {0: 1}


@given(st.lists(st.sampled_from(("<b>", "</b>", "<i>", "</i>", "`", "![", "](x)", "<br/>", "%s"))))
def test_a_code_that_closes_belongs_to_the_nearest_that_is_open(codes: list[str]) -> None:
    """By looking back over all of them."""
    expected: dict[int, int] = {}
    gone: set[int] = set()
    for place, code in enumerate(codes):
        role = code_patterns.frame(code)
        opened = [
            n
            for n in range(place)
            if n not in gone and role and (one := code_patterns.frame(codes[n])) and one.opens
            if one.name == role.name
        ]
        if role and role.closes and opened:
            expected[opened[-1]] = place
            gone |= set(range(opened[-1], place + 1))
    assert code_patterns.partners(codes) == expected
