"""A glossary: how terms are to be translated, or that they are not."""

import re
from collections.abc import Iterable, Sequence
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

        Raises:
            DataError: one row translates what another says is not translated, or none is a term.
        """
        glossary = cls()
        found: dict[str, Term] = {}
        for row in rows:
            term = glossary._term(row)
            if term is None:
                continue
            known = found.setdefault(term.source, term)
            if known is not term:
                found[term.source] = glossary._merged(known, term)
        glossary.terms = list(found.values())
        if not found:
            raise DataError(
                f"a glossary has a term and its translation on each row; {name} has none. "
                f"Left out: {glossary.left_out_in_words() or 'nothing'}."
            )
        return glossary

    def _leave_out(self, why: str, place: str) -> None:
        self.left_out.setdefault(why, []).append(place)

    def _term(self, row: GlossaryRow) -> Term | None:
        source, forms = clean(row.source), _several(row.forms)
        targets = () if row.target.strip() in ("", SAME) else _several(row.target)
        wrong = _why_no_term(source, forms, targets)
        if wrong:
            self._leave_out(wrong, row.place)
            return None
        return Term(source, forms, targets, clean(row.comment), row.place)

    def _merged(self, known: Term, term: Term) -> Term:
        if bool(known.targets) != bool(term.targets):
            raise DataError(
                f"a term is translated or it is not; {known.source!r} is translated as "
                f"{' | '.join(known.targets or term.targets)!r} and also not to be translated, in "
                f"{known.place} and {term.place}. Remove one of the two."
            )
        if set(term.targets) <= set(known.targets) and set(term.forms) <= set(known.forms):
            self._leave_out("said before", term.place)
        return known._replace(
            forms=tuple(dict.fromkeys(known.forms + term.forms)),
            targets=tuple(dict.fromkeys(known.targets + term.targets)),
            comment="; ".join(dict.fromkeys(filter(None, (known.comment, term.comment)))),
        )

    def left_out_in_words(self) -> str:
        """As `2 rows (blank source: F:3, F:9)`; empty where nothing was."""
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


def _several(text: str) -> tuple[str, ...]:
    r"""The variants in a cell; `\|` is a bar in one."""
    variants = (clean(part.replace("\\|", "|")) for part in _BAR.split(text))
    return tuple(dict.fromkeys(filter(None, variants)))


def _why_no_term(source: str, forms: Sequence[str], targets: Sequence[str]) -> str:
    if not source:
        return "blank source"
    if not any(character.isalnum() for character in source):
        return "no letter or digit in the source"
    if any(len(text) > MAX_CHARACTERS for text in (source, *forms, *targets)):
        return f"longer than {MAX_CHARACTERS} characters"
    for text in (source, *forms):
        if re.search(r"(?<!\w)\*|\*(?=\w)", text):
            return "a * that is not the end of a word"
    for text in targets:
        if "*" in text[:-1] or text == "*":
            return "a * that is not the end of the translation"
    return ""
