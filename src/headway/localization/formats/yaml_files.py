"""YAML of one language (Rails, Symfony, i18n): its values that are texts are to be translated.

Nothing is ever constructed or expanded: the parser's events say where each text stands.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from headway.core.errors import ConfigError, DataError
from headway.languages.path_languages import is_code
from headway.localization.formats.spans import (
    FORM_NAMES,
    Decoded,
    Entry,
    OwnLanguage,
    inserted,
    one_language,
    plural_entries,
    read_decoded,
)
from headway.localization.placeholders.segments import Segment

_DEEPEST = 100
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_OBJECT = re.compile(r"tag:yaml\.org,2002:python/|!ruby/")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_TO_ESCAPE = re.compile(r'[\x00-\x1f\x7f-\x9f"\\\u2028\u2029\ufeff\ud800-\udfff]')

_UNFIT_FOR_BLOCKS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")


class _Scalar(NamedTuple):
    path: tuple[str, ...]
    value: str
    start: int
    end: int
    line: int
    style: str
    """`'`, `"`, `|`, `>`, or empty for one without quotes."""
    key_start: int
    """Where its key begins; -1 in a list, and between braces."""
    is_key: bool = False
    is_text: bool = True


def _own_language(decoded: Decoded) -> OwnLanguage | None:
    """The only outermost key, if it is the code of a language, under which all lies (`en:`)."""
    roots = [one for one in _scalars(decoded) if one.is_key and len(one.path) == 1]
    if len(roots) != 1 or not is_code(roots[0].value):
        return None
    (root,) = roots

    def written(language: str) -> str:
        language = language.replace("-", "_") if "_" in root.value else language
        return f"{root.style}{language}{root.style}"

    return OwnLanguage(root.value, root.start, root.end, written)


def _entries(decoded: Decoded, language: str | None) -> list[Entry]:
    return sorted(_with_plurals(decoded, language), key=lambda entry: entry.start)


def _with_plurals(decoded: Decoded, language: str | None) -> Iterator[Entry]:
    scalars = list(_scalars(decoded))
    groups: dict[tuple[str, ...], dict[str, _Scalar]] = {}
    siblings: dict[tuple[str, ...], set[str]] = {}
    for one in scalars:
        if one.is_key:
            siblings.setdefault(one.path[:-1], set()).add(one.path[-1])
    for one in scalars:
        names = siblings.get(one.path[:-1], set())
        if one.is_key or not one.is_text:
            continue
        if one.key_start >= 0 and "other" in names and names <= {*FORM_NAMES}:
            groups.setdefault(one.path[:-1], {})[one.path[-1]] = one
        else:
            yield _entry(decoded.text, one)
    for path, group in groups.items():
        last = max(group.values(), key=lambda one: one.end)
        added = partial(_added, decoded.text, last, path)
        found = {name: _entry(decoded.text, one) for name, one in group.items()}
        yield from plural_entries(found, language, added)


def _entry(text: str, one: _Scalar) -> Entry:
    end = one.start + len(text[one.start : one.end].rstrip(" \t\r\n"))  # what follows it stays
    value = one.value.rstrip("\n") if one.style in ("|", ">") else one.value
    write = partial(_written, text[one.start : end], one)
    return Entry(value, one.line, one.start, end, write, _key(one.path))


def _key(path: Sequence[str]) -> str:
    """A path without the code of the language that it may begin with."""
    return ".".join(path[1:] if len(path) > 1 and is_code(path[0]) else path)


def _added(text: str, last: _Scalar, path: Sequence[str], name: str) -> Entry:
    """A plural form of this name behind the last one, laid out as that is."""
    line_start = text.rfind("\n", 0, last.key_start) + 1
    indent = text[line_start : last.key_start]
    entry = _entry(text, last)
    newline = "\r\n" if "\r\n" in text else "\n"
    quoted = last._replace(style=last.style if last.style in ("'", '"') else "")
    before = f"{newline}{indent if indent.isspace() else ''}{name}: "
    return inserted(
        last.line, entry.end, before, partial(_written, "", quoted), _key((*path, name))
    )


def _written(raw: str, one: _Scalar, new: Segment) -> str:
    """A text in the way that the one before it was written, if that can hold it."""
    text = new.text
    if one.style in ("|", ">") and not _UNFIT_FOR_BLOCKS.search(text):
        return _block(raw, one.style, text)
    if one.style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    if not one.style and _is_plain(text, in_flow=one.key_start < 0):
        return text
    return '"' + _TO_ESCAPE.sub(lambda c: _ESCAPES.get(c[0], f"\\u{ord(c[0]):04x}"), text) + '"'


def _block(raw: str, style: str, text: str) -> str:
    head, _, body = raw.partition("\n")
    newline = "\r\n" if head.endswith("\r") else "\n"
    first = next((line for line in body.split("\n") if line.strip()), "  ")
    indent = first[: len(first) - len(first.lstrip())]
    if style == ">" and re.search(r"^[ \t]", text, re.MULTILINE):
        head = head.replace(">", "|", 1)
    elif style == ">":
        text = re.sub(r"\n+", lambda ends: ends[0] + "\n", text)
    lines = text.strip("\n").lstrip().split("\n")
    written = (indent + line if line.strip() else "" for line in lines)
    return newline.join((head.rstrip("\r"), *written))


def _is_plain(text: str, *, in_flow: bool) -> bool:
    """Whether a text without quotes is read as itself."""
    if not text.isprintable() or (in_flow and re.search(r"[,\[\]{}]", text)):
        return False
    try:
        tried = f"{{k: {text}}}\n" if in_flow else f"k: {text}\n"
        found = [e for e in _events(tried) if hasattr(e, "value")]
    except ValueError:
        return False
    if len(found) != 2:
        return False
    return found[1].value == text and not found[1].style and _is_text(found[1])


def _is_text(event: Any) -> bool:
    """Whether a value without quotes is a text, and no number, date or truth."""
    import yaml

    if event.tag is not None:
        return event.tag in ("!", "tag:yaml.org,2002:str")
    found = yaml.resolver.Resolver().resolve(yaml.ScalarNode, event.value, event.implicit)
    return bool(event.style or found == "tag:yaml.org,2002:str")


def _events(text: str) -> Iterator[Any]:
    """What PyYAML's parser says; raises ValueError for what is no YAML."""
    import yaml

    try:
        yield from yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = mark.index if mark is not None else getattr(error, "position", 0)
        raise _NoYamlError(getattr(error, "problem", None) or "a bad character", place) from None


