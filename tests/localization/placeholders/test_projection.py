"""Codes carried over by an alignment: each once, in pairs that nest."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.placeholders.patterns import partners
from headway.localization.placeholders.projection import CodeProjection, TokenSpans, without_codes
from headway.localization.placeholders.segments import Code, Segment

MARKUP = re.compile(r"(</?\w{1,2}(?: id=\"\d\")?/?>)")


def segment(text: str) -> Segment:
    """Tags are codes."""
    parts = [Code(p) if MARKUP.fullmatch(p) else p for p in MARKUP.split(text) if p]
    return Segment(tuple(parts))


def tokens(text: str) -> TokenSpans:
    """A token for every word or sign, with the space before it."""
    return TokenSpans(
        text, [match.span() for match in re.finditer(r"\s?(?:[a-zäöü%]+|[^\s])", text, re.I)]
    )


def projected(source: str, target: str, alignment: dict[int, int]) -> str:
    """`alignment`: target word -> source word."""
    plain = without_codes(segment(source))
    pairs = [(looked_at, word) for word, looked_at in alignment.items()]
    spans = tokens(plain.text).spans
    found = CodeProjection(segment(source).codes, plain, spans, tokens(target), pairs)
    return found.segment().text


@pytest.mark.parametrize(
    ("source", "target", "alignment", "expected"),
    [
        ("Click <b>here</b> now.", "Jetzt hier klicken.", {0: 2, 1: 1, 2: 0, 3: 3},
         "Jetzt <b>hier</b> klicken."),
        ("the <i>red</i> <b>house</b>", "la casa roja", {0: 0, 1: 2, 2: 1},
         "la <b>casa</b> <i>roja</i>"),
        ("<g>A <b>good</b> day</g>", "Ein guter Tag", {0: 0, 1: 1, 2: 2},
         "<g>Ein <b>guter</b> Tag</g>"),
        ("Press <x/> twice", "Zweimal drücken", {0: 1, 1: 0}, "<x/> Zweimal drücken"),
        ("Press <x/>", "Drücken", {0: 0}, "Drücken <x/>"),
        ("in his <x/>.", "in der Hand", {0: 0, 1: 2, 2: 1}, "in <x/> der Hand"),
        ("in <x/><b>his</b>.", "in der.", {0: 0, 1: 1, 2: 2}, "in <x/><b>der</b>."),
        ("A man<br/>sits here", "Ein Mann sitzt hier", {0: 0, 1: 1, 2: 2, 3: 3},
         "Ein Mann<br/>sitzt hier"),
        ("A man<br/>(old)", "Ein Mann (alt)", {0: 0, 1: 1, 2: 2, 3: 3, 4: 4},
         "Ein Mann<br/>(alt)"),
        ("A man<br/> sits", "Ein Mann sitzt", {0: 0, 1: 1, 2: 2}, "Ein Mann<br/> sitzt"),
        ("A man <br/>sits", "Ein Mann sitzt", {0: 0, 1: 1, 2: 2}, "Ein Mann <br/>sitzt"),
        ("A man <br/> sits", "Ein Mann sitzt", {0: 0, 1: 1, 2: 2}, "Ein Mann <br/> sitzt"),
        ("A man<br/><br/>sits", "Ein Mann sitzt", {0: 0, 1: 1, 2: 2}, "Ein Mann<br/><br/>sitzt"),
        ("<b>A man</b><br/>sits", "Ein Mann sitzt", {0: 0, 1: 1, 2: 2},
         "<b>Ein Mann</b><br/>sitzt"),
        ("<br/>A man<br/>", "Ein Mann", {0: 0, 1: 1}, "<br/>Ein Mann<br/>"),
        ("File<x/>: lost", "Datei: weg", {0: 0, 1: 1, 2: 2}, "Datei<x/>: weg"),
        ("a <b>blue</b> <i>dog</i>", "蓝狗", {0: 1, 1: 2}, "<b>蓝</b><i>狗</i>"),
        ("no <b></b> words", "keine Worte", {0: 0, 1: 1}, "keine <b></b>Worte"),
        ("<b>not</b> aligned", "gar nicht", {}, "<b></b>gar nicht"),
    ],
)  # fmt: skip
def test_codes_go_where_their_words_went(source, target, alignment, expected):
    assert projected(source, target, alignment) == expected


words = st.lists(st.sampled_from(["one", "two", "drei", "字", ".", "don't", "%s"]), max_size=8)


@st.composite
def nested(draw: st.DrawFn, depth: int = 3) -> str:
    """Words with tags that nest."""
    kinds = ["word", "single", *(["pair"] * (depth > 0))]
    text = ""
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=4)):
        space = draw(st.sampled_from(["", " "]))
        if kind == "word":
            text += draw(st.sampled_from(["one", "two", "字", ",", "%s"])) + space
        elif kind == "single":
            text += f'<x id="{draw(st.integers(1, 2))}"/>' + space
        else:
            name = draw(st.sampled_from("bi"))
            text += f"<{name}>{draw(nested(depth=depth - 1))}</{name}>{space}"
    return text


@given(
    nested(),
    words.map(" ".join),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12),
)
def test_every_code_arrives_once_and_pairs_nest_whatever_the_alignment(source, target, alignment):
    source_segment, target_tokens = segment(source), tokens(target)
    plain = without_codes(source_segment)
    spans = tokens(plain.text).spans
    pairs = [(s, t) for s, t in alignment if s < len(spans) and t < len(target_tokens.spans)]
    result = CodeProjection(source_segment.codes, plain, spans, target_tokens, pairs).segment()
    before, after = ([code.text for code in s.codes] for s in (source_segment, result))
    assert Counter(after) == Counter(before)
    assert framed(after) == framed(before)
    written = "".join(part for part in result.parts if isinstance(part, str))
    assert written.replace(" ", "") == target.replace(" ", "")


def framed(codes: list[str]) -> Counter[tuple[str, str]]:
    return Counter((codes[i], codes[j]) for i, j in partners(codes).items())


@given(nested())
def test_taking_codes_out_keeps_every_word(source):
    plain = without_codes(segment(source))
    kept = "".join(part for part in segment(source).parts if isinstance(part, str))
    assert plain.text.replace(" ", "") == kept.replace(" ", "")
    assert [place.at for place in plain.places] == sorted(place.at for place in plain.places)
    assert all(place.at <= len(plain.text) for place in plain.places)


def test_a_code_never_cuts_a_code_of_the_text_or_a_word():
    result = projected("<b>the</b> %s file", "die %sDatei", {0: 0, 1: 1})
    assert "%s" in result
    assert "Datei" in result


@pytest.mark.parametrize("break_", ["<br/>", "<br>", "<BR />"])
def test_a_line_break_keeps_the_words_beside_it_apart(break_: str) -> None:
    for source in (f"A man{break_}sits", f"A man {break_}sits", f"A man{break_} sits"):
        before, behind = source.split(break_)
        assert without_codes(Segment((before, Code(break_), behind))).text == "A man sits"
    assert without_codes(Segment(("A man", Code("<wbr/>"), "sits"))).text == "A mansits"
