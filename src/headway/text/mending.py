"""Characters that belong in no line of text: what becomes of each kind."""

import re
from collections import Counter

_LINE_SEPARATORS = "\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_MENDING = (
    ("byte_order_mark", re.compile("\ufeff"), ""),
    ("nul", re.compile("\x00"), ""),
    ("line_separator", re.compile(f"[{_LINE_SEPARATORS}]"), " "),
    ("tab", re.compile("\t"), " "),
    ("control_character", re.compile("[\x00-\x1f\x7f-\x9f]"), ""),
    ("lone_surrogate", re.compile("[\ud800-\udfff]"), ""),
)


def mend(text: str, mended: Counter[str] | None) -> str:
    """The text with spaces for line separators and tabs, and without whatever cannot be seen.

    `mended` counts what was done, by kind.
    """
    for kind, pattern, replacement in _MENDING:
        text, n_found = pattern.subn(replacement, text)
        if n_found and mended is not None:
            mended[kind] += 1
    return text
