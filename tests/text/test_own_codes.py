"""Patterns of the user's own: read, refused, bounded."""

import re
import time

import pytest

from headway.errors import ConfigError, DataError
from headway.text.own_codes import (
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


@pytest.mark.parametrize("line", ["(abc", "a*", "[z-a]", "x" * 501, "(?:a|b*)*c", r"(\w+\s?)+;"])
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


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"(?:a*)*b",
        r"(?:\w+\s?)*;",
        r"(a|a)*b",
        r"(?:a|ab)+c",
        r"\w*\w*\w*x",
        r".*.*.*=",
        r"((a?){30}){30}b",
        r"(?:[ab]+[bc]+)+d",
    ],
)
def test_what_may_take_for_ever_is_refused(pattern) -> None:
    assert "for ever" in why_refused(pattern)
    with pytest.raises(ConfigError, match="for ever"):
        compiled((pattern,))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"@[\w-]+(?:\.[\w-]+)*", "@a.b-c.d"),
        (r"\{\{.*?\}\}", "{{ a b }}"),
        (r"%[A-Z]+(?:_[A-Z]+)+%", "%A_B_C%"),
        (r"(?:\w+\.)+html", "a.b.html"),
        (r"(?i)ref[:#]\s?\d{2,4}", "REF: 123"),
        (r"(?:foo|ba[rz])-\d+", "baz-12"),
        (r"(?<!\w)#\w++", "#tag"),
        (r"(?P<q>['\"])x(?P=q)", "'x'"),
        (r"\[\d*\]|\(\d*\)", "[12]"),
        (r"(?>a+)+b", "aab"),
        (r"a{3}", "aaa"),
    ],
)
def test_usual_patterns_are_taken_and_mean_the_same(pattern, text) -> None:
    assert why_refused(pattern) == ""
    [found] = compiled((pattern,))
    assert found.fullmatch(text)
    assert re.fullmatch(pattern, text)


def test_a_repetition_reaches_so_far_and_no_farther() -> None:
    [found] = compiled(("<a+>",))
    assert found.search(f"<{'a' * MOST_CHARACTERS}>")
    assert not found.search(f"<{'a' * (MOST_CHARACTERS + 1)}>")


@pytest.mark.parametrize("pattern", [r"\w+ \w+=", r"\w*\w*x", r".*=.*;", r"(?:\w+\.)+!"])
def test_what_is_taken_is_never_slow(pattern) -> None:
    [found] = compiled((pattern,))
    began = time.process_time()
    for text in ("a" * 2000, "a " * 1000, "a." * 1000, "=" * 2000, "a=" * 1000):
        found.search(text)
    assert time.process_time() - began < 20
