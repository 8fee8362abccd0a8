"""Each plural form of a PO file goes with its source text; gettext's own reading of rules tells."""

import gettext
from pathlib import Path

import polib
import pytest

from headway.core.cleaning import Pair, Report
from headway.corpora.corpus import Corpus
from headway.filling.filling import unit_of
from headway.languages.codes import LanguagePair
from headway.localization.formats.documents import Document
from headway.localization.formats.po import open_document, read_po
from headway.localization.formats.units import Match
from headway.localization.memory.building import memory_of, memory_of_pairs
from headway.localization.memory.memory import Memories, Memory
from headway.localization.memory.units import read_units
from headway.translation.corrections import versions

RULES = {
    "ar": (6, "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5"),
    "ru": (3, "n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"),
    "pl": (3, "n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"),
    "fr": (2, "n > 1"),
    "de": (2, "n != 1"),
    "ja": (1, "0"),
}
PLURAL = "%d files"
messages = pytest.mark.parametrize("singular", ["%d file", "One file"])
languages = pytest.mark.parametrize("language", RULES)


def sources_of(language: str, singular: str) -> list[str]:
    """The source of each form: the singular's is that of 1, if it can tell all of its numbers."""
    n_forms, rule = RULES[language]
    form_of = gettext.c2py(rule)  # type: ignore[attr-defined]
    numbers = [[n for n in range(300) if form_of(n) == form] for form in range(n_forms)]
    return [
        singular if n_forms > 1 and 1 in some and (some == [1] or "%d" in singular) else PLURAL
        for some in numbers
    ]


def catalogue(
    path: Path, rule: tuple[int, str], singular: str, texts: list[str], language: str = "lv"
) -> Path:
    made = polib.POFile()
    made.metadata = {
        "Content-Type": "text/plain; charset=UTF-8",
        "Language": language,
        "Plural-Forms": f"nplurals={rule[0]}; plural=({rule[1]});",
    }
    forms = dict(enumerate(texts))
    made.append(polib.POEntry(msgid=singular, msgid_plural=PLURAL, msgstr_plural=forms))
    made.save(str(path))
    return path


def opened(path: Path) -> Document:
    return open_document(path, None, None, False)


def matches(path: Path, memory: Memory) -> list[Match]:
    known = Memories([memory])
    units = [unit_of(gap, str(path)) for gap in opened(path).gaps]
    return [known.exact(unit) or known.near(unit)[0] for unit in units]


@languages
@messages
def test_a_form_has_one_source_wherever_it_is_read_or_filled(
    tmp_path: Path, language: str, singular: str
) -> None:
    rule, sources = RULES[language], sources_of(language, singular)
    texts = [f"%d f{form}" for form in range(rule[0])]
    done = catalogue(tmp_path / "done.po", rule, singular, texts, language)
    empty = catalogue(tmp_path / "empty.po", rule, singular, [""] * rule[0], language)
    wanted = list(zip(sources, texts, strict=True))
    assert [gap.source.text for gap in opened(empty).gaps] == sources
    units = [(unit.source, unit.target) for unit in read_units(done, LanguagePair("en", language))]
    assert sorted(units) == sorted(wanted)
    assert [(one.source, one.target) for one in versions(done, Corpus())] == wanted
    alone = [pair for pair in wanted if sources.count(pair[0]) == 1]
    [pair] = read_po(done, Corpus(), Report())
    assert pair[:2] == (alone or wanted[-1:])[0]


@languages
@messages
def test_a_memory_gives_each_form_its_own(tmp_path: Path, language: str, singular: str) -> None:
    rule = RULES[language]
    texts = [f"%d f{form}" for form in range(rule[0])]
    done = catalogue(tmp_path / "done.po", rule, singular, texts, language)
    empty = catalogue(tmp_path / "empty.po", rule, singular, [""] * rule[0], language)
    found = matches(empty, memory_of([done], LanguagePair("en", language)))
    after = opened(empty).filled([one.target for one in found], [one.percent for one in found])
    [entry] = polib.pofile(after.decode())
    assert entry.msgstr_plural == dict(enumerate(texts))
    assert not entry.fuzzy


@languages
@messages
def test_a_text_of_several_forms_has_no_exact_match_of_an_unknown_form(
    tmp_path: Path, language: str, singular: str
) -> None:
    rule, sources = RULES[language], sources_of(language, singular)
    empty = catalogue(tmp_path / "empty.po", rule, singular, [""] * rule[0], language)
    known = {singular: "one", PLURAL: "several"}
    pairs = [Pair(source, target, "a.tmx", 1) for source, target in known.items()]
    found = matches(empty, memory_of_pairs(pairs))
    shared = [sources.count(source) > 1 for source in sources]
    assert [(one.percent, one.differs) for one in found] == [
        (99, "plural form") if several else (100, "") for several in shared
    ]
    assert [one.target.text for one in found] == [known[source] for source in sources]
    after = opened(empty).filled([one.target for one in found], [one.percent for one in found])
    [entry] = polib.pofile(after.decode())
    assert entry.fuzzy is any(shared)


def test_forms_of_one_number_that_stand_for_others_are_not_the_same(tmp_path: Path) -> None:
    zero_last = 3, "n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2"
    zero_first = 3, "n%10==0 || n%100>=11 && n%100<=19 ? 0 : n%10==1 && n%100!=11 ? 1 : 2"
    old = catalogue(tmp_path / "old.po", zero_last, "%d file", ["one", "many", "zero"])
    new = catalogue(tmp_path / "new.po", zero_first, "%d file", [""] * 3)
    found = matches(new, memory_of([old], LanguagePair("en", "lv")))
    assert [one.percent for one in found] == [99, 100, 99]
    assert found[1].target.text == "one"
