"""The sentences of the everyday corpus: patterns in two languages, and who fills them.

A pattern stands in a table as English | Chinese with the same slots in the order that each
language wants. A `Writer` draws what fills the slots. Each English sentence has one Chinese,
whose words are parted by spaces: numbers stand apart from measure words, 这 and 那 do not.
"""

import random
from dataclasses import dataclass, replace

from headway.text.everyday import lexicon, words
from headway.text.everyday.lexicon import Adjective, Noun, Phrase, Verb, rows

Slots = dict[str, str]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Who:
    """Somebody, in every form that a sentence may need."""

    en: str
    zh: str
    object: str
    own: str
    own_zh: str
    be: str
    was: str
    aux: str
    have: str
    again: str
    again_zh: str

    @property
    def third(self) -> bool:
        """Whether the present tense takes its -s."""
        return self.aux == "does"

    def english(self) -> Slots:
        """What the English patterns may say of this person."""
        return {"who": self.en, "be": self.be, "was": self.was, "aux": self.aux, "have": self.have}


def _third(en: str, zh: str, pronoun: str, own_zh: str = "") -> Who:
    own = f"{en}'s"
    again_zh = {"he": "他", "she": "她"}[pronoun]
    return Who(en, zh, en, own, own_zh or f"{zh} 的", "is", "was", "does", "has", pronoun, again_zh)


def _it(en: str, zh: str, plural: bool = False) -> Who:
    be, was, aux, have = ("are", "were", "do", "have") if plural else ("is", "was", "does", "has")
    return Who(en, zh, en, en, f"{zh} 的", be, was, aux, have, "it", zh)


def article(phrase: str) -> str:
    """The phrase with a or an."""
    return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"


def parted(pattern: str, chinese: Slots) -> str:
    """A Chinese pattern with its slots filled; where a slot begins or ends, so does a word."""
    return pattern.format(**{name: f" {words} " for name, words in chinese.items()})


