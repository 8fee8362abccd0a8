"""The kinds of everyday sentence: who and what is drawn for each table of patterns.

In some, *it* stands for one of two things, and the Chinese must say which: see `told`, and
`coreference`, which reads it off again.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from headway.demo import lexicon
from headway.demo.lexicon import Adjective, Noun, Referent, Scene, rows
from headway.demo.sampling import Pair, Subject, Writer, filled

Kind = Callable[[Writer], Pair]


class Slots(dict[str, Pair]):
    """What stands in the slots of one sentence; drawn when its pattern first asks for it."""

    def __init__(self, writer: Writer, who: Subject, noun: Noun | None = None) -> None:
        super().__init__(who.slots())
        self.writer, self.who = writer, who
        if noun is not None:
            self.update(_of_noun(writer, noun))

    def __missing__(self, slot: str) -> Pair:
        self[slot] = _DRAWN[slot](self) if slot in _DRAWN else self._clause(slot)
        return self[slot]

    def _clause(self, slot: str) -> Pair:
        """A clause: its tense, and whose it is; all but `own` and `other` name no time."""
        tense, _, whose = slot.partition("_")
        who = {"again": self.writer.again, "other": self.writer.other}.get(whose, lambda who: who)
        timed = whose in ("own", "other")
        return self.writer.action("actions", tense, who(self.who), timed=timed)


def _of_noun(writer: Writer, noun: Noun) -> dict[str, Pair]:
    owner, thing = writer.owner(), writer.thing(noun)
    return {
        "one": writer.one_of(noun),
        "several": writer.several(noun),
        "count": writer.count(noun),
        "known": writer.thing(noun).named,
        "many": (noun.many, noun.zh),
        "measured": (f"{noun.leads} {noun.many}", f"{noun.measure} {noun.zh}"),
        "own": (f"{owner.own} {noun.many if noun.lead else noun.one}", f"{owner.own_zh} {noun.zh}"),
        "noun": (f"the {noun.lead} {noun.one}", f"那{noun.measure} {noun.zh}"),
        "thing": thing.named,
        "is": thing.slots()["be"],
        "spot": writer.spot(noun.one),
    }


def _other(slots: Slots) -> Pair:
    other = slots.writer.other(slots.who)
    return other.object, other.zh


def _rest(slots: Slots) -> Pair:
    while (rest := slots.writer.pastime())[1] == slots["liked"][1]:
        pass
    return rest


def _city(slots: Slots) -> Pair:
    en, zh = slots.writer.pair("destinations", "city")
    return en.removeprefix("to "), zh


def _state(slots: Slots) -> Pair:
    state = slots.writer.random.choice(lexicon.adjectives_of(frozenset({"state"})))
    return state.en, state.zh


def _job(slots: Slots) -> Pair:
    job = slots.writer.noun({"job"})
    return job.one, job.zh


_DRAWN: dict[str, Callable[[Slots], Pair]] = {
    "other": _other,
    "rest": _rest,
    "city": _city,
    "job": _job,
    "past": lambda slots: slots.writer.when("past"),
    "future": lambda slots: slots.writer.when("future"),
    "state": _state,
    "doing": lambda slots: slots.writer.doing(),
    "liked": lambda slots: slots.writer.pastime(),
    "spot": lambda slots: slots.writer.spot(),
    "somewhere": lambda slots: slots["in_city"] if slots.writer.chance(0.6) else ("", ""),
    "place": lambda slots: slots.writer.pair("places"),
    "in_city": lambda slots: slots.writer.pair("places", "city"),
    "n": lambda slots: slots.writer.pair("numbers", "few"),
    "weather": lambda slots: slots.writer.pair("weathers"),
    "this": lambda slots: slots.writer.random.choice((("this", "这"), ("that", "那"))),
    "lost": lambda slots: slots.writer.thing(slots.writer.noun({"thing", "wear", "pet"})).named,
    "clause": lambda slots: _statement(slots.writer),
    "promise": lambda slots: slots.writer.action("promises"),
}


def _kind(table: str, who: Callable[[Writer], Subject] = Writer.who, nouns: str = "") -> Kind:
    """Sentences of one table, about `who` and a noun of one of these kinds."""

    def draw(writer: Writer) -> Pair:
        noun = writer.noun(set(nouns.split())) if nouns else None
        slots = Slots(writer, who(writer), noun)
        return filled(writer.random.choice(rows(table)), slots, slots.who)

    return draw


def _one_person(writer: Writer) -> Subject:
    """Who may have a job."""
    who = writer.random.choice((writer.name, writer.relative, writer.pronoun))()
    return who if who.en not in ("we", "they") else _one_person(writer)


def _acting(
    table: str, who: Callable[[Writer], Subject | None] = lambda _: None, mark: Pair = ("", "")
) -> Kind:
    """What somebody, or `who`, does, did, will do, may do: sentences of one table of actions."""

    def draw(writer: Writer) -> Pair:
        english, chinese = writer.action(table, who=who(writer))
        return english + mark[0], chinese + mark[1]

    return draw


def description(writer: Writer) -> Pair:
    """My mother is very tired; is that book interesting?"""
    return _described(writer, "descriptions", ("state", "state", "trait", "thing", "beast"))


def comparison(writer: Writer) -> Pair:
    """Tom is taller than Mary; this book is not as expensive as my book."""
    return _described(writer, "comparisons", ("trait", "thing", "thing"))


def _described(writer: Writer, table: str, kinds: tuple[str, ...]) -> Pair:
    """Somebody or something, another of the kind, and a quality that both may have."""
    kind = writer.random.choice(kinds)
    *pattern, _ = writer.random.choice([row for row in rows(table) if kind in row[2].split()])
    if kind == "thing":
        noun = writer.random.choice([n for n in lexicon.nouns() if _qualities(n)])
        who = other = writer.thing(noun)
        while other.zh == who.zh:
            other = writer.thing(noun)
        fits = _qualities(noun)
    else:
        who = writer.seen("beast") if kind == "beast" else writer.who()
        other = writer.other(who)
        fits = lexicon.adjectives_of(frozenset({kind}))
    adjective, slots = writer.random.choice(fits), Slots(writer, who)
    slots["other"] = other.object, other.zh
    slots["adj"] = adjective.en, adjective.zh
    slots["more"] = adjective.comparative, ""
    return filled(pattern, slots, who)


@cache
def _qualities(noun: Noun) -> tuple[Adjective, ...]:
    """The adjectives that may be said of a thing after "is"."""
    fits = lexicon.adjectives_of(noun.kinds - {"person", "beast"})
    return tuple(adjective for adjective in fits if adjective.zh)


def _statement(writer: Writer) -> Pair:
    """Any short statement."""
    clauses = (action, action, description, comparison, liking, whereabouts)
    clause = writer.random.choice(clauses)
    while (found := clause(writer))[0].endswith("?"):
        pass
    return found


def relative(writer: Writer) -> Pair:
    """The book that Tom bought yesterday is very interesting."""
    noun, who = writer.noun({"read", "food", "wear", "vehicle", "film"}), writer.who()
    other = writer.other(who)
    fits = [v for v in lexicon.verbs() if v.objects & noun.kinds and "past" in v.tenses]
    verb = writer.random.choice([v for v in fits if "{}" not in v.base and v.by == "person"])
    adjective, slots = writer.random.choice(_qualities(noun)), Slots(writer, who, noun)
    slots["other"], slots["did"] = (other.en, other.zh), (verb.past, verb.zh)
    slots["adj"] = adjective.en, adjective.zh
    return filled(writer.random.choice(rows("relatives")), slots, who)


# --- who is *it*? -------------------------------------------------------------------------------


def it(writer: Writer) -> Pair:
    """The animal didn't cross the street because it was too tired (or too wide).

    English says *it*; Chinese names the one of the two that the reason fits. Each is right half of
    the time, whatever the two are, so that only the reason tells.
    """
    scene = writer.random.choice(lexicon.scenes())
    first = writer.random.choice(lexicon.things()[scene.first])
    second = writer.random.choice(lexicon.things()[scene.second])
    mode = writer.random.choice(scene.modes)
    named, reasons = writer.random.choice(((first, scene.reasons), (second, second.reasons)))
    reason, pattern = writer.random.choice(reasons), writer.random.choice(rows("it"))
    return told(scene, first, second, mode, named, reason, pattern)


def told(
    scene: Scene,
    first: Referent,
    second: Referent,
    mode: str,
    named: Referent,
    reason: str,
    pattern: tuple[str, ...],
) -> Pair:
    """The sentence in which `first` meets `second`, and `named` is the one that *it* stands for."""
    event, was = _event(mode, scene, second)
    slots = {"first": (first.en, first.named), "event": event, "was": (was, "")}
    return filled(pattern, slots | {"named": ("", named.named), "why": lexicon.reasons()[reason]})


def plain(writer: Writer) -> Pair:
    """The animal crossed the street; the street was too wide: half of a sentence about *it*."""
    scene = writer.random.choice([s for s in lexicon.scenes() if s.first != "object"])
    first, second = (
        writer.random.choice(lexicon.things()[group]) for group in (scene.first, scene.second)
    )
    mode = "did" if writer.chance(0.5) else writer.random.choice(scene.modes)
    event, _ = _event(mode, scene, second)
    named, reasons = writer.random.choice(((first, scene.reasons), (second, second.reasons)))
    slots = {"first": (first.en, first.named), "event": event, "named": (named.en, named.named)}
    slots["why"] = lexicon.reasons()[writer.random.choice(reasons)]
    return filled(writer.random.choice(rows("plain")), slots)


def not_it(writer: Writer) -> Pair:
    """Tom didn't cross the street because he was tired, or because it was too wide."""
    who = writer.who()
    scenes = [s for s in lexicon.scenes() if s.first == "beast" and "couldn't" in s.modes]
    scene = writer.random.choice(scenes)
    second = writer.random.choice(lexicon.things()[scene.second])
    slots = Slots(writer, who)
    slots["event"], _ = _event(writer.random.choice(("didn't", "couldn't")), scene, second)
    slots["named"] = "", second.named
    slots["why"] = lexicon.reasons()[writer.random.choice(second.reasons)]
    return filled(writer.random.choice(rows("not_it")), slots)


