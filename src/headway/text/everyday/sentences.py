"""The kinds of everyday sentence: each function draws the words for one table of patterns."""

from collections.abc import Callable

from headway.text.everyday import patterns, words
from headway.text.everyday.drawing import Pair, Who, Writer
from headway.text.everyday.words import Thing, rows


def _fill(pattern: list[str], english: dict[str, str], chinese: dict[str, str]) -> Pair:
    return pattern[0].format(**english), pattern[1].format(**chinese)


def _present(who: Who, *verbs: str) -> dict[str, str]:
    """The present tense of some verbs with this subject."""
    return {
        verb: verb if not who.third else f"{verb}es" if verb.endswith("ss") else f"{verb}s"
        for verb in verbs
    }


def action(writer: Writer) -> Pair:
    """Tom bought two books yesterday; the past weighs as much as it is used."""
    return writer.action(patterns.ACTIONS)


def action_question(writer: Writer) -> Pair:
    """Did Tom buy two books yesterday?"""
    english, chinese = writer.action(patterns.QUESTIONS)
    return f"{english}?", f"{chinese}？"


def _described(writer: Writer, kind: str) -> tuple[Who, Who, words.Adjective]:
    """Two of a kind, and a quality that both may have."""
    if kind != "thing":
        who = writer.who()
        fits = [a for a in words.adjectives() if kind in a.kinds]
        return who, writer.other(who), writer.random.choice(fits)
    named = [n for n in words.nouns() if writer.qualities(n)]
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
    owner = writer.who()
    when, this = writer.when("past"), writer.random.choice((("this", "这"), ("that", "那")))
    english = who.english() | _present(who, "need", "want") | {"many": noun.many}
    english |= {"count": count[0], "known": known[0], "when": when[0], "this": this[0]}
    english |= {"measured": f"{noun.leads} {noun.many}", "own": f"{owner.own} {noun.many}"}
    if not noun.lead:
        english["own"] = f"{owner.own} {noun.one}"
    chinese = {"who": who.zh, "noun": noun.zh, "measure": noun.measure, "when": when[1]}
    chinese |= {"count": count[1], "known": known[1], "this": this[1]}
    chinese["own"] = f"{owner.own_zh}{noun.zh}"
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
    spot, spot_zh = writer.spot(noun)
    count, count_zh = writer.count(noun)
    pattern = writer.random.choice(rows(patterns.THERE_IS))
    while ("{one}" in pattern[0]) != count.startswith(("a ", "an ")) and "count" in pattern[0]:
        count, count_zh = writer.count(noun)
    one, several = writer.one_of(noun), writer.several(noun)
    thing = writer.thing(noun)
    english = {"one": one[0], "several": several[0], "many": noun.many, "spot": spot, "be": thing.be}
    english |= {"measured": f"{noun.leads} {noun.many}", "thing": thing.en}
    chinese = {"one": one[1], "several": several[1], "noun": noun.zh, "spot": spot_zh}
    chinese |= {"measure": noun.measure, "thing": thing.zh}
    return _fill(pattern, english, chinese)
