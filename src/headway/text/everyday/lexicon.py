"""The words of the everyday corpus as typed records, read from the tables in `words`."""

from dataclasses import dataclass
from functools import cache

from headway.text.everyday import words


@dataclass(frozen=True)
class Noun:
    """Something countable, or what is counted by the cup or pair (`lead`: "cup of")."""

    lead: str
    leads: str
    one: str
    many: str
    measure: str
    zh: str
    kinds: frozenset[str]


@dataclass(frozen=True)
class Verb:
    """An action. `{}` in its forms stands for a person; `done` is the Chinese of the past."""

    base: str
    third: str
    past: str
    ing: str
    zh: str
    done: str
    can: str
    objects: frozenset[str]
    places: frozenset[str]
    tenses: frozenset[str]
    whom: str = ""


@dataclass(frozen=True)
class Adjective:
    """A quality: `zh` after the noun, `before` in front of it (- if it does not stand there)."""

    en: str
    comparative: str
    zh: str
    before: str
    kinds: frozenset[str]


@dataclass(frozen=True)
class Phrase:
    """English, its Chinese, and the kinds of sentence that it suits."""

    en: str
    zh: str
    kinds: frozenset[str]


@dataclass(frozen=True)
class Thing:
    """A candidate for *it*: how it is named and the reasons that fit it."""

    en: str
    measure: str
    zh: str
    group: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Scene:
    """Two groups that meet in an event; `reasons` fit the first, each second has its own."""

    first: str
    second: str
    modes: tuple[str, ...]
    en: str
    zh: str
    reasons: tuple[str, ...]


@cache
def rows(table: str) -> tuple[tuple[str, ...], ...]:
    """The cells of a table: one row a line, `|` between cells, `-` for an empty cell."""
    lines = (line.split("|") for line in table.strip().splitlines())
    return tuple(tuple(c.strip() if c.strip() != "-" else "" for c in line) for line in lines)


def _kinds(cell: str) -> frozenset[str]:
    return frozenset(cell.split())


@cache
def nouns(table: str = words.NOUNS) -> tuple[Noun, ...]:
    """Every noun that can be bought, read, eaten, seen ..., or those of another table."""
    found = []
    for one, many, measure, zh, kinds in rows(table):
        lead, of, single = one.rpartition(" of ")
        leads, _, several = many.rpartition(" of ")
        counted = (f"{lead}{of}".rstrip(), f"{leads}{of}".rstrip())
        found.append(Noun(*counted, single, several, measure, zh, _kinds(kinds)))
    return tuple(found)


@cache
def verbs() -> tuple[Verb, ...]:
    """Every action."""
    return tuple(
        Verb(base, third, past, ing, zh, done, can, _kinds(objects), _kinds(places), _kinds(tenses))
        for base, third, past, ing, zh, done, can, objects, places, tenses in rows(words.VERBS)
    )


@cache
def adjectives() -> tuple[Adjective, ...]:
    """Every quality of a person or a thing."""
    return tuple(
        Adjective(en, comparative, zh, before, _kinds(kinds))
        for en, comparative, zh, before, kinds in rows(words.ADJECTIVES)
    )


@cache
def phrases(table: str) -> tuple[Phrase, ...]:
    """A table of English | Chinese | kinds."""
    return tuple(Phrase(en, zh, _kinds(kinds)) for en, zh, kinds in rows(table))


@cache
def things() -> dict[str, tuple[Thing, ...]]:
    """The candidates for *it*, by group."""
    found: dict[str, tuple[Thing, ...]] = {}
    for en, measure, zh, group, fits in rows(words.THINGS):
        thing = Thing(en, measure, zh, group, tuple(fits.split()))
        found[group] = (*found.get(group, ()), thing)
    return found


@cache
def scenes() -> tuple[Scene, ...]:
    """The events in which *it* needs an antecedent."""
    return tuple(
        Scene(first, second, tuple(modes.split()), en, zh, tuple(fits.split()))
        for first, second, modes, en, zh, fits in rows(words.SCENES)
    )


@cache
def reasons() -> dict[str, tuple[str, str]]:
    """English and Chinese of every reason for which something did not happen to *it*."""
    return {name: (en, zh) for name, en, zh in rows(words.REASONS)}
