"""What a glossary asks of a translation, and whether it got it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from headway.core.errors import ConfigError
from headway.languages.codes import Languages
from headway.languages.scripts import HAN_OR_KANA
from headway.languages.sentences import ENDS
from headway.localization.formats.units import Flag
from headway.localization.placeholders.codes import parsed
from headway.localization.placeholders.patterns import hidden
from headway.localization.placeholders.segments import Segment
from headway.localization.terms import NONE
from headway.localization.terms.glossary import Glossary, Term
from headway.localization.terms.glossary_files import read_glossary
from headway.localization.terms.matching import Matcher, RequiredText, Spelling, SpellingPosition

_CODE = "\ufffc"
"""Stands for a character of a code, in which no term is looked for."""
_SPACES = re.compile(r"[^\S\n]+")
_END_SIGNS = re.compile(rf"[\s{re.escape(ENDS)}:：;；,，、…]*")
_WIDE = str.maketrans(".!?:;,", "。！？：；，")
_NARROW = str.maketrans("。！？：；，、", ".!?:;,,")


class RequiredTerm(NamedTuple):
    """A term of a source and what its translation must hold for it."""

    found: str
    """As it stands there; of several, the first."""
    term: Term
    wanted: RequiredText
    places: tuple[tuple[int, int], ...]
    """Beginning and end of it wherever it stands."""


class Terms:
    def __init__(self, glossary: Glossary) -> None:
        self.glossary = glossary
        self._matcher = Matcher(glossary)

    @classmethod
    def read(cls, files: Sequence[str | Path], languages: Languages) -> "Terms":
        """The terms of one or more files (.tsv, .csv, .tbx) for these languages.

        Raises DataError: as `headway.localization.terms.glossary_files.read_glossary`.
        """
        paths = [Path(file) for file in files]
        return cls(read_glossary(paths, languages.source_language, languages.target_language))

    def asked(self, text: str) -> list[RequiredTerm]:
        """What a translation of this text must hold, each as often as its term stands there."""
        asked: dict[tuple[Spelling, ...], RequiredTerm] = {}
        for start, end, term in self._matcher.find(hidden(text, _CODE)):
            spellings = tuple(_spellings(term, text[start:end], text))
            before = asked.get(spellings)
            places = (*(before.places if before else ()), (start, end))
            first = before.found if before else text[start:end]
            asked[spellings] = RequiredTerm(
                first, term, RequiredText(spellings, len(places)), places
            )
        return list(asked.values())

    def whole(self, text: str) -> str | None:
        """What a text becomes that is nothing but a term as the glossary spells it, and end signs,
        which become those of the other script; None for any other."""
        for one in self.asked(text):
            [(start, end), *others] = one.places
            if start == 0 and not others and _END_SIGNS.fullmatch(text, end):
                known = (one.term.source, *one.term.forms)
                if one.found.lower() not in (each.replace("*", "").lower() for each in known):
                    return None  # an ending, of which nothing is said
                spellings = one.wanted.spellings
                best = next((each for each in spellings if each.fits("")), spellings[0])
                wide = HAN_OR_KANA.match(best.text[-1:])
                ends = text[end:]
                if ".." in ends:  # left open; in any script
                    return best.text + ends
                return best.text + ends.translate(_WIDE if wide else _NARROW)
        return None

    def lost(self, source: Segment, target: Segment, /) -> Sequence[Flag]:
        """A flag for each term of the source whose translation is not in the target."""
        text = _bare(target)
        asked = self.asked(_bare(source))
        return [Flag("term", 1.0, in_words(one)) for one in asked if one.wanted.lacking_in(text)]

    def told(self, pairs: Sequence[tuple[str, str]]) -> str:
        """How many of the terms in some sources hold in their translations."""
        n_asked = sum(len(self.asked(_bare(Segment((source,))))) for source, _ in pairs)
        n_lost = sum(len(self.lost(Segment((a,)), Segment((b,)))) for a, b in pairs)
        return f"{n_asked - n_lost:,} of {n_asked:,} terms in the sources hold"


def chosen(given: Sequence[str | Path], own: Path) -> list[str | Path]:
    """The files whose terms hold: those that are given, else a run's own; none for `none`."""
    if any(str(one) == NONE for one in given):
        if len(given) > 1:
            raise ConfigError(
                f"--glossary {NONE} leaves out the glossary of the run, and is given alone; got "
                f"{' '.join(map(str, given))}. Leave {NONE} out."
            )
        return []
    return list(given) or ([own] if own.exists() else [])


def in_words(asked: RequiredTerm) -> str:
    ways = " or ".join(repr(target) for target in asked.term.targets)
    times = f" {asked.wanted.times} times" if asked.wanted.times > 1 else ""
    if not ways:
        return f"{asked.found!r} is not to be translated, and is not there{times}"
    return f"{asked.found!r} is to be {ways}, which is not there{times}"


def _bare(segment: Segment) -> str:
    """The text with single spaces, and a sign in the place of each code."""
    parts = (part if isinstance(part, str) else _CODE for part in parsed(segment).parts)
    return _SPACES.sub(" ", "".join(parts))


def _spellings(term: Term, found: str, text: str) -> list[Spelling]:
    """The ways to write a term that stands in `text` as `found`."""
    if not term.targets:
        return [Spelling(" ".join(found.split()))]
    begins = next((character for character in text if character.isalnum()), "")
    spellings = []
    for target in term.targets:
        open_end = target.endswith("*")
        bare = target.removesuffix("*")
        if text.isupper():
            spellings.append(Spelling(bare.upper(), open_end=open_end))
        capital = bare[0].upper() + bare[1:]
        if capital == bare or len(capital) != len(bare) or bare != bare.lower():
            spellings.append(Spelling(bare, open_end=open_end))
            continue
        inside = SpellingPosition.ANYWHERE if begins.islower() else SpellingPosition.INSIDE
        spellings.append(Spelling(bare, open_end=open_end, where=inside))
        spellings.append(Spelling(capital, open_end=open_end, where=SpellingPosition.OPENING))
    return spellings
