"""Pairs for one check of the data doctor, and what it finds in them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from headway.core.cleaning import Pair
from headway.demo import generate
from headway.doctor.batches import batches
from headway.doctor.findings import Finding, FindingsLog


def everyday(n_pairs: int, seed: int = 1) -> list[tuple[str, str]]:
    """Clean English and Chinese."""
    return list(generate(n_pairs, seed))


def as_pairs(texts: Iterable[Sequence[str]], file: str = "f") -> list[Pair]:
    """Pairs of lines 1, 2, .. of a file."""
    return [Pair(text[0], text[1], file, line) for line, text in enumerate(texts, start=1)]


def found_by(
    check: Callable[[FindingsLog], object], texts: Iterable[Sequence[str]]
) -> dict[str, Finding]:
    """What a check finds, by name."""
    log = FindingsLog()
    made: Any = check(log)
    pairs = as_pairs(texts)
    for batch in batches(pairs):
        made.add(batch)
    if hasattr(made, "conclude"):
        made.conclude()
    log.conclude(getattr(made, "symptoms", ()), len(pairs))
    return {finding.name: finding for finding in log.findings()}


def lines_of(finding: Finding) -> list[int]:
    """The lines of its examples."""
    return [example.line for example in finding.examples]
