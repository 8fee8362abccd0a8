"""A glossary: how terms are to be translated, or that they are not."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from headway.core.cleaning import clean
from headway.core.errors import DataError

MAX_CHARACTERS = 200
"""The longest term."""
SHOWN = 3
"""Places named of each kind of row that is left out."""
SAME = "="
"""Written as a target: the term is not translated."""

_BAR = re.compile(r"(?<!\\)\|")


class GlossaryRow(NamedTuple):
    source: str
    target: str
    """Variants, parted by `|`; empty or `=` where it is not translated."""
    comment: str
    forms: str
    """Other spellings of the source, parted by `|`."""
    place: str
    """As `file:line`."""


class Term(NamedTuple):
    """A term of the source language and what may stand for it."""

    source: str
    forms: tuple[str, ...]
    """Other spellings that are found in texts. In these and in `source`, a `*` behind a word
    stands for any ending."""
    targets: tuple[str, ...]
    """Any of them will do; none where the term is not translated."""
    comment: str
    place: str


@dataclass
class Glossary:
    """Terms, and what was left out of the files that they come from."""

    terms: list[Term] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    """Places of rows by why they are not terms."""

    @classmethod
    def of(cls, rows: Iterable[GlossaryRow], name: str) -> "Glossary":
        """Put rows of one source together: several targets are variants.

        Raises DataError: one row translates what another says is not translated, or none is
        a term.
        """
        found, left_out = dict[str, Term](), dict[str, list[str]]()
        for row in rows:
            targets = () if row.target.strip() in ("", SAME) else _several(row.target)
            term = Term(
                clean(row.source), _several(row.forms), targets, clean(row.comment), row.place
            )
            known = found.get(term.source, term)
            why = _why_no_term(term)
            if not why:
                found[term.source] = _merged(known, term)
                if known is not term and found[term.source][:3] == known[:3]:
                    why = "said before"
            if why:
                left_out.setdefault(why, []).append(row.place)
        glossary = cls(list(found.values()), left_out)
        if not found:
            raise DataError(
                f"a glossary has a term and its translation on each row; {name} has none. "
                f"Left out: {glossary.left_out_in_words() or 'nothing'}."
            )
        return glossary

    def left_out_in_words(self) -> str:
        """As `2 (blank source: F:3, F:9)`; empty where nothing was."""
        parts = []
        for why, places in self.left_out.items():
            more = f", and {len(places) - SHOWN:,} more" if len(places) > SHOWN else ""
            parts.append(f"{len(places):,} ({why}: {', '.join(places[:SHOWN])}{more})")
        return ", ".join(parts)

    def in_words(self) -> str:
        """How many terms there are, and what was left out."""
        n_kept = sum(not term.targets for term in self.terms)
        left_out = self.left_out_in_words()
        return f"{len(self.terms):,} terms, {n_kept:,} of them not to be translated" + (
            f"; rows left out: {left_out}" if left_out else ""
        )


def _merged(known: Term, term: Term) -> Term:
    if bool(known.targets) != bool(term.targets):
        raise DataError(
            f"a term is translated or it is not; {known.source!r} is translated as "
            f"{' | '.join(known.targets or term.targets)!r} and also not to be translated, in "
            f"{known.place} and {term.place}. Remove one of the two."
        )
    return known._replace(
        forms=tuple(dict.fromkeys(known.forms + term.forms)),
        targets=tuple(dict.fromkeys(known.targets + term.targets)),
        comment="; ".join(dict.fromkeys(filter(None, (known.comment, term.comment)))),
    )


def _several(text: str) -> tuple[str, ...]:
    r"""The variants in a cell; `\|` is a bar in one."""
    variants = (clean(part.replace("\\|", "|")) for part in _BAR.split(text))
    return tuple(dict.fromkeys(filter(None, variants)))


def _why_no_term(term: Term) -> str:
    spellings = (term.source, *term.forms)
    if not term.source:
        return "blank source"
    if not any(map(str.isalnum, term.source)):
        return "no letter or digit in the source"
    if max(map(len, (*spellings, *term.targets))) > MAX_CHARACTERS:
        return f"longer than {MAX_CHARACTERS} characters"
    if any(re.search(r"(?<!\w)\*|\*(?=\w)", text) for text in spellings):
        return "a * that is not the end of a word"
    if any("*" in text[:-1] or text == "*" for text in term.targets):
        return "a * that is not the end of the translation"
    return ""
