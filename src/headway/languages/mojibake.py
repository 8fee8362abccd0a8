"""Text that was decoded with the wrong encoding, and what it should have been."""

import re

_BYTES = {
    character: byte
    for byte in range(0x80, 0x100)
    for character in {bytes([byte]).decode("latin-1"), bytes([byte]).decode("cp1252", "ignore")}
    if character
}
"""What a byte becomes when UTF-8 is read as Latin-1 or as Windows-1252."""

_LEADS = "".join(character for character, byte in _BYTES.items() if 0xC2 <= byte <= 0xF4)
_FOLLOWERS = "".join(character for character, byte in _BYTES.items() if byte < 0xC0)
_RUN = re.compile(f"[{_LEADS}][{re.escape(_FOLLOWERS)}]+")
_SURE = re.compile(f"[ÂÃ][{re.escape(_FOLLOWERS)}]|â€|ï¿½")
_QUOTED = re.compile(
    "(?<=[A-ZÀ-ÞĂĐĨŨƠƯẠ-Ỹ])"
    f"[ÂÃ][{''.join(character for character in _FOLLOWERS if ord(character) > 0xFF)}](?!\\w)"
)
"""A capital with a closing quotation mark or an ellipsis behind it: `AMANHÃ”`."""
_TABLE = str.maketrans({character: chr(byte) for character, byte in _BYTES.items()})


def repaired(text: str) -> str:
    """What `text` was before its UTF-8 was taken for Windows-1252 or Latin-1; "" if it was not.

    Sure signs are `Ã` or `Â` before a byte that continues a character, and `â€`; otherwise the
    whole text must turn into valid UTF-8, so that `„Fuß“` and `«DÉFILÉ»` stay what they are. No
    sign is what may be the end of a quotation in capitals.
    """
    if not _RUN.search(_QUOTED.sub("", text)):
        return ""
    whole = _undone(text)
    if whole:
        return whole
    if not _SURE.search(text):
        return ""
    parts = _RUN.sub(lambda run: _undone(run[0]) or run[0], text)
    return parts if parts != text else ""


def _undone(text: str) -> str:
    try:
        return text.translate(_TABLE).encode("latin-1").decode("utf-8")
    except ValueError:
        return ""
