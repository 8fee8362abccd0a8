"""Whether a text may hold codes or sentences, or is none: quick tests, before a closer look."""

import re

from headway.languages.sentences import ENDS, TIGHT

# One class of signs is found quickly. Some of them are common in plain text too, and are followed
# by what makes a code of them: `f()`, `--all`, `a.b`, `www.x`, `mailto:me`, `:min`,
# `!name`; or `aB`, `a1`, `.1`, which `headway.localization.placeholders.names` looks at.
_SIGN = re.compile(
    r"""[<&%{`|\\/@\[_$\#§©®•\u203c-\u2bff\ue000-\uf8ff\U0001f000-\U0001faff!:.(A-Z0-9*'-]
        (?: (?<![!:.(A-Z0-9*'-]) | (?<=[!:])(?=[A-Za-z][\w+-]) | (?<=\*)\* | (?<=')''
            | (?<=[a-z][A-Z]) | (?<=[A-Za-z][0-9]) | (?<=[A-Za-z]-[0-9]) | (?<=-[0-9A-F]{4}-)
            | (?<=\.[0-9]\.[0-9]) | (?<=\.[0-9][0-9]\.[0-9]) | (?<=\.[0-9]{3}\.[0-9])
            | (?<=\()\) | (?<=-)- | (?<=\.)[a-z] | (?<=-[0-9a-f]{4}-)
            | (?<=www\.) | (?<=mailto:) | (?<=urn:) | (?<=doi:) )""",
    re.VERBOSE | re.ASCII,
)
_SEVERAL = re.compile(
    rf"[{ENDS}](?:[^\w\s]|_){{0,50}}+\s|[{TIGHT}?!](?:[^\w\s]|_){{0,50}}+\w|[\t-\r\u2028\u2029\x85]"
)
_NO_TEXT = re.compile(r"\A[\W\d_]*\Z|([^\W\d_]|\s)\1{4,}|((?=[^\W_]).{2,16}?)\2{3,}")


def may_hold_codes(text: str) -> bool:
    """False where `patterns.find` is sure to find nothing in a text; quick, and often true."""
    return _SIGN.search(text) is not None


def may_hold_sentences(text: str) -> bool:
    """False where there is surely no more than one; quick."""
    return _SEVERAL.search(text) is not None


def no_text(text: str) -> str:
    """All of it if it has no letter, or what it says again and again; else empty. Quick."""
    return found[0] if (found := _NO_TEXT.search(text)) else ""
