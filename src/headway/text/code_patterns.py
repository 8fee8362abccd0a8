"""What counts as a code in plain text: tags, placeholders of programs, markup, addresses, names.

Chosen by what translators really copy. In 41,000 pairs of the Python documentation in English and
Chinese, 99 % of the codes of each kind below stand in both sides as often; single *emphasized*
words (93 %), CamelCase (97 %, but inflected), `::` (76 %) and `\\ ` (69 %) are left to the model.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from headway.text.cleaning import may_hold_codes

_NAME_ROLES = (
    "class|meth|func|mod|attr|data|exc|const|obj|type|keyword|option|envvar|file|program|command"
)
_TEXT_ROLES = "dfn|guilabel|menuselection|abbr|emphasis|strong|title-reference"
_ROLE = r":(?:[A-Za-z][\w+.-]{0,30}:){1,3}`"
_URL = r"[\w\#$%&*+,./:;=?@~!-]"
_URL_END = r"[\w\#$%&*+/=@~-]"
_CONVERSION = (
    r"[\#0+-]{0,3}(?:\d{1,4}|\*)?(?:\.(?:\d{1,3}|\*))?(?:hh?|ll?|[zjtL])?[sdiufFgGeExXcpro@]"
)

# The first that fits wins. Groups called `open..` and `close..` are codes that frame text to be
# translated; every repetition is bounded, so that no text takes more than linear time.
_PATTERNS = {
    # :class:`int`, :ref:`text <target>`, :dfn:`text`
    "role": rf"""
        :(?:[\w-]{{1,30}}:)?(?:{_NAME_ROLES}):`[^\s`<>]{{1,200}}\s?<[^`<>]{{1,300}}>`
        | {_ROLE}[^\s`<>]{{0,100}}[._()][^\s`<>]{{0,100}}\s?<[^`<>]{{1,300}}>`
        | (?P<open_role>{_ROLE})[^`<>]{{1,300}}?(?P<close_role><[^`<>]{{1,300}}>`)
        | (?P<open_words>:(?:{_TEXT_ROLES}):`)[^`<>]{{1,300}}(?P<close_words>`)
        | {_ROLE}[^`]{{1,300}}`
        """,
    # ``code``, `code`, `name`_ (but `some words`_ are translated)
    "literal": r"""
        ``(?!`)[^`](?:[^`]|`(?!`)){0,300}?``(?!`)
        | (?<![\w`])`[^`\s](?:[^`]{0,298}[^`\s])?`(?![\w`])
        | (?<![\w`])`[^\s`<>]{1,200}`__?
        """,
    # `text <address>`_, [text](address), [#note]_
    "link": r"""
        (?P<open_link>(?<![\w`])`)(?!\s)[^`<>]{1,300}?(?P<close_link>\s?<[^`<>]{1,300}>`__?)
        | (?P<open_markdown>!?\[)[^][]{1,300}(?P<close_markdown>\]\([^()\s]{1,300}\))
        | \[(?:\#[\w-]{0,40}|\*|\d{1,4})\]_
        """,
    "tag": r"""
        </?[A-Za-z][\w:.-]{0,60}
            (?:\s{1,5}[\w:.-]{1,60}\s?=\s?(?:"[^"<>]{0,300}"|'[^'<>]{0,300}'|[^\s"'<>]{1,300})){0,20}
            \s?/?>
        | <!--.{0,300}?-->
        """,
    "entity": r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6});",
    "address": rf"""
        (?<![A-Za-z])(?:https?|ftps?|file|git|ssh)://(?:{_URL}|\({_URL}{{0,100}}\)){{0,500}}
            (?:{_URL_END}|\({_URL}{{0,100}}\))
        | (?<![A-Za-z])(?:mailto|urn|doi):{_URL}{{1,200}}{_URL_END}
        | (?<![\w.])www\.{_URL}{{1,200}}{_URL_END}
        | (?<![\w.+-])[A-Za-z0-9][\w.+-]{{0,60}}@[A-Za-z0-9][A-Za-z0-9-]{{0,60}}
            (?:\.[A-Za-z0-9-]{{1,60}}){{1,5}}
        """,
    # %s, %(name)s, %1$d, %%, %name%; a space flag is not known, as "100 % sure" is no code;
    # %1, %L1, %n (Qt), %name (Drupal)
    "printf": rf"""
        (?<![\w%])%[A-Za-z_][\w.-]{{0,60}}%(?![\w%])
        | %\([A-Za-z_][\w.]{{0,60}}\){_CONVERSION} | %\d{{1,2}}\${_CONVERSION}
        | (?<![\d%])%{_CONVERSION}(?![A-Za-z]{{3}}) | %%
        | (?<![\w%])%(?:L?[1-9]\d?|n|[a-z][a-z_]{{3,60}})(?![\w%])
        """,
    # {name}, {0:.2f}, {{x}}, ${x}, {% x %}
    "braces": r"""
        \$\{[^{}\s]{1,100}\} | \{\{[^{}]{1,100}\}\} | \{%[^{}]{1,100}%\}
        | \{[A-Za-z_0-9.\[\]]{0,60}(?:![rsa])?(?::[^{}\s]{0,30})?=?\}
        """,
    # @count, !name (Drupal), :min (Laravel)
    "variable": r"""
        (?<![\w.+@-])@[a-z]\w{1,60}(?![\w@]|\.\w) | (?<!\S)![a-z]\w{2,60}(?!\w)
        | (?<![\w:.)\]"'`/\[>]):[a-z][a-z_]{1,60}(?![\w:`])
        """,
    "substitution": r"(?<![\w|])\|[A-Za-z](?:[\w .-]{0,60}\w)?\|(?:__?)?(?![\w|])",
    "path": r"""
        (?<![\w/.~<-])(?:~|\.{1,2})?(?:/[\w.+-]{1,100}){2,20}/?(?<!\.)
        | (?<![A-Za-z])[A-Za-z]:\\(?:[\w.+-]{1,100}\\?){1,20}(?<!\.)
        """,
    "escape": r"""\\(?:[abfnrtv0"'\\*_`|]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})""",
    # --long-option, snake_case, call(), dotted.lower.name
    "name": r"""
        (?<![\w-])--[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){0,8}(?![\w-])
        | (?<![\w.])(?:[A-Za-z_]\w{0,80}\.){0,8}
            (?:[A-Za-z]\w{0,80}_\w{1,80}|_{1,2}[A-Za-z]\w{0,80}|[A-Za-z_]\w{0,80}(?=\(\)))
            (?:\.[A-Za-z_]\w{0,80}){0,8}(?:\(\))?(?!\w)
        | (?<![\w.@/-])[a-z]\w{1,80}(?:\.[a-z]\w{1,80}){1,8}(?![\w@])
        """,
}
KINDS = (*_PATTERNS, "private")
"""The names of the kinds of codes."""

# A sign, or a letter or digit that no letter stands before: asked first, as most places are none.
_BEGINS = r"(?=[!$%&./:<@\[\\`{|~-]|(?<![A-Za-z])\w)"
_ANY = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items())
_CODE = re.compile(f"{_BEGINS}(?:{_ANY})", re.VERBOSE | re.ASCII)
_FRAMES = [(name, f"close{name[4:]}") for name in _CODE.groupindex if name.startswith("open")]
_PRIVATE = re.compile("[\ue000-\uf8ff]")

_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)[^<>]*?(/?)>", re.ASCII)
_OPENING_ROLE = re.compile(_ROLE, re.ASCII)
_CLOSING_ROLE = re.compile(r"\s?<[^`<>]+>`(?:__?)?")


class Found(NamedTuple):
    """Where a code stands in a text."""

    start: int
    end: int
    kind: str
    """One of `KINDS`, or "own" for what a user's own pattern fits."""


class Frame(NamedTuple):
    """What a code does to the text between it and its partner."""

    name: str
    """Partners have the same one."""
    opens: bool
    closes: bool
    """Both only where what came before decides, as with a single backtick."""


def find(text: str, own: Sequence[re.Pattern[str]] = ()) -> list[Found]:
    """The codes of a text, in order; none of them overlap.

    A private-use character is one by itself, and is in no other. What a pattern of `own` fits comes
    before all others, the first pattern first.
    """
    settled = _own(text, own) if own else []
    if not (settled or may_hold_codes(text)):
        return []
    found: list[Found] = []
    place = 0
    for one in (*settled, Found(len(text), len(text), "")):
        for private in _PRIVATE.finditer(text, place, one.start):
            found += _find(text, place, private.start())
            found.append(Found(*private.span(), "private"))
            place = private.end()
        found += _find(text, place, one.start)
        found += [one] * (one.end > one.start)
        place = one.end
    return found


def hidden(text: str, sign: str, own: Sequence[re.Pattern[str]] = ()) -> str:
    """The text with this character in the place of each character of its codes."""
    for start, end, _ in find(text, own):
        text = text[:start] + sign * (end - start) + text[end:]
    return text


def _own(text: str, patterns: Sequence[re.Pattern[str]]) -> list[Found]:
    found: list[Found] = []
    for pattern in patterns:
        before = tuple(found)
        found += (
            Found(*match.span(), "own")
            for match in pattern.finditer(text)
            if match[0]
            and all(match.end() <= o.start or o.end <= match.start() for o in before)
            and not _PRIVATE.search(match[0])
        )
    return sorted(found)


def _find(text: str, start: int, end: int) -> list[Found]:
    found: list[Found] = []
    for match in _CODE.finditer(text, start, end):
        kind = match.lastgroup or ""
        for opening, closing in _FRAMES:
            if match[opening] is not None:
                found.append(Found(*match.span(opening), kind))
                found += _find(text, match.end(opening), match.start(closing))
                found.append(Found(*match.span(closing), kind))
                break
        else:
            found.append(Found(*match.span(), kind))
    return found


def kind_of(code: str) -> str:
    """The kind of a code that stands alone; empty where it is none of ours."""
    if _PRIVATE.fullmatch(code):
        return "private"
    match = _CODE.fullmatch(code)
    return (match.lastgroup or "") if match else ""


def frame(code: str) -> Frame | None:
    """How a code pairs with another, such as `<b>` with `</b>`; None where it stands alone."""
    if match := _TAG.fullmatch(code):
        closing, name, empty = match.groups()
        if empty or name.lower() in _VOID:
            return None
        return Frame(f"<{name}", opens=not closing, closes=bool(closing))
    if code == "`":
        return Frame("`", opens=True, closes=True)
    if _OPENING_ROLE.fullmatch(code):
        return Frame("`", opens=True, closes=False)
    if _CLOSING_ROLE.fullmatch(code):
        return Frame("`", opens=False, closes=True)
    if code in ("[", "!["):
        return Frame("[", opens=True, closes=False)
    if code.startswith("]("):
        return Frame("[", opens=False, closes=True)
    return None


def needs_words(code: str) -> bool:
    """Whether what this code opens is nothing without text in it: a link or role, not a tag."""
    role = frame(code)
    return role is not None and not role.name.startswith("<")


def partners(codes: Sequence[str]) -> dict[int, int]:
    """For each code that opens something which another one closes: opening place, closing place.

    As brackets: a code that closes belongs to the nearest one before it that it can close, and
    whatever is still open between them is never closed.
    """
    found: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    for place, code in enumerate(codes):
        role = frame(code)
        if role is None:
            continue
        names = [name for name, _ in opened]
        if role.closes and role.name in names:
            depth = len(names) - 1 - names[::-1].index(role.name)
            found[opened[depth][1]] = place
            del opened[depth:]
        elif role.opens:
            opened.append((role.name, place))
    return found
