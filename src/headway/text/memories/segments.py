"""What stands in a unit of a translation file: text with codes in it, and the gaps to be filled."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable


class Code(NamedTuple):
    """A piece of markup inside a text, which must arrive in its translation once and unchanged."""

    text: str
    """As a reader and a model see it: the code that the markup stands for (`<b>`, `%s`), or the
    tag itself in short (`<x id="1"/>`, `<g id="1">`, `</g>`)."""
    raw: str = ""
    """As the file writes it, escaped; written into the target as it is."""


@dataclass(frozen=True)
class Segment:
    """Text and codes, in their order."""

    parts: tuple[str | Code, ...] = ()

    @property
    def text(self) -> str:
        """All of it as plain text, codes included: what a model learns from."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def codes(self) -> list[Code]:
        """The markup alone, in order."""
        return [part for part in self.parts if isinstance(part, Code)]

    @property
    def blank(self) -> bool:
        """Nothing here to translate: no letters or digits outside of the codes."""
        written = "".join(part for part in self.parts if isinstance(part, str))
        return not any(character.isalnum() for character in written)


@dataclass(frozen=True)
class Gap:
    """A place in a file that a translation belongs in."""

    source: Segment
    line: int
    """Line of the file, from 1, that the unit begins on."""
    filled: bool = False
    """A translation stands there already (asked for with `overwrite`)."""


@dataclass(frozen=True)
class Counts:
    """What a file holds besides its gaps: units by what was done with them."""

    units: int = 0
    left: dict[str, int] = field(default_factory=dict)
    """Units without a gap, by reason: `translated`, `missing_language`, `blank_side`, ..."""


@runtime_checkable
class Document(Protocol):
    """A file that can be filled in: every byte that no translation replaces stays as it is."""

    @property
    def gaps(self) -> Sequence[Gap]:
        """What can be filled in, in the order of the file."""

    @property
    def counts(self) -> Counts:
        """All units, and those that are left alone."""

    @property
    def source_language(self) -> str | None:
        """What is translated, as far as the file says it."""

    @property
    def target_language(self) -> str | None:
        """What is filled in, as far as the file says it."""

    def can_hold(self, translation: Segment, /) -> bool:
        """Whether all of its characters can be written in the file's encoding."""
        ...

    def filled(self, translations: Sequence[Segment | None]) -> bytes:
        """The whole file with a translation in each gap; None leaves a gap as it is.

        Each is marked as made by a machine, in the way that the format has for it.
        """
        ...
