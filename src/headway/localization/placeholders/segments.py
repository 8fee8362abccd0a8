"""Text with codes in it: what a unit of a translation file, or a line, is to a translator."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Code(NamedTuple):
    """A piece of markup inside a text, which must arrive in its translation once and unchanged."""

    text: str
    """As a reader and a model see it: the code that the markup stands for (`<b>`, `%s`), or the
    tag itself in short (`<x id="1"/>`, `<g id="1">`, `</g>`)."""
    raw: str = ""
    """As the file writes it, escaped; written into the target as it is."""


@dataclass(frozen=True)
class Segment:
    parts: tuple[str | Code, ...] = ()

    @classmethod
    def of(cls, parts: Iterable[str | Code]) -> "Segment":
        """Texts that stand side by side are one, and empty ones none."""
        joined: list[str | Code] = []
        for part in parts:
            if isinstance(part, str) and joined and isinstance(last := joined[-1], str):
                joined[-1] = last + part
            elif part or isinstance(part, Code):
                joined.append(part)
        return cls(tuple(joined))

    def with_codes(
        self, find: Callable[[str], Iterable[tuple[int, int]]], *, raw: bool = False
    ) -> "Segment":
        """The same with these stretches of its texts as codes, too; `raw`, as the file's own."""
        parts: list[str | Code] = []
        for part in self.parts:
            if isinstance(part, Code):
                parts.append(part)
                continue
            place = 0
            for start, end in find(part):
                found = part[start:end]
                parts += [part[place:start], Code(found, found * raw)]
                place = end
            parts.append(part[place:])
        return Segment.of(parts)

    @property
    def text(self) -> str:
        """All of it as plain text, codes included: what a model learns from."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def codes(self) -> list[Code]:
        return [part for part in self.parts if isinstance(part, Code)]

    @property
    def outside_codes(self) -> str:
        """Its text, codes left out."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def wordless(self) -> bool:
        """Nothing here that a model could translate: no letters outside of the codes."""
        return not any(map(str.isalpha, self.outside_codes))

    @property
    def blank(self) -> bool:
        """Nothing here to translate: no letters or digits outside of the codes."""
        return not any(map(str.isalnum, self.outside_codes))


def as_segment(text: str, source: Segment) -> Segment:
    """A translation for the place of `source`: where it has a code of the source, that code itself.

    A code that stands there more often than in the source is plain text the further times.
    """
    waiting: dict[str, list[Code]] = {}
    for code in source.codes:
        waiting.setdefault(code.text, []).append(code)
    names = sorted(filter(None, waiting), key=len, reverse=True)
    if not names:
        return Segment((text,) if text else ())
    parts: list[str | Code] = []
    for piece in re.split(f"({'|'.join(map(re.escape, names))})", text):
        if codes := waiting.get(piece):
            parts.append(codes.pop(0))
        elif piece:
            parts.append(piece)
    return Segment(tuple(parts))
