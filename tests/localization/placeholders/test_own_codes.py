"""Patterns of the user's own: read, refused, found in linear time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import ConfigError, DataError
from headway.localization.placeholders import own_codes
from headway.localization.placeholders.own_codes import (
    MOST_CHARACTERS,
    compiled,
    patterns_of,
    read_patterns,
    why_refused,
)


def test_a_pattern_a_line_and_comments_and_blank_lines_are_none(tmp_path) -> None:
    file = tmp_path / "codes.txt"
    file.write_text("# our own\n\n\\$[A-Z]+\\$\n  <<\\d+>>  \n", encoding="utf-8")
    assert read_patterns(file) == [r"\$[A-Z]+\$", r"<<\d+>>"]
    assert patterns_of([str(file), str(file)]) == [r"\$[A-Z]+\$", r"<<\d+>>"]


@pytest.mark.parametrize("line", ["(abc", "a*", "[z-a]", "x" * 501, "x(?=y)", r"(a)\1", "(?>a)b"])
def test_a_line_that_is_no_pattern_is_named(tmp_path, line) -> None:
    file = tmp_path / "codes.txt"
    file.write_text(f"ok\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"codes\.txt:2"):
        read_patterns(file)


def test_a_file_without_a_pattern_is_refused(tmp_path) -> None:
    file = tmp_path / "codes.txt"
    file.write_text("# nothing\n")
    with pytest.raises(DataError, match="has 0"):
        read_patterns(file)


USUAL = (
    r"@[\w-]+(?:\.[\w-]+)*",
    r"\{\{.*?\}\}",
    r"%[A-Z]+(?:_[A-Z]+)+%",
    r"(?:\w+\.)+html",
    r"(?i)ref[:#]\s?\d{2,4}",
    r"(?:foo|ba[rz])-\d+",
    r"(?P<q>['\"])x",
    r"\[\d*\]|\(\d*\)",
    r"a{,3}b",
    r"a|ab|abc",
    r"[]\u0041]+\u0042",
    r"[^\w\s]+x",
    r"\$\W\S+",
    r"[\D.]q",
    r"^x+",
    r"y+$",
)
SIGNS = "ab xy\u00e9\u0661\u017f@-._[]{}%A_B$'ref:12\u00a0\x85foo"
HOSTILE = (
    r"(?:a|){300}!",
    r"(?i)(?:\u017fx|sx)+!",
    r"(a+)+b",
    r"(?:a*)*b",
    r"\w*\w*\w*!",
    r"(?:[ab]+[bc]+)+d",
    r".*=.*;",
    r"a[^b]*b|a",
)


@pytest.mark.parametrize("pattern", USUAL)
@given(
    text=st.text(alphabet="ab xy\u00e9\u0661\u017f@-._[]{}%A_B$'ref:12\u00a0\x85foo", max_size=40)
)
def test_a_pattern_stands_where_it_stands_to_python(pattern, text) -> None:
    [own] = compiled((pattern,))
    assert list(own.spans(text)) == [m.span() for m in re.finditer(pattern, text) if m[0]]


def test_a_code_is_found_wherever_it_stands_in_a_long_text() -> None:
    [own] = compiled((r"<\w+>",))
    code = "<" + "\u00e9" * (MOST_CHARACTERS - 2) + ">"
    for before in range(0, 3 * MOST_CHARACTERS, 7):
        text = f"{' ' * before}{code}{' ' * (4 * MOST_CHARACTERS - before)}{code}"
        assert [text[slice(*span)] for span in own.spans(text)] == [code, code]


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_search_looks_at_a_bounded_stretch_from_each_place(pattern, monkeypatch) -> None:
    [own] = compiled((pattern,))
    engine, read = own_codes._engine(pattern), []

    class Counted:
        @staticmethod
        def search(text, begin):
            read.append(len(text))
            return engine.search(text, begin)

    monkeypatch.setattr(own_codes, "_engine", lambda _pattern: Counted)
    for text in ("a" * 5000, "sx" * 2500, "ab" * 2500, "=" * 5000):
        read.clear()
        n_found = len(list(own.spans(text)))
        assert max(read) <= 2 * MOST_CHARACTERS + 1
        assert len(read) <= n_found + len(text) // MOST_CHARACTERS + 1


def test_half_a_character_in_a_text_is_passed_over() -> None:
    [own] = compiled(("b",))
    assert list(own.spans("\ud800b")) == [(1, 2)]
    assert "half a character" in why_refused("\ud800")


def test_a_run_has_no_more_patterns_than_a_file() -> None:
    with pytest.raises(ConfigError, match="at most 200"):
        compiled(tuple(f"k{i}" for i in range(201)))
