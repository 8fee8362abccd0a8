"""The bytes of an XML file as UTF-8, whatever encoding it declares, and back."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headway.core.errors import DataError
from headway.core.lines import open_bytes
from headway.localization.formats.spans import BYTE_ORDER_MARKS

_CHUNK_BYTES = 1 << 18
_HEAD_BYTES = 1 << 10
_WIDE_BEGINNINGS = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_WIDE_NAMES = re.compile(r"utf-?(16|32)|ucs-?[24]|iso-10646|unicode", re.IGNORECASE)
_DECLARATION = re.compile(
    r"""<\?xml[^>]{0,200}?\sencoding\s*=\s*(?:"([\w.:-]{1,60})"|'([\w.:-]{1,60})')""", re.ASCII
)
_MARKUP = "<?xml version='1.0'?>\n<!-- + & --><a b=\"c/[;]#x_\"/>"
"""An encoding in which this is not plain ASCII (UTF-7, EBCDIC, ..) cannot declare itself."""


@dataclass(frozen=True)
class Contents:
    """A whole file in memory."""

    data: bytes
    """All of it as UTF-8, without the byte order mark; line ends are the file's own."""
    encoding: str
    """As Python knows it."""
    mark: bytes
    """What stands in front of the first character, if anything."""

    @property
    def newline(self) -> bytes:
        return b"\r\n" if b"\r\n" in self.data else b"\n"

    def restored(self, data: bytes) -> bytes:
        """UTF-8 in the encoding of the file; what that cannot hold becomes `&#8211;`."""
        return self.mark + data.decode("utf-8").encode(self.encoding, "xmlcharrefreplace")


def utf8_chunks(path: Path) -> Iterator[bytes]:
    """The file piece by piece as UTF-8, without the byte order mark; unpacked if it is a `.gz`.

    Raises DataError: the file cannot be read, its encoding is unknown, or it is not in that
    encoding.
    """
    line = 1
    with open_bytes(path) as file:
        chunk = file.read(_HEAD_BYTES)
        encoding, mark = _encoding(chunk, path)
        chunk = chunk[len(mark) :]
        decode = codecs.getincrementaldecoder(encoding)().decode
        while True:
            try:
                text = decode(chunk, not chunk)
            except UnicodeError as error:
                raise _not_in(encoding, error, line, path) from None
            utf8 = chunk if encoding == "utf-8" else text.encode("utf-8")
            line += utf8.count(b"\n")
            yield utf8
            if not chunk:
                break
            chunk = file.read(_CHUNK_BYTES)


def read_contents(path: Path) -> Contents:
    """The whole file, to be written again with some of it changed.

    Raises DataError as `utf8_chunks`, or the same text could have been written with other bytes, so
    that the file could not be given back as it was.
    """
    data = b"".join(utf8_chunks(path))
    with open_bytes(path) as file:
        raw = file.read()
    contents = Contents(data, *_encoding(raw[:_HEAD_BYTES], path))
    if contents.restored(data) != raw:
        raise DataError(
            f"a file that is filled in must be the plain {contents.encoding} of its text; "
            f"{path} has bytes that would come back as others. Convert it to UTF-8 first."
        )
    return contents


def _encoding(head: bytes, path: Path) -> tuple[str, bytes]:
    """From the byte order mark, else from the zeros of UTF-16, else from the XML declaration."""
    marked = [(name, mark) for mark, name in BYTE_ORDER_MARKS if head.startswith(mark)]
    marked += [(name, b"") for begins, name in _WIDE_BEGINNINGS if head.startswith(begins)]
    name, mark = marked[0] if marked else ("latin-1", b"")
    found = _DECLARATION.match(head[len(mark) :].decode(name, "ignore"))
    declared = found[1] or found[2] if found else ""
    if not marked:
        return (_known(declared, path) if declared else "utf-8"), b""
    fits = _WIDE_NAMES.match if name != "utf-8" else re.compile("utf-?8", re.IGNORECASE).fullmatch
    if declared and not fits(declared):
        raise DataError(
            f"a file must be in the encoding that it declares; {path}:1 declares {declared} but "
            f"its first bytes are those of {name.upper()}. Correct the declaration, or save it as "
            "UTF-8 and declare that."
        )
    return name, mark


def _known(declared: str, path: Path) -> str:
    """Python's name of an encoding that a declaration written in ASCII may name."""
    try:
        name = codecs.lookup(declared).name
        plain = _MARKUP.encode(name) == _MARKUP.encode("ascii")
    except (LookupError, UnicodeError):
        plain = False
    if not plain or "escape" in name:  # unicode_escape reads more than is written
        raise DataError(
            f"a file must be in the encoding that it declares; {path}:1 declares {declared}, which "
            "is unknown or cannot be right. Save the file as UTF-8 and declare that."
        )
    return name


def _not_in(encoding: str, error: UnicodeError, line: int, path: Path) -> DataError:
    where = ""
    if isinstance(error, UnicodeDecodeError):
        line += error.object[: error.start].decode(encoding, "replace").count("\n")
        where = f" (byte 0x{error.object[error.start]:02x})"
    return DataError(
        f"a file must be in the encoding that it declares (UTF-8 if it declares none); "
        f"{path}:{line} is not {encoding.upper()}{where}. Save it as UTF-8 and declare that."
    )
