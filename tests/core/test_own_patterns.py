"""The patterns of the package take no more than linear time, whatever text they meet."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pattern_growth
import pytest

import headway

SOURCES = Path(headway.__file__).parent
SEARCHES = {"search", "finditer", "findall", "sub", "subn", "split"}
VERBS = {*SEARCHES, "match", "fullmatch", "compile"}
PLACE_OF_FLAGS = {"compile": 1, "split": 3, "sub": 4, "subn": 4}

EXCEPTIONS = {
    "names._PLURAL": "fitted to a whole word, never searched for",
    "own_codes._PART": "in a pattern of at most 500 characters, whose brackets are closed",
    "sentences._INITIALS": "in the last 40 characters",
    "sentences._WORD": "in the last 40 characters",
    "json_files._TOKEN": "in JSON that was found to be well-formed: every quote is closed",
    "key_values._OR_END": "fitted at a place, by `taken`",
    "key_values._TEXT": "fitted at a place, by `taken`",
}


def _nodes(file: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(file.read_text(encoding="utf-8")))]


def _calls(nodes: list[ast.AST]) -> Iterator[tuple[ast.Call, str]]:
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            verb = node.func.attr
            if verb in VERBS and ast.unparse(node.func) == f"re.{verb}":
                yield node, verb


def _pattern(call: ast.Call, verb: str, space: dict[str, Any]) -> "re.Pattern[Any] | None":
    """None for one that is made of what a user gives, escaped."""
    flags = [one.value for one in call.keywords if one.arg == "flags"]
    flags += call.args[PLACE_OF_FLAGS.get(verb, 2) :][:1]
    try:
        given = [eval(ast.unparse(one), dict(space)) for one in (call.args[0], *flags)]
    except NameError:
        return None
    return re.compile(*given)


def _patterns() -> Iterator[tuple[str, "re.Pattern[Any]", bool]]:
    """Where each stands, and whether it is searched for or must fit at a place."""
    names = [path.relative_to(SOURCES).with_suffix("").parts for path in SOURCES.rglob("*.py")]
    files = {
        ".".join(("headway", *name)).removesuffix(".__init__"): _nodes(
            SOURCES.joinpath(*name).with_suffix(".py")
        )
        for name in sorted(names)
        if name[-1] != "__main__"
    }
    attributes = [
        (name, node)
        for name, nodes in files.items()
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr in VERBS
    ]
    for name, nodes in files.items():
        space = vars(importlib.import_module(name))
        for call, verb in _calls(nodes):
            if (pattern := _pattern(call, verb, space)) is None:
                continue
            named = {
                one
                for one, value in space.items()
                if type(value) is re.Pattern and value == pattern
            }
            used = {
                node.attr
                for of, node in attributes
                if node.value is call
                or (
                    isinstance(node.value, ast.Name)
                    and node.value.id in named
                    and (of == name or not node.value.id.startswith("_"))
                )
            }
            searched = not {verb, *used}.isdisjoint(SEARCHES) or not used
            where = f"{name.rpartition('.')[2]}.{min(named, default=call.lineno)}"
            yield where, pattern, searched and verb not in ("match", "fullmatch")


def test_no_pattern_takes_more_than_linear_time_on_any_text() -> None:
    """A word is named of which many in a row would."""
    found = {
        where: word
        for where, pattern, searched in _patterns()
        if (word := pattern_growth.growing(pattern, searched=searched))
    }
    assert {where: word for where, word in found.items() if where not in EXCEPTIONS} == {}
    assert set(EXCEPTIONS) <= set(found), "an exception that needs none"


@pytest.mark.parametrize(
    ("pattern", "searched", "grows"),
    [
        ("a+b", True, True),
        ("a+b", False, False),
        ("(?<!a)a+b", True, False),
        (r"\ba+\b", True, False),
        (r"\w+", True, False),
        ("a*a*b", False, True),
        ("a*+a", False, False),
        ("(a+)+b", False, True),
        ("(?:a++|b)*c", False, False),
        ("(?:ab)+(?:ab)*c", False, True),
        (r"(?:a\.)+b$", True, True),
        ("<[^>]*>", True, True),
        ("<[^<>]*>", True, False),
        ("<!--.*?-->", True, True),
        (r"<\?(?:[^<?]++|<(?!\?)|\?(?!>))*+\?>", True, False),
        ("[^b]*b|[^b]+", True, False),
        (".*:.*=", False, True),
        ("[^:]*:[^=]*=", False, False),
        (r"\A\s+x", True, False),
        ("(?!a*b)x", True, True),
        ("a(?:[ab]*c)?", True, True),
        (r"\d+(?:\.\d+)*", True, False),
    ],
)
def test_what_grows_is_told_from_what_does_not(pattern: str, searched: bool, grows: bool) -> None:
    """As the times of 5,000, 10,000 and 20,000 characters of each do."""
    assert bool(pattern_growth.growing(re.compile(pattern), searched=searched)) is grows
