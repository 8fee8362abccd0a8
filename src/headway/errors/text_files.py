"""Why a file of text, or a text that was typed, is refused, in words."""

import gzip
import os
import zlib
from pathlib import Path

from headway.errors import ConfigError, DataError

_OTHER_ENCODINGS = {
    b"\x1f\x8b": ("gzip data", "name it with the suffix .gz"),
    b"PK": ("a zip archive", "unpack it first"),
    b"%P": ("a PDF", "copy its text out, or convert the document that it was made of"),
    b"\xff\xfe": ("UTF-16", "convert it: iconv -f UTF-16 -t UTF-8"),
    b"\xfe\xff": ("UTF-16", "convert it: iconv -f UTF-16 -t UTF-8"),
}
NO_TEXT = frozenset(
    ".7z .adoc .css .dita .doc .docm .docx .epub .go .htm .html .idml .ini .ipynb .java .js .jsx "
    ".latex .md .mdx .odp .ods .odt .pdf .php .pot .ppt .pptx .py .rst .rtf .sgm .sgml .sql "
    ".stringsdict .svg .tbx .tex .toml .tsx .vue .xcstrings .xhtml .xls .xlsx .zip".split()
)
"""Kinds of documents: as lines of plain text they would come out destroyed."""
_UNKNOWN_ENCODING = ("not", "convert it, for example: iconv -f LATIN1 -t UTF-8")


def no_file(path: Path) -> DataError:
    """For a directory, a pipe or a device."""
    if path.is_dir():
        return DataError(f"a text file is needed; {path} is a directory. Name a file inside it.")
    return DataError(
        f"a text file is read more than once; {path} is a pipe or a device. "
        "Write it to a file first."
    )


def empty(path: Path, does: str) -> DataError:
    """For a file without a single line; `does` is `is empty`, or `unpacks to nothing`."""
    return DataError(f"a text file needs at least one line; {path} {does}.")


def unusable(path: Path, error: Exception) -> DataError:
    """For a file that is not there or cannot be opened."""
    try:
        raise error
    except FileNotFoundError:
        return DataError(f"no such file: {path}. Check the name and the folder.")
    except Exception:
        return DataError(f"cannot read {path}: {error}. Check its name and permissions.")


def damaged(path: Path, place: str, error: Exception) -> DataError:
    """For a file that cannot be read to its end; `place` says how far it was."""
    try:
        raise error
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return DataError(
            f"a .gz file must be whole; {path} is damaged or cut off{place} "
            f"({error}). Copy or download it again."
        )
    except OSError as found:
        return DataError(f"cannot read {path}{place}: {found.strerror or found}. Check the disk.")


def not_utf8(path: Path, line: int, raw: bytes, byte: int) -> DataError:
    """For a line that is no UTF-8 at a byte, counted from 1."""
    with path.open("rb") as file:
        start = raw[:2] if line == 1 else file.read(2)
    what, remedy = _OTHER_ENCODINGS.get(start, _UNKNOWN_ENCODING)
    return DataError(
        f"text must be UTF-8; {path} is {what} "
        f"(line {line:,}, byte {byte}: 0x{raw[byte - 1]:02x}). Please {remedy}."
    )


def holds_zeros(path: Path, raw: bytes) -> DataError:
    """For a first line that is full of zero bytes."""
    if raw[:2] in _OTHER_ENCODINGS:
        return not_utf8(path, 1, raw, raw.index(0) + 1)
    return DataError(
        f"text must be UTF-8; the first line of {path} is full of zero bytes, as in UTF-16 and in "
        "binary files. If it is UTF-16, convert it: iconv -f UTF-16LE -t UTF-8."
    )


def no_plain_text(path: Path) -> DataError:
    """For a document among what is read line by line."""
    return DataError(
        "what is read line by line is plain text (.txt, no suffix, or a language's, as .de); got "
        f"{path}, whose markup would be taken for text. Take the text out of it; if it is plain "
        "text, give it a name that says so."
    )


def undecodable(path: Path) -> DataError:
    """For a name that is no UTF-8, of a file or folder that a run has or names."""
    try:
        os.fsencode(path).decode("utf-8")
        remedy = "It is, but this process does not know: set PYTHONUTF8=1."
    except UnicodeError:
        remedy = "Rename it."
    return DataError(
        f"a run, and every file and folder that it names, has a name in UTF-8; got {path}. {remedy}"
    )


def refuse_no_unicode(*texts: str) -> None:
    """Raise ConfigError for a text that held bytes other than UTF-8 where it was typed."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            shown = text[:80].encode(errors="backslashreplace").decode()
            raise ConfigError(
                f"a text that is typed must be UTF-8; got '{shown}'. Type it in a "
                "terminal whose LANG ends in UTF-8."
            ) from None
