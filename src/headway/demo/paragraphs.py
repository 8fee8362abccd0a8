"""Paragraphs in which a word's neighbours tell its sense, for models of language.

A `bank` stands by a river or lends money, a `bat` sleeps in a cave or hits a ball, 苹果 is a fruit
or a company; 词性 (part of speech) and 磁性 (magnetism) sound alike and keep other company. Half of
the documents are single everyday sentences, of the same grammar that `headway.demo` draws
pairs from; the others are paragraphs of one theme, of themes.toml. The sentences
that are compared in `CONTRASTS` are in none of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from string import Formatter
from typing import Literal, NamedTuple

from headway.demo import finished, lexicon, sentence
from headway.demo.lexicon import Adjective, Noun, Phrase, Verb, cells, rows, tables
from headway.demo.sampling import Pair, Subject, Writer

Language = Literal["en", "zh", "both"]
Document = tuple[str, ...]
"""Its lines: sentences, and perhaps a heading before them."""


class Contrast(NamedTuple):
    """Two sentences that differ in a word; whoever knows the senses finds `right` the likelier."""

    language: Literal["en", "zh"]
    right: str
    """Words parted by spaces."""
    wrong: str


CONTRASTS = tuple(Contrast(*row) for row in rows("contrasts"))  # type: ignore[arg-type]
"""The word that tells is one or two away from the one that differs: three words at a time do."""

FAR_CONTRASTS = tuple(Contrast(*row) for row in rows("far_contrasts"))  # type: ignore[arg-type]
"""What tells stands eight words and more before. They come in twos with the same words between: who
reads fewer words back ranks one of the two wrong."""

_THEMED = 0.5
_HEADED = 0.3
_FOLLOWING = (2, 5)
"""Sentences after the first, from so many to so many."""
_ALSO_NOUNS = {"画", "工作"}
"""Chinese verbs of which nobody could say that they are verbs."""

Filler = Adjective | Noun | Phrase | Verb | Subject


def paragraphs(
    n: int, seed: int, language: Language = "both", *, spaced: bool = False
) -> list[Document]:
    """`n` different documents; the same seed gives the same ones, in either language.

    `both`: each is in one of the two. `spaced`: words and marks are parted by spaces. No line holds
    a sentence of `CONTRASTS` or `FAR_CONTRASTS`.
    """
    writer = Writer(seed)
    languages = Writer(seed + 1)
    seen: set[Document] = set()
    documents: list[Document] = []
    while len(documents) < n:
        pairs = _themed(writer) if writer.chance(_THEMED) else [sentence(writer, spaced=True)]
        english, chinese = zip(*pairs, strict=True)
        if {english, chinese} & seen or any(map(holds_contrast, english + chinese)):
            continue
        seen |= {english, chinese}
        own = languages.random.choice(("en", "zh")) if language == "both" else language
        lines = english if own == "en" else chinese
        documents.append(lines if spaced else tuple(unspaced(line, own) for line in lines))
    return documents


def unspaced(text: str, language: Literal["en", "zh"]) -> str:
    """A spaced text as people write it."""
    if language == "zh":
        return text.replace(" ", "")
    return text.replace(" .", ".").replace(" ,", ",").replace(" ?", "?")


def holds_contrast(line: str) -> bool:
    """Whether one of the compared sentences is in this (spaced) line."""
    plain = f" {line.lower()} "
    return any(f" {each} " in plain for each in _compared())


@cache
def _compared() -> tuple[str, ...]:
    every = (*CONTRASTS, *FAR_CONTRASTS)
    return tuple(text.lower() for each in every for text in (each.right, each.wrong))


def _themed(writer: Writer) -> list[Pair]:
    """A paragraph of one theme, spaced."""
    headings, beginnings, once = map(cells, writer.random.choice(tables()["themes"]).values())
    more = [row[:2] for row in once for _ in range(int(row[2]) if row[2:] else 1)]
    who, friend = writer.name(), writer.name()
    while friend.en == who.en:
        friend = writer.name()
    people = {"who": who, "friend": friend, "he": writer.again(who)}
    following = writer.random.sample(range(len(more)), writer.random.randint(*_FOLLOWING))
    chosen = dict.fromkeys(more[i] for i in sorted(following))
    patterns = [writer.random.choice(beginnings), *chosen]
    lines = [finished(*_filled(writer, p, people), spaced=True) for p in patterns]
    if writer.chance(_HEADED):
        english, chinese = writer.random.choice(headings)
        lines.insert(0, (english[0].upper() + english[1:], chinese))
    return lines


def _filled(writer: Writer, pattern: tuple[str, ...], people: dict[str, Subject]) -> Pair:
    """Both languages of a pattern, with the same fillers."""
    fillers: dict[str, Filler] = dict(people)
    fields = (field for _, field, _, _ in Formatter().parse(pattern[0]) if field)
    for slot in (field.partition(".")[0] for field in fields):
        while slot not in fillers:
            drawn = _filler(writer, slot.rstrip("2"))
            if drawn not in fillers.values():
                fillers[slot] = drawn
    return pattern[0].format(**fillers), pattern[1].format(**fillers)


def _filler(writer: Writer, slot: str) -> Filler:
    """What may stand in a slot."""
    if slot == "seer":
        return writer.pronoun()
    if slot == "past":
        return Phrase(*writer.when("past"))
    return writer.random.choice(_fillers()[slot])


@cache
def _fillers() -> dict[str, Sequence[Filler]]:
    """What may stand in the other slots: words of the themes, and of the everyday sentences."""
    nouns = {noun.one: noun for noun in (*lexicon.nouns(), *lexicon.nouns("theme_nouns"))}
    found: dict[str, Sequence[Filler]] = {
        slot: [nouns[name] for name in names.split()] for slot, names in rows("noun_slots")
    }
    phrases = lexicon.phrases("phrases")
    for slot in {slot for phrase in phrases for slot in phrase.kinds}:
        found[slot] = [p for p in phrases if slot in p.kinds]
    traits = [a for a in lexicon.adjectives() if "trait" in a.kinds]
    cities = [p for p in lexicon.phrases("destinations") if "city" in p.kinds]
    verbs = [v for v in lexicon.verbs() if v.zh not in _ALSO_NOUNS and v.by == "person"]
    return found | {
        "n": [p for p in lexicon.phrases("numbers") if "few" in p.kinds],
        "city": [replace(p, en=p.en.removeprefix("to ")) for p in cities],
        "noun": [n for n in lexicon.nouns() if not n.lead and "animal" not in n.kinds],
        "verb": [v for v in verbs if " " not in v.base + v.zh],
        "adjective": [a for a in lexicon.adjectives() if a.zh],
        "trait": traits,
        "best": [replace(p, en=_superlative(p)) for p in traits],
    }


def _superlative(adjective: Adjective) -> str:
    """Tallest, most famous."""
    more = adjective.comparative
    return more.replace("more ", "most ") if " " in more else f"{more.removesuffix('r')}st"
