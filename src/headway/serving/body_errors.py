"""Why a body is not as its model says: the rule, what was given, what to do."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from headway.core.setting_errors import suggestion

_KINDS = {
    "string_type": "a text", "int_type": "a whole number", "float_type": "a number",
    "finite_number": "a number", "bool_type": "true or false", "list_type": "a list",
    "dict_type": "an object", "model_type": "an object", "none_required": "null",
}  # fmt: skip
_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
_MOST = 60


def said_of(error: ValidationError, given: Any, known: Sequence[str]) -> str:
    """What is wrong first, in words; `known` are the fields that there are."""
    every = error.errors(include_url=False)
    # one that may be several kinds has an error for each: told is what is nearest to right
    same = [one for one in every if one["loc"][:1] == every[0]["loc"][:1]]
    depths = [len(_path(one["loc"], given)) for one in same]
    deepest = [one for one, n in zip(same, depths, strict=True) if n == max(depths)]
    told = next((one for one in deepest if not _expected(one)), deepest[0])
    where = ".".join(map(str, _path(told["loc"], given)))[:200]
    value, kind = told["input"], told["type"]
    if expected := _expected(told):
        some = dict.fromkeys(filter(None, map(_expected, deepest)))
        return f"{where or 'this'} is {' or '.join(some) or expected}; got {_shown(value)}"
    if kind == "missing":
        return f"{where} is missing. Give it."
    if kind == "extra_forbidden":
        remedy = suggestion(where, known) or f" There are {', '.join(known)}."
        return f"there is no field {where} here.{remedy if '.' not in where else ''}"
    bounds: Mapping[str, Any] = told.get("ctx", {})
    for name, words in _BOUNDS.items():
        if name in bounds:
            return f"{where} is {words} {_figure(bounds[name])}; got {_shown(value)}"
    for name, words in (("min_length", "at least"), ("max_length", "at most")):
        if name in bounds:
            what = "characters" if isinstance(value, str) else "entries"
            return f"{where} has {words} {bounds[name]:,} {what}; got {len(value):,}"
    message = told["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def _expected(one: Any) -> str:
    """What should stand there, where that is another kind of value."""
    if one["type"] == "literal_error":
        return str(one["ctx"]["expected"]).replace("'", '"')
    return _KINDS.get(one["type"], "")


def _path(loc: Sequence[str | int], given: Any) -> list[str | int]:
    """Where a value stands in what was given, without the kinds that it was tried as."""
    found, value = list[str | int](), given
    for n, part in enumerate(loc):
        is_there = (
            part in value if isinstance(value, dict)
            else isinstance(value, list) and isinstance(part, int)
        )  # fmt: skip
        if is_there:
            value = value[part]
        if is_there or (isinstance(value, dict) and n == len(loc) - 1):
            found.append(part)
    return found


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if not isinstance(value, str | int | float):
        return "a list" if isinstance(value, list) else "an object"
    cut = str(value)[:_MOST] + ".." * (len(str(value)) > _MOST)
    return f'"{cut}"' if isinstance(value, str) else cut


def _figure(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
