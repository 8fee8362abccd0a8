"""Changes to a file of XML that leave every other byte as it was."""

import re
from collections.abc import Mapping

_INDENTATION_BYTES = 1_000


def with_attributes(tag: bytes, values: Mapping[str, str]) -> bytes:
    """A start tag or empty tag with these attributes set; the values need no escaping."""
    for name, value in values.items():
        written = f'{name}="{value}"'.encode()
        found = re.search(
            rb"""(?<=\s)%b\s*=\s*("[^"]*"|'[^']*')""" % re.escape(name.encode()), _masked(tag)
        )
        if found:
            tag = tag[: found.start()] + written + tag[found.end() :]
        else:
            inside = tag.removesuffix(b">").removesuffix(b"/").rstrip()
            tag = inside + b" " + written + tag[len(inside) :]
    return tag


def _masked(tag: bytes) -> bytes:
    """The tag with the values blanked out, so that no value is taken for an attribute."""
    return re.sub(
        rb"\"[^\"]*\"|'[^']*'", lambda v: v[0][:1] + b"_" * (len(v[0]) - 2) + v[0][-1:], tag
    )


def opened(tag: bytes) -> bytes:
    """An empty tag as a start tag; a start tag as it is."""
    return tag[:-2].rstrip() + b">" if tag.endswith(b"/>") else tag


def tag_name(tag: bytes) -> bytes:
    """The name in a tag, with its prefix."""
    found = re.match(rb"</?([^\s/>]+)", tag)
    assert found, "a tag has a name"
    return found[1]


def indentation(data: bytes, position: int) -> bytes:
    """The white space in front of a tag, if nothing else stands between it and another tag."""
    near = data[max(0, position - _INDENTATION_BYTES) : position]
    behind = near.rstrip(b" \t\r\n")
    return near[len(behind) :] if behind.endswith(b">") else b""


def line_end(data: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in data else b"\n"
