"""A kind of file in one file, as CONTRIBUTING.md says how: `.hints`, lines of `key: text`."""

import re
from collections.abc import Iterator

from headway.localization.formats.spans import Decoded, Entry, Lines, one_language, read_decoded


def entries(decoded: Decoded, _language: str | None) -> Iterator[Entry]:
    lines = Lines(decoded.text)
    for found in re.finditer(r"^([\w.]+): *(.+?) *$", decoded.text, re.MULTILINE):
        line = lines.at(found.start())
        yield Entry(found[2], line, *found.span(2), lambda new: new.text, key=found[1])


open_document = one_language(read_decoded, entries)
