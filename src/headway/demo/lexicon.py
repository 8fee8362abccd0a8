"""The words of the everyday corpus as typed records, read from the tables in words.toml."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Kinds = frozenset[str]


@dataclass(frozen=True)
class Phrase:
    """English, its Chinese, and the kinds of sentence that it suits."""

    en: str
    zh: str
    kinds: Kinds = frozenset()


@dataclass(frozen=True)
class Noun:
    """Something countable, or what is counted by the cup or pair (`lead`: "cup of")."""

    one: str
    many: str
    measure: str
    zh: str
    kinds: Kinds
    lead: str = ""
    leads: str = ""


@dataclass(frozen=True)
class Verb:
    """An action. `{}` in its forms stands for a person; `done` is the Chinese of the past."""

    base: str
    past: str
    zh: str
    done: str
    can: str = "能"
    objects: Kinds = frozenset()
    places: Kinds = frozenset()
    tenses: Kinds = frozenset()
    by: str = "person"

    @property
    def weight(self) -> int:
        """How often it is said, against others: what few animals do is said of them more often."""
        return 1 if self.by in ("person", "animal", "beast") else 5

    @property
    def third(self) -> str:
        """As in "she runs"."""
        return third_person(self.base)

    @property
    def ing(self) -> str:
        """As in "is running"."""
        first, _, rest = self.base.partition(" ")
        if first.endswith("e"):
            first = first[:-1]
        elif _DOUBLED.search(first):
            first += first[-1]
        return f"{first}ing {rest}".rstrip()


@dataclass(frozen=True)
class Adjective:
    """A quality: `zh` after the noun, `before` in front of it (empty if it cannot be)."""

    en: str
    zh: str
    before: str
    kinds: Kinds

    @property
    def comparative(self) -> str:
        """Taller, more famous."""
        if len(self.en) > 6 or self.en.endswith("ous"):
            return f"more {self.en}"
        stem = f"{self.en}{self.en[-1]}" if _DOUBLED.search(self.en) else self.en
        return f"{stem.removesuffix('e')}er"


@dataclass(frozen=True)
class Referent:
    """A candidate for *it*: how it is named and the reasons that fit it."""

    en: str
    measure: str
    zh: str
    reasons: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """As the Chinese says it when it is known."""
        return f"那{self.measure} {self.zh}"


@dataclass(frozen=True)
class Scene:
    """Two groups that meet in an event; `reasons` fit the first, each second has its own."""

    first: str
    second: str
    modes: tuple[str, ...]
    event: Verb
    reasons: tuple[str, ...]


_DOUBLED = re.compile(r"^[^aeiou]*[aeiou][^aeiouwxy]$")


def third_person(verb: str) -> str:
    """Runs, teaches, flies: of the first word, the others stay. (So are nouns made plural.)"""
    first, space, rest = verb.partition(" ")
    if re.search(r"[^aeiou]y$", first):
        first = f"{first[:-1]}ie"
    return f"{first}{'es' if re.search(r'(s|sh|ch|o)$', first) else 's'}{space}{rest}"


def _verb(en: str, zh: str, *rest: str) -> Verb:
    """`rest`: can, objects, places, tenses."""
    base, _, irregular = en.partition("/")
    first, space, others = base.partition(" ")
    regular = f"{first}d" if first.endswith("e") else re.sub(r"[^aeiou]y$", "ri", first) + "ed"
    past = f"{irregular or regular}{space}{others}"
    before, star, after = zh.partition("*")
    can, *kinds = rest or ("",)
    objects, places, tenses = (frozenset(cell.split()) for cell in kinds or ("", "", ""))
    by = next((each[3:] for each in tenses if each.startswith("by:")), "person")
    always = frozenset({"past", "habit", "now", "future"})
    done = f"{before} 了 {after}" if star else f"{zh} 了"
    tenses = always if by != "person" or not tenses else tenses
    done = " ".join(done.split())
    return Verb(base, past, before + after, done, can, objects, places, tenses, by)


@cache
def tables() -> dict[str, Any]:
    """All tables by name, from the files beside this one."""
    found: dict[str, Any] = {}
    for name in ("words", "patterns"):
        text = Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8")
        found |= tomllib.loads(text)
    return found


def cells(table: str) -> tuple[tuple[str, ...], ...]:
    """One row a line, `|` between cells, `-` for an empty cell."""
    lines = (line.split("|") for line in table.strip().splitlines())
    return tuple(tuple(c.strip() if c.strip() != "-" else "" for c in line) for line in lines)


@cache
def rows(table: str) -> tuple[tuple[str, ...], ...]:
    return cells(tables()[table])


def _entries(table: str) -> Iterator[tuple[str, str, Kinds]]:
    """English, Chinese and kinds of every entry of a table of `kinds | English=Chinese, ..`."""
    for kinds, entries in rows(table):
        for entry in entries.split(","):
            en, _, zh = entry.strip().partition("=")
            yield en, zh, frozenset(kinds.split())


@cache
def phrases(table: str) -> tuple[Phrase, ...]:
    return tuple(Phrase(*entry) for entry in _entries(table))


@cache
def nouns() -> tuple[Noun, ...]:
    """Every noun that can be bought, read, eaten, seen .."""
    found = []
    for en, zh, kinds in _entries("nouns"):
        one, _, irregular = en.partition("/")
        lead, of, single = one.rpartition(" of ")
        container, pair = lead.partition(" ")[0], f"{lead}{of}".rstrip()
        leads = pair.replace(container, third_person(container), 1) if lead else ""
        measure, _, name = zh.partition(" ")
        many = irregular or third_person(single)
        found.append(Noun(single, many, measure, name, kinds, pair, leads))
    return tuple(found)


@cache
def nouns_of(kinds: Kinds) -> tuple[Noun, ...]:
    return tuple(noun for noun in nouns() if noun.kinds & kinds)


@cache
def verbs() -> tuple[Verb, ...]:
    return tuple(_verb(*row) for row in rows("verbs"))


@cache
def adjectives() -> tuple[Adjective, ...]:
    """Every quality of a person or a thing."""
    entries = ((en, *zh.partition("/")[::2], kinds) for en, zh, kinds in _entries("adjectives"))
    return tuple(Adjective(*entry) for entry in entries)


@cache
def adjectives_of(kinds: Kinds) -> tuple[Adjective, ...]:
    """Those that may be said of what is of one of the kinds."""
    return tuple(adjective for adjective in adjectives() if adjective.kinds & kinds)


@cache
def things() -> dict[str, tuple[Referent, ...]]:
    """The candidates for *it*, by group; every animal that walks is one."""
    beasts = (Referent(n.one, n.measure, n.zh) for n in nouns() if "beast" in n.kinds)
    found = {"beast": tuple(beasts)}
    for en, zh, group in _entries("things"):
        name, _, fits = zh.partition(":")
        measure, own = name.split()
        thing = Referent(en, measure, own, tuple(fits.split()))
        kind = "".join(group)
        found[kind] = (*found.get(kind, ()), thing)
    return found


@cache
def scenes() -> tuple[Scene, ...]:
    """The events in which *it* needs an antecedent."""
    return tuple(
        Scene(first, second, tuple(modes.split()), _verb(en, zh), tuple(fits.split()))
        for first, second, modes, en, zh, fits in rows("scenes")
    )


@cache
def reasons() -> dict[str, tuple[str, str]]:
    """English and Chinese of every reason for which something did not happen to *it*."""
    found = ((en.partition("/"), zh) for en, zh, _ in _entries("reasons"))
    return {name: (other or name, zh) for (name, _, other), zh in found}
