"""The kinds of everyday sentence: each function draws the words for one table of patterns."""

from collections.abc import Callable

from headway.text.everyday import lexicon, patterns, words
from headway.text.everyday.drawing import Pair, Who, Writer, parted
from headway.text.everyday.lexicon import Scene, Thing, rows


def _fill(pattern: tuple[str, ...], english: dict[str, str], chinese: dict[str, str]) -> Pair:
    return pattern[0].format(**english), parted(pattern[1], chinese)


def _present(who: Who, *verbs: str) -> dict[str, str]:
    """The present tense of some verbs with this subject."""
    return {
        verb: verb if not who.third else f"{verb}es" if verb.endswith("ss") else f"{verb}s"
        for verb in verbs
    }


def action(writer: Writer) -> Pair:
    """Tom bought two books yesterday; he doesn't eat any eggs."""
    return writer.action(patterns.ACTIONS)


def action_question(writer: Writer) -> Pair:
    """Did Tom buy two books yesterday?"""
    english, chinese = writer.action(patterns.QUESTIONS)
    return f"{english}?", f"{chinese}？"


def _described(writer: Writer, kind: str) -> tuple[Who, Who, lexicon.Adjective]:
    """Two of a kind, and a quality that both may have."""
    if kind != "thing":
        who = writer.who()
        fits = [a for a in lexicon.adjectives() if kind in a.kinds]
        return who, writer.other(who), writer.random.choice(fits)
    named = [n for n in lexicon.nouns() if writer.qualities(n)]
    noun = writer.random.choice(named)
    first, second = writer.thing(noun), writer.thing(noun)
    while second.zh == first.zh:
        second = writer.thing(noun)
    return first, second, writer.random.choice(writer.qualities(noun))


def description(writer: Writer) -> Pair:
    """My mother is very tired; is that book interesting?"""
    kind = writer.random.choice(("state", "state", "trait", "thing"))
    pattern = writer.random.choice([r for r in rows(patterns.DESCRIPTIONS) if kind in r[2].split()])
    who, _, adjective = _described(writer, kind)
    when, when_zh = writer.when("past")
    return _fill(
        pattern,
        who.english() | {"adj": adjective.en, "when": when},
        {"who": who.zh, "adj": adjective.zh, "when": when_zh},
    )


def comparison(writer: Writer) -> Pair:
    """Tom is taller than Mary; this book is not as expensive as my book."""
    kind = writer.random.choice(("trait", "thing"))
    pattern = writer.random.choice([r for r in rows(patterns.COMPARISONS) if kind in r[2].split()])
    who, other, adjective = _described(writer, kind)
    while not adjective.comparative:
        who, other, adjective = _described(writer, kind)
    n = writer.one(words.NUMBERS, "few")
    named = {"en": adjective.en, "more": adjective.comparative, "other": other.object, "n": n.en}
    return _fill(
        pattern,
        who.english() | named,
        {"who": who.zh, "adj": adjective.zh, "other": other.zh, "n": n.zh},
    )


def possession(writer: Writer) -> Pair:
    """We have three cats; whose books are these?"""
    who, noun = writer.who(), writer.noun(frozenset({"goods", "thing", "pet", "farm", "drink"}))
    count, known = writer.count(noun), writer.known(noun)
    lost = writer.known(writer.noun(frozenset({"thing", "wear", "pet"})))
    owner = writer.owner()
    when, this = writer.when("past"), writer.random.choice((("this", "这"), ("that", "那")))
    english = who.english() | _present(who, "need", "want") | {"many": noun.many}
    english |= {"count": count[0], "known": known[0], "lost": lost[0], "when": when[0]}
    english |= {"this": this[0]}
    english |= {"measured": f"{noun.leads} {noun.many}", "own": f"{owner.own} {noun.many}"}
    if not noun.lead:
        english["own"] = f"{owner.own} {noun.one}"
    chinese = {"who": who.zh, "noun": noun.zh, "measure": noun.measure, "when": when[1]}
    chinese |= {"count": count[1], "known": known[1], "lost": lost[1], "this": this[1]}
    chinese["own"] = f"{owner.own_zh} {noun.zh}"
    return _fill(writer.random.choice(rows(patterns.POSSESSIONS)), english, chinese)


def liking(writer: Writer) -> Pair:
    """I love learning; she doesn't like cats."""
    who = writer.who()
    (liked, liked_zh), (rest, rest_zh) = writer.pastime(), writer.pastime()
    while rest_zh == liked_zh:
        rest, rest_zh = writer.pastime()
    english = who.english() | _present(who, "like", "love", "hate")
    return _fill(
        writer.random.choice(rows(patterns.LIKINGS)),
        english | {"liked": liked, "rest": rest},
        {"who": who.zh, "liked": liked_zh, "rest": rest_zh},
    )


