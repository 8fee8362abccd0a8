"""Schemes of tags: to spans and back; beside seqeval's strict mode."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB1, IOB2, IOBES, Entities

from headway.tagging.schemes import (
    SCHEMES,
    Span,
    may_follow,
    n_violations,
    scheme_of,
    spans_of,
    tags_of,
    transitions,
)
from headway.tagging.scores import tag_scores

KINDS = ["PER", "B", "O-x"]


@st.composite
def spanned(draw: st.DrawFn) -> tuple[list[Span], int]:
    """Spans in order, some of which touch, and how many tokens there are."""
    spans, at = [], 0
    for gap, length, kind in draw(
        st.lists(
            st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(["PER", "B", "O-x"]))
        )
    ):
        spans.append(Span(at + gap, at + gap + length, kind))
        at += gap + length
    return spans, at + draw(st.integers(0, 2))


@given(spanned(), st.sampled_from([*SCHEMES]))
def test_spans_to_tags_and_back_are_the_same_in_every_scheme(case, scheme):
    spans, n = case
    tags = tags_of(spans, n, scheme)
    assert len(tags) == n
    assert spans_of(tags, scheme) == spans
    assert n_violations(tags, scheme) == 0


@given(spanned(), st.sampled_from([*SCHEMES]), st.sampled_from([*SCHEMES]))
def test_tags_of_one_scheme_become_another_and_come_back(case, one, other):
    spans, n = case
    tags = tags_of(spans, n, one)
    through = tags_of(spans_of(tags, one), n, other)
    assert tags_of(spans_of(through, other), n, one) == tags


@given(spanned())
def test_spans_are_those_that_seqeval_finds(case):
    spans, n = case
    spans = [span._replace(kind="PER" if span.kind == "PER" else "LOC") for span in spans]
    for name, theirs in (("IOB1", IOB1), ("IOB2", IOB2), ("BIOES", IOBES)):
        tags = tags_of(spans, n, name)
        if name == "IOB1" and any(tag[0] == "B" for tag in tags):
            continue  # seqeval wants B- behind anything but O; here it stands behind its like alone
        found = [entity.to_tuple()[1:] for entity in Entities([tags], theirs).entities[0]]
        assert sorted((start, end, kind) for kind, start, end in found) == sorted(spans)


@given(st.lists(st.tuples(spanned(), spanned()), min_size=1, max_size=5))
def test_strict_f1_is_that_of_seqeval(cases):
    there, found = [], []
    for (spans, n), (others, m) in cases:
        there.append(tags_of(spans, max(n, m, 1), "BIOES"))
        found.append(tags_of(others, max(n, m, 1), "BIOES"))
    figures = tag_scores(there, found, "BIOES").figures
    options = {"mode": "strict", "scheme": IOBES, "zero_division": 0}
    for name, theirs in (
        ("f1", f1_score),
        ("precision", precision_score),
        ("recall", recall_score),
    ):
        expected = 100 * theirs(there, found, **options) if any(map(any, there)) else 0
        assert figures[name].score == pytest.approx(expected)


def test_the_scheme_of_a_file_is_found():
    spans = [Span(0, 1, "PER"), Span(1, 3, "PER"), Span(4, 8, "LOC")]
    for scheme in SCHEMES:
        assert scheme_of([tags_of(spans, 9, scheme)]) == scheme
    assert scheme_of([["B", "E", "S", "B", "M", "E"]]) == "BMES"  # words, without types
    for plain in (["DT", "NN", "VB"], ["O", "O"], ["B-PER", "NN"], ["I-PER", "M-PER"], ["B-", "O"]):
        assert scheme_of([plain]) is None
    assert scheme_of([["B-PER", "O"]], "BMES") == "IOB2"  # BMES would have S-PER
    assert scheme_of([["S-PER", "O"]], "BMES") == "BMES"


def test_what_a_scheme_forbids_is_counted_and_read_as_conlleval_does():
    tags = ["O", "I-PER", "I-LOC", "O", "B-LOC", "I-LOC"]
    assert n_violations(tags, "IOB2") == 2
    assert spans_of(tags, "IOB2") == [Span(1, 2, "PER"), Span(2, 3, "LOC"), Span(4, 6, "LOC")]
    assert spans_of(["B-X", "O", "M-X", "E-X", "E-X"], "BMES") == [
        Span(0, 1, "X"), Span(2, 4, "X"), Span(4, 5, "X"),
    ]  # fmt: skip


def test_plain_tags_are_a_span_each():
    assert spans_of(["DT", "NN"], None) == [Span(0, 1, "DT"), Span(1, 2, "NN")]
    assert tags_of(spans_of(["DT", "NN"], None), 2, None) == ["DT", "NN"]
    assert transitions(["DT", "NN"], None).all()
    found = tag_scores([["DT", "NN"], ["VB"]], [["DT", "VB"], ["VB"]], None)
    assert [*found.figures] == ["accuracy"]
    assert found.figures["accuracy"].score == pytest.approx(100 * 2 / 3)
    assert {row.label: (row.support, row.predicted) for row in found.labels} == {
        "DT": (1, 1), "NN": (1, 0), "VB": (1, 2),
    }  # fmt: skip


def test_what_may_follow_what_by_hand():
    may = {
        "BIOES": ["O B-X", "B-X I-X", "B-X E-X", "I-X E-X", "E-X S-Y", "S-X S-X", "- S-X", "E-X -"],
        "IOB2": ["O B-X", "B-X I-X", "I-X B-Y", "B-X B-X", "I-X O", "B-X -"],
        "IOB1": ["O I-X", "I-X B-X", "B-X B-X", "I-X I-Y", "- I-X"],
    }
    must_not = {
        "BIOES": ["O I-X", "O E-X", "B-X O", "B-X E-Y", "I-X B-X", "B-X -", "- I-X", "S-X E-X"],
        "IOB2": ["O I-X", "B-X I-Y", "- I-X"],
        "IOB1": ["O B-X", "I-Y B-X", "- B-X"],
    }
    for cases, expected in ((may, True), (must_not, False)):
        for scheme, pairs in cases.items():
            for pair in pairs:
                one, other = (None if tag == "-" else tag for tag in pair.split())
                assert may_follow(one, other, scheme) is expected, (scheme, pair)