def _event(mode: str, scene: Scene, second: Referent) -> tuple[Pair, str]:
    """What did (not) happen, and was or is."""
    _, fails, fails_zh, was = next(row for row in rows("modes") if row[0] == mode)
    verb, names = scene.event, {"b": second.zh, "B": second.named}
    if mode == "did":
        return (verb.past.format(b=second.en), verb.done.format(**names)), was
    english = f"{fails} {verb.base.format(b=second.en)}"
    return (english, f"{fails_zh} {verb.zh.format(**names)}"), was


action, liking = _acting("actions"), _kind("likings")
whereabouts = _kind("whereabouts")

KINDS: dict[str, tuple[int, Kind]] = {
    "action": (24, action),
    "question": (14, _acting("questions", mark=("?", "？"))),
    "sight": (14, _acting("sights", lambda writer: writer.seen("pet", "animal", "person"))),
    "posture": (2, _kind("postures", lambda writer: writer.seen("beast", "person"))),
    "it": (16, it),
    "plain": (5, plain),
    "not_it": (3, not_it),
    "joined": (10, _kind("joined", nouns="goods food drink")),
    "liking": (5, liking),
    "description": (6, description),
    "possession": (5, _kind("possessions", nouns="goods thing pet farm drink")),
    "report": (4, _kind("reports")),
    "comparison": (5, comparison),
    "relative": (3, relative),
    "whereabouts": (4, whereabouts),
    "there_is": (3, _kind("there_is", nouns="thing pet read wear")),
    "job": (2, _kind("jobs", _one_person)),
    "weather": (3, _kind("weather")),
    "acquaintance": (2, _kind("acquaintances")),
    "request": (2, _acting("requests", lambda writer: writer.pronoun("you"))),
}
"""How often each kind of sentence is written, against the others, and what writes it."""


# --- what is *it*, read off the Chinese -----------------------------------------------------------

_TWO_NOUNS = re.compile(r"The (\w+) .* the (\w+) because it ")


class Coreference(NamedTuple):
    """The two nouns of an English sentence between which the reason decides."""

    antecedent: str
    """What *it* stands for."""
    rival: str
    """What it could have stood for."""
    named_at: int
    """Where in the Chinese the antecedent is named again, in characters; after the measure word."""


def coreference(english: str, chinese: str) -> Coreference | None:
    """What *it* stands for, as the Chinese names it; None if no two nouns compete.

    None as well if the Chinese, say a model's, names neither of the two.
    """
    found = _TWO_NOUNS.match(english)
    if found is None:
        return None
    first, second = found.groups()
    event, because, reason = chinese.partition("因为那")
    candidates = [thing for group in lexicon.things().values() for thing in group]
    for antecedent, rival in ((first, second), (second, first)):
        for thing in candidates:
            if thing.en == antecedent and reason.startswith(f"{thing.measure}{thing.zh}"):
                named_at = len(event) + len(because) + len(thing.measure)
                return Coreference(antecedent, rival, named_at)
    return None