def acquaintance(writer: Writer) -> Pair:
    """I don't know your older brother."""
    who = writer.who()
    other = writer.other(who)
    english = who.english() | _present(who, "know", "miss", "love", "like")
    return _fill(
        writer.random.choice(rows(patterns.ACQUAINTANCES)),
        english | {"other": other.object},
        {"who": who.zh, "other": other.zh},
    )


def whereabouts(writer: Writer) -> Pair:
    """Where is Mary? She has been to London."""
    who, place, when = writer.who(), writer.one(words.PLACES), writer.when("past")
    city = writer.one(words.DESTINATIONS, "city")
    english = who.english() | _present(who, "come")
    english |= {"place": place.en, "when": when[0], "city": city.en.removeprefix("to ")}
    chinese = {"who": who.zh, "place": place.zh, "when": when[1], "city": city.zh}
    return _fill(writer.random.choice(rows(patterns.WHEREABOUTS)), english, chinese)


def there_is(writer: Writer) -> Pair:
    """There are two cats under the table."""
    noun = writer.noun(frozenset({"thing", "pet", "read", "wear"}))
    spot, one, several = writer.spot(noun), writer.one_of(noun), writer.several(noun)
    thing = writer.thing(noun)
    english = {"one": one[0], "several": several[0], "many": noun.many, "spot": spot[0]}
    english |= {"measured": f"{noun.leads} {noun.many}", "thing": thing.en, "be": thing.be}
    chinese = {"one": one[1], "several": several[1], "noun": noun.zh, "spot": spot[1]}
    chinese |= {"measure": noun.measure, "thing": thing.zh}
    return _fill(writer.random.choice(rows(patterns.THERE_IS)), english, chinese)


def job(writer: Writer) -> Pair:
    """Your father is a doctor; how old is he?"""
    who = writer.random.choice((writer.name, writer.relative, writer.pronoun))()
    while who.en in ("we", "they"):
        who = writer.pronoun()
    jobs = [row for row in rows(words.ROLES) if row[-1] == "job"]
    work, _, _, work_zh, _, _ = writer.random.choice(jobs)
    n, place = writer.one(words.NUMBERS), writer.one(words.PLACES, "city")
    english = who.english() | _present(who, "want") | {"job": work, "n": n.en, "place": place.en}
    chinese = {"who": who.zh, "job": work_zh, "n": n.zh, "place": place.zh}
    return _fill(writer.random.choice(rows(patterns.JOBS)), english, chinese)


def weather(writer: Writer) -> Pair:
    """It was very cold in Beijing yesterday."""
    adjective, place = writer.one(words.WEATHER), writer.one(words.PLACES, "city")
    past, future = writer.when("past"), writer.when("future")
    english = {"adj": adjective.en, "place": "", "past": past[0], "future": future[0]}
    chinese = {"adj": adjective.zh, "place": "", "past": past[1], "future": future[1]}
    if writer.chance(0.6):
        english["place"], chinese["place"] = place.en, place.zh
    return _fill(writer.random.choice(rows(patterns.WEATHER)), english, chinese)


def request(writer: Writer) -> Pair:
    """Please buy two eggs tomorrow; let's go to the park."""
    who = writer.you()
    verb = writer.verb("future", "some", who)
    what, where, when = writer.what(verb, "some"), writer.where(verb, who), writer.when("future")
    english = {"do": verb.base, "what": what[0], "where": where[0], "when": when[0]}
    chinese = {"do": verb.zh, "what": what[1], "where": where[1], "when": when[1]}
    return _fill(writer.random.choice(rows(patterns.REQUESTS)), english, chinese)


def _clause(writer: Writer) -> Pair:
    """Any short statement."""
    clause = writer.random.choice((action, action, description, comparison, liking, whereabouts))
    english, chinese = clause(writer)
    while english.endswith("?"):
        english, chinese = clause(writer)
    return english, chinese


def report(writer: Writer) -> Pair:
    """Mary says that her brother can swim."""
    who = writer.who()
    clause, future = _clause(writer), writer.action(patterns.ACTIONS, "future")
    while " will " not in future[0]:
        future = writer.action(patterns.ACTIONS, "future")
    state = writer.state()
    english = who.english() | _present(who, "say", "think", "know", "hope")
    english |= {"clause": clause[0], "future": future[0], "again": who.again, "state": state.en}
    chinese = {"who": who.zh, "clause": clause[1], "future": future[1]}
    chinese |= {"again": who.again_zh, "state": state.zh}
    return _fill(writer.random.choice(rows(patterns.REPORTS)), english, chinese)


