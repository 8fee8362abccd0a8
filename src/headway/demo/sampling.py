"""Who and what fills the patterns of the everyday corpus.

A pattern stands in a table as English | Chinese with the same slots in the order that each
language wants. A `Writer` draws what fills the slots. Each English sentence has one Chinese,
whose words are parted by spaces: numbers stand apart from measure words, 这 and 那 do not.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headway.demo import lexicon
from headway.demo.lexicon import Noun, Phrase, Verb, rows, third_person

Pair = tuple[str, str]
_AGREEING = re.compile(r"\b(\w++)\(s\)")
_SLOT = re.compile(r"\{(\w+)\}")
_PERSONS = {"I": "am was do have", "he": "is was does has", "they": "are were do have"}


@dataclass(frozen=True)
class Subject:
    """Somebody, or an animal or a thing, in every form that a sentence may need."""

    en: str
    zh: str
    object: str
    own: str
    own_zh: str
    person: str
    """Is, was, does, has."""
    again: str
    again_zh: str
    kinds: frozenset[str] = frozenset({"person"})

    @property
    def named(self) -> Pair:
        return self.en, self.zh

    @property
    def third(self) -> bool:
        """Whether the present tense takes its -s."""
        return " does " in self.person

    def slots(self) -> dict[str, Pair]:
        """What patterns may say of this person."""
        forms = zip(("be", "was", "aux", "have"), self.person.split(), strict=True)
        named = {"who": self.named, "again": (self.again, self.again_zh)}
        return named | {name: (form, "") for name, form in forms}


def _third(en: str, zh: str, pronoun: str, own_zh: str = "") -> Subject:
    again_zh = {"he": "他", "she": "她"}[pronoun]
    own_zh = own_zh or f"{zh} 的"
    return Subject(en, zh, en, f"{en}'s", own_zh, _PERSONS["he"], pronoun, again_zh)


def article(phrase: str) -> str:
    return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"


def filled(pattern: Sequence[str], slots: Mapping[str, Pair], who: Subject | None = None) -> Pair:
    """Both languages of a pattern; where a Chinese slot begins or ends, so does a word.

    `verb(s)` in the English agrees with `who`. Slots may be drawn when they are first asked for.
    """

    def agreeing(verb: re.Match[str]) -> str:
        return third_person(verb[1]) if who and who.third else verb[1]

    english = _AGREEING.sub(agreeing, pattern[0])
    english = _SLOT.sub(lambda slot: slots[slot[1]][0], english)
    return english, _SLOT.sub(lambda slot: f" {slots[slot[1]][1]} ", pattern[1])


class Writer:
    """Draws words and clauses; the same random numbers give the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, table: str, kind: str = "") -> Phrase:
        """An entry of a table, of that kind if one is asked for."""
        return self.random.choice(
            [p for p in lexicon.phrases(table) if not kind or kind in p.kinds]
        )

    def pair(self, table: str, kind: str = "") -> Pair:
        found = self.one(table, kind)
        return found.en, found.zh

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # --- people and animals -----------------------------------------------------------------

    def pronoun(self, en: str = "") -> Subject:
        """I, you, he, she, we, they; or the one that is named."""
        fits = [row for row in rows("pronouns") if en in ("", row[0])]
        en, obj, own, zh, *forms = self.random.choice(fits)
        return Subject(en, zh, obj, own, f"{zh} 的", " ".join(forms), en, zh)

    def again(self, who: Subject) -> Subject:
        return replace(self.pronoun(who.again), zh=who.again_zh)

    def name(self) -> Subject:
        found = self.one("names")
        return _third(found.en, found.zh, *found.kinds)

    def relative(self) -> Subject:
        """My mother, Tom's friend."""
        found, owner = self.one("kin"), self.name()
        between = owner.own_zh
        if self.chance(0.7):
            owner = self.pronoun()
            between = owner.own_zh if "的" in found.kinds else owner.zh
        (pronoun,) = found.kinds - {"的"}
        return _third(f"{owner.own} {found.en}", f"{between} {found.zh}", pronoun)

    def role(self) -> Subject:
        """The doctor, this girl, the boys."""
        role = self.noun({"person"})
        if self.chance(0.3):
            return self._role(f"the {role.many}", f"那些 {role.zh}", role, "they")
        this, this_zh = self.random.choice((("the", "那"), ("this", "这")))
        return self._role(f"{this} {role.one}", f"{this_zh}{role.measure} {role.zh}", role)

    def _role(self, en: str, zh: str, role: Noun, person: str = "he") -> Subject:
        (pronoun,) = role.kinds & {"he", "she"}
        found = _third(en, zh, pronoun)
        if person == "he":
            return found
        own = f"{en}'" if en.endswith("s") else f"{en}'s"
        again_zh = {"he": "他们", "she": "她们"}[pronoun]
        return replace(found, own=own, person=_PERSONS["they"], again="they", again_zh=again_zh)

    def who(self) -> Subject:
        """Anybody."""
        draw = self.random.choice((self.pronoun, self.pronoun, self.name, self.relative, self.role))
        return draw()

    def owner(self) -> Subject:
        """Anybody to whom something may belong."""
        return self.random.choice((self.pronoun, self.pronoun, self.name, self.relative))()

    def other(self, who: Subject) -> Subject:
        """Anybody else."""
        other = self.who()
        while other.zh == who.zh or {other.en, who.en} == {"I", "we"}:
            other = self.who()
        return other

    def seen(self, *kinds: str) -> Subject:
        """One of these kinds, or several: a dog, the small cat, two boys."""
        noun = self.noun({self.random.choice(kinds)})
        if self.chance(0.4):
            en, zh = self.one_of(noun)
        elif self.chance(0.25):
            en, zh = self.several(noun)
            return Subject(en, zh, en, "", "", _PERSONS["they"], "they", "", noun.kinds)
        elif "person" in noun.kinds:
            return self.role()
        else:
            return self.thing(noun)
        return Subject(en, zh, en, "", "", _PERSONS["he"], "it", "", noun.kinds)

    # --- things -----------------------------------------------------------------------------

    def noun(self, kinds: set[str] | frozenset[str]) -> Noun:
        return self.random.choice(lexicon.nouns_of(frozenset(kinds)))

    def quality(self, noun: Noun, share: float) -> Pair:
        """An adjective in front of the noun, that often; else nothing."""
        fits = [a for a in lexicon.adjectives_of(noun.kinds) if a.before]
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
            n = self.one("numbers", "few" if self.chance(0.85) else "many")
            counted = f"{n.zh} {noun.measure} {zh} {noun.zh}"
            return f"{n.en} {noun.leads} {en} {noun.many}", counted
        much, much_zh = self.random.choice((("some", "一些"), ("a lot of", "很多")))
        return f"{much} {en} {noun.many}", f"{much_zh} {zh} {noun.zh}"

    def count(self, noun: Noun) -> Pair:
        """A book or several."""
        return self.one_of(noun) if self.chance(0.4) else self.several(noun)

    def thing(self, noun: Noun) -> Subject:
        """The book, these books, my book, Tom's new book."""
        (en, zh), person = self.quality(noun, 0.2), "he"
        if self.chance(0.4) and not noun.lead and "wild" not in noun.kinds:
            owner = self.owner()
            name, name_zh = f"{owner.own} {en} {noun.one}", f"{owner.own_zh} {zh} {noun.zh}"
        elif self.chance(0.25) and noun.one != noun.many:
            these, these_zh = self.random.choice((("the", "那些"), ("these", "这些")))
            name, name_zh, person = (
                f"{these} {en} {noun.many}",
                f"{these_zh} {zh} {noun.zh}",
                "they",
            )
        else:
            this, this_zh = self.random.choice((("the", "那"), ("this", "这")))
            name = f"{this} {noun.lead} {en} {noun.one}"
            name_zh = f"{this_zh}{noun.measure} {zh} {noun.zh}"
        forms = _PERSONS[person]
        return Subject(name, name_zh, name, name, f"{name_zh} 的", forms, "it", name_zh, noun.kinds)

    def doing(self) -> Pair:
        """Swimming, reading a book."""
        fits = [v for v in lexicon.verbs() if "now" in v.tenses and v.by == "person"]
        verb = self.random.choice([v for v in fits if "{}" not in v.base])
        what, what_zh = self.what(verb, "bare")
        return f"{verb.ing} {what}", " ".join(f"{verb.zh} {what_zh}".split())

    def spot(self, noun: str = "") -> Pair:
        """On the table, behind the door; not with respect to itself."""
        spot = self.random.choice([p for p in lexicon.phrases("spots") if p.en != noun])
        fits = [p for p in lexicon.phrases("relations") if p.kinds & spot.kinds]
        relation = self.random.choice(fits)
        return f"{relation.en} the {spot.en}", f"{spot.zh} {relation.zh}"

    def pastime(self) -> Pair:
        """What one may like: cats, tea, swimming, reading newspapers."""
        if self.chance(0.5):
            return self._bare(self.noun({"food", "drink", "pet", "farm", "read", "film", "flower"}))
        return self.doing()

    def _bare(self, noun: Noun) -> Pair:
        en, zh = self.quality(noun, 0.15)
        return f"{en} {noun.many}", f"{zh} {noun.zh}"

    def what(self, verb: Verb, style: str) -> Pair:
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
            return self._bare(noun)
        return self.count(noun) if style == "number" else self.thing(noun).named

    # --- actions ----------------------------------------------------------------------------

    def when(self, tense: str) -> Pair:
        if tense == "past" and self.chance(0.2):
            n, span = self.one("numbers", "few"), self.one("spans")
            return f"{n.en} {span.en} ago", f"{n.zh} {span.zh} 前"
        return self.pair("times", tense)

    def verb(self, tense: str, style: str, who: Subject) -> tuple[Verb, bool]:
        """An action that the pattern can say, and whether it is done to somebody else."""
        person, needs_object = "person" in who.kinds, style in ("asked", "count")
        if person and not needs_object and tense in ("past", "future") and self.chance(0.1):
            to = self.one("destinations")
            return Verb(f"go {to.en}", f"went {to.en}", f"去 {to.zh}", f"去 了 {to.zh}"), False
        fits = [v for v in lexicon.verbs() if v.by in who.kinds]
        fits = [v for v in fits if tense in v.tenses or tense == "can"]
        fits = [v for v in fits if v.objects or not needs_object]
        (found,) = self.random.choices(fits, [v.weight for v in fits])
        if "{}" not in found.base:
            return found, False
        whom = self.other(who)
        return replace(
            found, base=found.base.format(whom.object), past=found.past.format(whom.object),
            zh=found.zh.format(whom.zh), done=found.done.format(whom.zh),
        ), True  # fmt: skip

    def where(self, verb: Verb, who: Subject, *, alone: bool) -> tuple[str, str, str]:
        """With whom and where, if at all: English, Chinese, and Chinese after 正在."""
        en, zh, inside = "", "", ""
        fits = [p for p in lexicon.phrases("places") if p.kinds & verb.places]
        if fits and self.chance(0.4):
            place = self.random.choice(fits)
            en, zh, inside = place.en, f"在 {place.zh}", place.zh
        if alone and self.chance(0.12) and verb.by == "person":
            friend = self.other(who)
            en, zh = f"with {friend.object} {en}", f"和 {friend.zh} 一起 {zh}"
            inside = zh
        return en, zh, inside

    def action(
        self, table: str, tense: str = "", who: Subject | None = None, *, timed: bool = True
    ) -> Pair:
        """A clause: somebody does, did, will do, can do something, somewhere, some time."""
        every = [row for row in rows(table) if row[0].startswith(tense)]
        tense, style, *pattern = self.random.choice(every)
        who = who or self.who()
        verb, to_somebody = self.verb("habit" if tense == "often" else tense, style, who)
        what = self.what(verb, style)
        where, where_zh, inside = self.where(verb, who, alone=not to_somebody)
        when = self.when(tense) if timed and "{when}" in pattern[0] else ("", "")
        slots = who.slots() | {
            "do": (verb.base, verb.zh),
            "does": (verb.third if who.third else verb.base, ""),
            "third": (verb.third, ""),
            "did": (verb.past, ""),
            "done": ("", verb.done),
            "doing": (verb.ing, ""),
            "can": ("", verb.can),
            "what": what,
            "where": (where, where_zh),
            "inside": ("", inside),
            "when": when,
            "often": self.pair("frequencies"),
        }
        return filled(pattern, slots, who)
