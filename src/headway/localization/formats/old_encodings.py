"""Files that are in UTF-8 today and in an encoding of their own before: which of them one is in."""

from pathlib import Path

from headway.core.lines import open_bytes
from headway.localization.formats.spans import Decoded, read_decoded

_WESTERN = "cp1252", "latin-1"
"""Windows has quotes and dashes where Latin-1 has nothing; five bytes are in the second only."""

_WESTERN_NAMES = ("", "iso-8859-1", "iso8859-1", "latin-1", "latin1", "us-ascii", "ascii")
"""As a page declares it, which browsers read as they read cp1252."""


def read_utf8_or_old(path: Path, declared: str = "") -> Decoded:
    """A file in UTF-8, in the encoding that it declares, else in that of old Western texts.

    Raises DataError, with the line: it is UTF-8 but for some bytes, or declares that it is.
    """
    with open_bytes(path) as file:
        data = file.read()
    if declared.lower() in ("utf-8", "utf8") or (not declared and _is_damaged_utf8(data)):
        return read_decoded(path)
    western = declared.lower() in _WESTERN_NAMES
    return read_decoded(path, "utf-8", *(_WESTERN if western else (declared,)))


def _is_damaged_utf8(data: bytes) -> bool:
    """Whether the first byte that is no UTF-8 comes behind characters of two bytes or more, or
    there are more of these in all."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        replaced = data.decode(errors="replace")
        n_bad = replaced.count("\ufffd")
        n_whole = sum(not sign.isascii() for sign in replaced) - n_bad
        return not data[: error.start].isascii() or n_whole > n_bad
    return False