class _NoYamlError(ValueError):
    def __init__(self, problem: str, position: int) -> None:
        super().__init__(problem)
        self.position = position


@dataclass
class _YamlLevel:
    is_map: bool
    flow: bool
    key: str | None = None
    key_start: int = -1
    n: int = 0


def _scalars(decoded: Decoded) -> Iterator[_Scalar]:
    """Every key and every value, in order."""
    try:
        import yaml  # noqa: F401
    except ImportError:
        raise ConfigError(
            "YAML files need PyYAML, which is not installed: pip install 'headway[files]'"
        ) from None
    text, levels = decoded.text, [_YamlLevel(False, False)]
    try:
        for event in _events(text):
            if _OBJECT.match(getattr(event, "tag", None) or ""):
                raise _refusal(decoded, event, "asks for an object of a program", event.tag)
            yield from _scalar(text, event, levels)
            if len(levels) > _DEEPEST:
                raise _refusal(decoded, event, f"lies deeper than {_DEEPEST} levels", "")
    except _NoYamlError as error:
        raise decoded.refusal(
            "a file of this kind is well-formed YAML", error.position, f"is not ({error})",
            "Mend that place, or export the file again",
        ) from None  # fmt: skip


def _refusal(decoded: Decoded, event: Any, what: str, found: str) -> DataError:
    return decoded.refusal(
        f"a file of texts holds texts, lists and maps, at most {_DEEPEST} levels deep",
        event.start_mark.index, f"{what} {found}".rstrip(), "Remove that place",
    )  # fmt: skip


def _scalar(text: str, event: Any, levels: list[_YamlLevel]) -> Iterator[_Scalar]:
    """What an event adds; `levels` are the maps and lists that are open."""
    kind, level = type(event).__name__, levels[-1]
    if kind in ("MappingEndEvent", "SequenceEndEvent"):
        levels.pop()
        levels[-1].key, levels[-1].n = None, levels[-1].n + 1
        return
    if kind not in ("ScalarEvent", "AliasEvent", "MappingStartEvent", "SequenceStartEvent"):
        return
    start, is_key = event.start_mark.index, level.is_map and level.key is None
    if is_key:
        level.key, level.key_start = getattr(event, "value", "*"), start
        if kind.endswith("StartEvent"):
            raise _NoYamlError("a map or a list is a key", start)
    path = tuple(one.key or "" if one.is_map else str(one.n) for one in levels[1:])
    if kind == "ScalarEvent":
        properties = _PROPERTIES.match(text, start)
        yield _Scalar(
            path, event.value, properties.end() if properties else start, event.end_mark.index,
            event.start_mark.line + 1, event.style or "",
            -1 if level.flow or not level.is_map else level.key_start,
            is_key, is_key or _is_text(event),
        )  # fmt: skip
    if kind.endswith("StartEvent"):
        levels.append(_YamlLevel(kind.startswith("Mapping"), level.flow or bool(event.flow_style)))
    elif not is_key:
        level.key, level.n = None, level.n + 1


open_document = one_language(read_decoded, _entries, _own_language)
