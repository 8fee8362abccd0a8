"""Where a piece of XML, of whatever format, falls into texts: by its elements and sentences."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from html import unescape
from typing import NamedTuple

from headway.localization.formats.markup import Token, closings, steps

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big bpt bx cite code del dfn ec em emph emphasis ept ex font g hi i "
    "ins it kbd link mark mrk pc ph q s samp sc small span strike strong sub sup term time tt u ut "
    "var x xref".split()
)
"""Names that stand inside of sentences, in XHTML, XLIFF, TMX, DocBook and DITA."""
_ENDED = re.compile(r"""[.!?…。！？][)\]"'’”»」』）]*\Z""")
_BEGUN = re.compile(r"""[(\["'‘“„«「『（¿¡]*([^\W\d_])""")


class XmlTags(NamedTuple):
    """What a request says of elements of XML, by their names."""

    ignored: Collection[str] = ()
    """They stay, with all that is in them."""
    splitting: Collection[str] = ()
    """They are texts of their own, wherever they stand."""
    non_splitting: Collection[str] = ()
    """They stand inside of texts."""
    outline: bool = True
    """Other elements are looked at for what they are."""

    def in_lower_case(self) -> "XmlTags":
        """As tokens have their names."""
        ignored, splitting, non_splitting = ({*map(str.lower, some)} for some in self[:3])
        return XmlTags(ignored, splitting, non_splitting, self.outline)


NO_TAGS = XmlTags()


class _OpenElement:
    """One that is closed, at `tags`; or all of a piece."""

    def __init__(self, tags: tuple[int, int], name: str, parent: "_OpenElement | None") -> None:
        self.tags, self.name, self.parent = tags, name, parent
        self.has_text = self.has_words = self.is_mixed = False
        """Text that stands right in it; text anywhere in it; whether it stands in text, or has
        some."""
        self.children = list[_OpenElement]()


def text_ends(
    text: str, some: Sequence[Token], stays: Callable[[Token], bool], tags: XmlTags
) -> tuple[set[int], set[int]]:
    """Which tokens are tags between two texts, and with which a new text begins.

    Tags part texts where `tags` say so, and where elements stand in one that has no text of its
    own: several of them, or one where no text is around it. Those that are known to stand inside of
    sentences do not; but where a sentence ends at one, and another begins without a space, that is
    a new text.
    """
    elements = _elements(text, some, stays)
    parting = {n for n, one in enumerate(some) if one.name in tags.splitting}
    inside = {*_INLINE, *tags.non_splitting} - {*tags.splitting}
    for one in elements if tags.outline else ():
        blocks = [child for child in one.children if child.has_words and child.name not in inside]
        if not one.has_text and (len(blocks) > 1 or not one.is_mixed):
            parting.update(n for block in blocks for n in block.tags)
    return parting, set(_sentence_starts(text, some, stays, tags.non_splitting))


def _elements(
    text: str, some: Sequence[Token], stays: Callable[[Token], bool]
) -> list[_OpenElement]:
    """All that is closed, each behind what it stands in."""
    ends, element = closings(some), _OpenElement((-1, len(some)), "", None)
    found = [element]
    for n, one, last in steps(some, stays):
        if one.kind == "start" and n in ends and last == n:
            inner = _OpenElement((n, ends[n]), one.name, element)
            element.children.append(inner)
            element = inner
            found.append(inner)
        elif one.kind == "end":
            while element.parent is not None and element.tags[1] <= n:
                element = element.parent
        elif one.kind == "cdata" or (one.kind == "text" and text[one.start : one.end].strip()):
            element.has_text = element.has_words = True
    for element in reversed(found):
        if element.parent is not None:
            element.parent.has_words |= element.has_words
    for element in found:
        around = element.parent is not None and element.parent.is_mixed
        element.is_mixed = element.has_text or around
    return found


def _sentence_starts(
    text: str,
    some: Sequence[Token],
    stays: Callable[[Token], bool],
    non_splitting: Collection[str],
) -> Iterator[int]:
    """Tokens with which a sentence begins that nothing but tags parts from the one before."""
    before, between = "", list[int]()
    for n, one, last in steps(some, stays):
        if one.kind == "text":
            here = unescape(text[one.start : one.end])
            begun = _BEGUN.match(here)
            if between and begun and not begun[1].islower() and _ENDED.search(before):
                yield next((k for k in between if some[k].kind != "end"), n)
            before, between = here, []
        elif one.kind == "cdata" or last > n or one.name in non_splitting:
            before = ""
        else:
            between.append(n)