def joined(writer: Writer) -> Pair:
    """I didn't go to school because I was ill; if it rains, we will stay at home."""
    who = writer.who()
    again, other = writer.again(who), writer.other(who)
    clauses = {
        "past": writer.action(patterns.ACTIONS, "past", who),
        "past_soon": writer.action(patterns.ACTIONS, "past", who, timed=False),
        "past_again": writer.action(patterns.ACTIONS, "past", again, timed=False),
        "future_soon": writer.action(patterns.ACTIONS, "future", who, timed=False),
        "future_again": writer.action(patterns.ACTIONS, "future", again, timed=False),
        "now": writer.action(patterns.ACTIONS, "now", who),
        "now_other": writer.action(patterns.ACTIONS, "now", other),
        "can": writer.action(patterns.ACTIONS, "can", who),
        "can_other": writer.action(patterns.ACTIONS, "can", other),
        "when": writer.when("future"),
        "count": writer.count(writer.noun(frozenset({"goods", "food", "drink"}))),
        "doing": writer.doing(),
    }
    state, place = writer.state(), writer.one(words.PLACES)
    english = {name: clause[0] for name, clause in clauses.items()} | who.english()
    english |= {"again": who.again, "state": state.en, "place": place.en}
    chinese = {name: clause[1] for name, clause in clauses.items()}
    chinese |= {"who": who.zh, "again": who.again_zh, "state": state.zh, "place": place.zh}
    return _fill(writer.random.choice(rows(patterns.JOINED)), english, chinese)


def relative(writer: Writer) -> Pair:
    """The book that Tom bought yesterday is very interesting."""
    who, noun = writer.who(), writer.noun(frozenset({"read", "food", "wear", "vehicle", "film"}))
    fits = [v for v in lexicon.verbs() if v.objects & noun.kinds and "past" in v.tenses]
    verb = writer.random.choice([v for v in fits if "{}" not in v.base])
    adjective = writer.random.choice(writer.qualities(noun))
    other, when = writer.other(who), writer.when("past")
    named = f"the {noun.lead} {noun.one}"
    like = _present(other, "like")["like"]
    english = {"noun": named, "who": who.en, "did": verb.past, "when": when[0], "be": "is"}
    english |= {"adj": adjective.en, "other": other.en, "like": like}
    english |= {"like_not": f"{other.aux}n't like"}
    chinese = {"noun": f"那{noun.measure} {noun.zh}", "who": who.zh, "do": verb.zh, "when": when[1]}
    chinese |= {"adj": adjective.zh, "other": other.zh}
    return _fill(writer.random.choice(rows(patterns.RELATIVES)), english, chinese)


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
    reason, pattern = writer.random.choice(reasons), writer.random.choice(rows(patterns.IT))
    return told(scene, first, second, mode, named, reason, pattern)


def told(
    scene: Scene,
    first: Thing,
    second: Thing,
    mode: str,
    named: Thing,
    reason: str,
    pattern: tuple[str, ...],
) -> Pair:
    """The sentence in which `first` meets `second`, and `named` is the one that *it* stands for."""
    event, event_zh, was = _event(mode, scene, second)
    why, why_zh = lexicon.reasons()[reason]
    english = {"a": first.en, "event": event, "was": was, "why": why}
    chinese = {"A": _named(first), "event": event_zh, "named": _named(named), "why": why_zh}
    return _fill(pattern, english, chinese)


def not_it(writer: Writer) -> Pair:
    """Tom didn't cross the street because he was tired, or because it was too wide."""
    who = writer.who()
    scenes = [s for s in lexicon.scenes() if s.first == "animal" and "couldn't" in s.modes]
    scene = writer.random.choice(scenes)
    second = writer.random.choice(lexicon.things()[scene.second])
    event, event_zh, was = _event(writer.random.choice(("didn't", "couldn't")), scene, second)
    why, why_zh = lexicon.reasons()[writer.random.choice(second.reasons)]
    state = writer.state()
    english = {"who": who.en, "event": event, "was": was, "why": why, "again": who.again}
    english |= {"be": who.was, "state": state.en}
    chinese = {"who": who.zh, "event": event_zh, "named": _named(second), "why": why_zh}
    chinese |= {"again": who.again_zh, "state": state.zh}
    return _fill(writer.random.choice(rows(patterns.NOT_IT)), english, chinese)


def _named(thing: Thing) -> str:
    return f"那{thing.measure} {thing.zh}"


def _event(mode: str, scene: Scene, second: Thing) -> tuple[str, str, str]:
    """What did (not) happen: English, Chinese, and was or is."""
    _, fails, fails_zh, was = next(row for row in rows(words.MODES) if row[0] == mode)
    verb = scene.en.format(b=second.en)
    event = verb if mode == "did" else f"{fails} {verb}"
    return event, f"{fails_zh} {scene.zh.format(b=second.zh, B=_named(second))}", was


KINDS: dict[Callable[[Writer], Pair], int] = {
    action: 24,
    action_question: 14,
    it: 16,
    not_it: 3,
    joined: 10,
    liking: 5,
    description: 5,
    possession: 5,
    report: 4,
    comparison: 4,
    relative: 3,
    whereabouts: 3,
    there_is: 3,
    job: 2,
    weather: 3,
    acquaintance: 2,
    request: 2,
}
"""How often each kind of sentence is written, against the others."""
