"""The door to what headway knows of codes: most lines hold none, and need not pass it.

Alone in its file, so that plain text can be asked without entering `headway.text.codes`.
"""

import re

# One class of signs is found quickly. Some of them are common in plain text too, and are followed
# by what makes a code of them: `f()`, `--all`, `a.b`, `www.x`, `mailto:me`.
_SIGN = re.compile(
    r"""[<&%{`|\\/@\[_\ue000-\uf8ff:.(-]
        (?: (?<![:.(-]) | (?<=\()\) | (?<=-)- | (?<=\.)[a-z]
            | (?<=www\.) | (?<=mailto:) | (?<=urn:) | (?<=doi:) )""",
    re.VERBOSE | re.ASCII,
)


def may_hold_codes(text: str) -> bool:
    """False where `headway.text.codes` is sure to find nothing in a text; quick, and often true."""
    return _SIGN.search(text) is not None