class Writer:
    """Draws sentences; the same random numbers give the same sentences."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, table: str, kind: str = "") -> Phrase:
        """A row of a three-column table, of that kind if one is asked for."""
        found = lexicon.phrases(table)
        return self.random.choice([p for p in found if not kind or kind in p.kinds])

    def chance(self, share: float) -> bool:
        """True that often."""
        return self.random.random() < share

    # --- people -----------------------------------------------------------------------------

    def pronoun(self) -> Who:
        """I, you, he, she, we, they."""
        en, obj, own, zh, be, was, aux, have = self.random.choice(rows(words.PRONOUNS))
        return Who(en, zh, obj, own, f"{zh} 的", be, was, aux, have, en, zh)

    def you(self) -> Who:
        """The one who is spoken to."""
        en, obj, own, zh, be, was, aux, have = rows(words.PRONOUNS)[1]
        return Who(en, zh, obj, own, f"{zh} 的", be, was, aux, have, en, zh)

    def again(self, who: Who) -> Who:
        """The same person as a pronoun."""
        while (found := self.pronoun()).en != who.again:
            pass
        return replace(found, zh=who.again_zh)

    def name(self) -> Who:
        """Somebody with a name."""
        return _third(*self.random.choice(rows(words.NAMES)))

    def relative(self) -> Who:
        """My mother, Tom's friend."""
        en, zh, pronoun, between = self.random.choice(rows(words.RELATIVES))
        if self.chance(0.7):
            owner = self.pronoun()
            return _third(f"{owner.own} {en}", f"{owner.zh} {between} {zh}", pronoun)
        owner = self.name()
        return _third(f"{owner.own} {en}", f"{owner.own_zh} {zh}", pronoun)

    def role(self) -> Who:
        """The doctor, this girl, the boys."""
        one, many, measure, zh, pronoun, _ = self.random.choice(rows(words.ROLES))
        if self.chance(0.3):
            group = f"那些 {zh}"
            own = f"the {many}'" if many.endswith("s") else f"the {many}'s"
            return Who(
                f"the {many}", group, f"the {many}", own, f"{group} 的", "are", "were", "do",
                "have", "they", {"he": "他们", "she": "她们"}[pronoun],
            )  # fmt: skip
        this, this_zh = self.random.choice((("the", "那"), ("this", "这")))
        return _third(f"{this} {one}", f"{this_zh}{measure} {zh}", pronoun)

    def who(self) -> Who:
        """Anybody."""
        draw = self.random.choice((self.pronoun, self.pronoun, self.name, self.relative, self.role))
        return draw()

    def owner(self) -> Who:
        """Anybody to whom something may belong."""
        return self.random.choice((self.pronoun, self.pronoun, self.name, self.relative))()

    def other(self, who: Who) -> Who:
        """Anybody else."""
        other = self.who()
        while other.zh == who.zh or {other.en, who.en} == {"I", "we"}:
            other = self.who()
        return other

    # --- things -----------------------------------------------------------------------------

    def noun(self, kinds: frozenset[str]) -> Noun:
        """A noun of one of the kinds."""
        return self.random.choice([n for n in lexicon.nouns() if n.kinds & kinds])

    def qualities(self, noun: Noun) -> list[Adjective]:
        """The adjectives that may be said of the noun after "is"."""
        return [a for a in lexicon.adjectives() if a.zh and a.kinds & noun.kinds]

    def quality(self, noun: Noun, share: float) -> Pair:
        """An adjective in front of the noun, that often; else nothing."""
        fits = [a for a in lexicon.adjectives() if a.before and a.kinds & noun.kinds]
        if not fits or not self.chance(share):
            return "", ""
        found = self.random.choice(fits)
        return found.en, found.before

    def one_of(self, noun: Noun) -> Pair:
        """A book, a new book."""
        en, zh = self.quality(noun, 0.25)
        phrase = " ".join(f"{noun.lead} {en} {noun.one}".split())
        return article(phrase), f"一 {noun.measure} {zh} {noun.zh}"

    def several(self, noun: Noun) -> Pair:
        """Three books, some red flowers."""
        en, zh = self.quality(noun, 0.25)
        if self.chance(0.8):
            n = self.one(words.NUMBERS, "few" if self.chance(0.85) else "many")
            counted = f"{n.zh} {noun.measure} {zh} {noun.zh}"
            return f"{n.en} {noun.leads} {en} {noun.many}", counted
        much, much_zh = self.random.choice((("some", "一些"), ("a lot of", "很多")))
        return f"{much} {en} {noun.many}", f"{much_zh} {zh} {noun.zh}"

    def count(self, noun: Noun) -> Pair:
        """A book or several."""
        return self.one_of(noun) if self.chance(0.4) else self.several(noun)

    def thing(self, noun: Noun) -> Who:
        """The book, these books, my book, Tom's new book."""
        en, zh = self.quality(noun, 0.2)
        if self.chance(0.4) and not noun.lead:
            owner = self.owner()
            return _it(f"{owner.own} {en} {noun.one}", f"{owner.own_zh} {zh} {noun.zh}")
        if self.chance(0.25) and noun.one != noun.many:
            these, these_zh = self.random.choice((("the", "那些"), ("these", "这些")))
            return _it(f"{these} {en} {noun.many}", f"{these_zh} {zh} {noun.zh}", plural=True)
        this, this_zh = self.random.choice((("the", "那"), ("this", "这")))
        name = f"{this} {noun.lead} {en} {noun.one}"
        return _it(name, f"{this_zh}{noun.measure} {zh} {noun.zh}")

    def known(self, noun: Noun) -> Pair:
        """The same as two strings."""
        thing = self.thing(noun)
        return thing.en, thing.zh

    def state(self) -> Adjective:
        """How somebody feels."""
        return self.random.choice([a for a in lexicon.adjectives() if "state" in a.kinds])

    def doing(self) -> Pair:
        """Swimming, reading a book."""
        verb = self.random.choice([v for v in lexicon.verbs() if v.ing and "{}" not in v.base])
        what, what_zh = self.what(verb, "bare")
        return f"{verb.ing} {what}", " ".join(f"{verb.zh} {what_zh}".split())

    def spot(self, noun: Noun) -> Pair:
        """On the table, behind the door."""
        spot = self.one(words.SPOTS)
        while spot.en == noun.one:
            spot = self.one(words.SPOTS)
        fits = [p for p in lexicon.phrases(words.RELATIONS) if p.kinds & spot.kinds]
        relation = self.random.choice(fits)
        return f"{relation.en} the {spot.en}", f"{spot.zh} {relation.zh}"

    def pastime(self) -> Pair:
        """What one may like: cats, tea, swimming, reading newspapers."""
        if self.chance(0.5):
            noun = self.noun(frozenset({"food", "drink", "pet", "farm", "read", "film", "flower"}))
            en, zh = self.quality(noun, 0.15)
            return f"{en} {noun.many}", f"{zh} {noun.zh}"
        return self.doing()

    def what(self, verb: Verb, style: str) -> tuple[str, str]:
        """The object of a verb in the style that a pattern wants."""
        if not verb.objects or style == "asked":
            return "", ""
        noun = self.noun(verb.objects)
        if style == "count":
            return f"{noun.leads} {noun.many}", f"{noun.measure} {noun.zh}"
        if style == "skill":
            style = "bare" if verb.can == "会" else "the"
        if style == "some":
            style = "the" if self.chance(0.25) else "number"
        if style == "any" and self.chance(0.6):
            return f"any {noun.many}", noun.zh
        if style == "bare":
            en, zh = self.quality(noun, 0.15)
            return f"{en} {noun.many}", f"{zh} {noun.zh}"
        return self.count(noun) if style == "number" else self.known(noun)

    # --- actions ----------------------------------------------------------------------------

    def when(self, tense: str) -> Pair:
        """A time of that tense."""
        if tense == "past" and self.chance(0.2):
            n, span = self.one(words.NUMBERS, "few"), self.one(words.SPANS)
            return f"{n.en} {span.en} ago", f"{n.zh} {span.zh} 前"
        found = self.one(words.TIMES, tense)
        return found.en, found.zh

    def verb(self, tense: str, style: str, who: Who) -> Verb:
        """An action that the pattern can say; people act on somebody else."""
        if style not in ("asked", "count") and tense in ("past", "future") and self.chance(0.1):
            to = self.one(words.DESTINATIONS)
            return Verb(
                f"go {to.en}", f"goes {to.en}", f"went {to.en}", f"going {to.en}", f"去 {to.zh}",
                f"去 了 {to.zh}", "能", frozenset(), frozenset(), frozenset(),
            )  # fmt: skip
        fits = [v for v in lexicon.verbs() if tense in v.tenses or tense == "can"]
        fits = [v for v in fits if v.objects or style not in ("asked", "count")]
        found = self.random.choice(fits)
        if "{}" not in found.base:
            return found
        whom = self.other(who)
        en, zh = whom.object, whom.zh
        return replace(
            found, base=found.base.format(en), third=found.third.format(en), whom=zh,
            past=found.past.format(en), ing=found.ing.format(en), zh=found.zh.format(zh),
            done=found.done.format(zh),
        )  # fmt: skip

    def where(self, verb: Verb, who: Who) -> tuple[str, str, str]:
        """With whom and where, if at all: English, Chinese, and Chinese after 正在."""
        en, zh, inside = "", "", ""
        fits = [p for p in lexicon.phrases(words.PLACES) if p.kinds & verb.places]
        if fits and self.chance(0.4):
            place = self.random.choice(fits)
            en, zh, inside = place.en, f"在 {place.zh}", place.zh
        if not verb.whom and self.chance(0.12):
            friend = self.other(who)
            en, zh = f"with {friend.object} {en}", f"和 {friend.zh} 一起 {zh}"
            inside = zh
        return en, zh, inside

    def action(
        self, table: str, tense: str = "", who: Who | None = None, *, timed: bool = True
    ) -> Pair:
        """A clause: somebody does, did, will do, can do something, somewhere, some time."""
        every = [row for row in rows(table) if row[0].startswith(tense)]
        tense, style, english, chinese = self.random.choice(every)
        who = who or self.who()
        verb = self.verb("habit" if tense == "often" else tense, style, who)
        what, what_zh = self.what(verb, style)
        where, where_zh, inside = self.where(verb, who)
        when, when_zh = "", ""
        if timed and "{when}" in english:
            when, when_zh = self.when(tense)
        often = self.one(words.FREQUENCIES)
        want, plan = ("wants", "plans") if who.third else ("want", "plan")
        does = verb.third if who.third else verb.base
        slots = {
            "do": verb.base,
            "third": verb.third,
            "does": does,
            "did": verb.past,
            "doing": verb.ing,
            "what": what,
        }
        slots |= {"where": where, "when": when, "often": often.en, "want": want, "plan": plan}
        filled = english.format(**who.english(), **slots)
        slots_zh = {"who": who.zh, "do": verb.zh, "done": verb.done, "can": verb.can}
        slots_zh |= {"what": what_zh, "where": where_zh, "inside": inside}
        return filled, parted(chinese, slots_zh | {"when": when_zh, "often": often.zh})
