"""Names that no model can know, told by their form: products, identifiers, files, versions.

They are codes, like those of `patterns.py`, but only where a text is translated, and
only those that the model's vocabulary does not hold as one piece. A user's own patterns are added.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from headway.localization.placeholders.codes import parsed
from headway.localization.placeholders.kinds import OF_FILES
from headway.localization.placeholders.own_codes import OwnPattern
from headway.localization.placeholders.patterns import find, kind_of
from headway.localization.placeholders.segments import Code, Segment

_SUFFIXES = (
    "c|cc|cfg|cpp|css|csv|doc|docx|exe|gif|go|gz|h|hpp|html?|ini|java|jpe?g|js|json|log|md|mo|mp3|"
    "mp4|odt|pdf|php|png|po|pot|pptx?|py|rb|rs|rst|sh|so|sql|svg|tar|tbx|tex|tmx|toml|ts|tsv|ttf|"
    "txt|wav|xlf|xliff|xlsx?|xml|ya?ml|zip"
)
_WORD = re.compile(r"(?<![\w.@/\\-])[A-Za-z0-9]\w*(?:[.+-]\w+)*(?![\w@/\\])", re.ASCII)
_FORMS = re.compile(
    rf"""
    .* [a-z][A-Z] .*                                  # AcmeCorp, iPhone, my-AcmeCorp
    | [A-Za-z] (?: .* [A-Za-z] )? -? \d .*            # XR500, headway-XR500, COVID-19, v1.2
    | \d+ (?: \.\d+ ){{2,}} (?: [a-z-] .* )?          # 3.10.2, 1.2.3-rc1
    | \d*+ [A-Za-z_] [\w.-]* \. (?: {_SUFFIXES} )      # README.md, Report-May.xlsx
    """,
    re.VERBOSE | re.ASCII,
)
_DATE = re.compile(r"(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?:\d\d|\d{4})")
_PLURAL = re.compile(r"[A-Z]{2,}s|[A-Z]\w*[a-z]In(?:nen)?")
"""Words that only look like names: PCs, LehrerInnen."""


Known = Callable[[str, int, int], bool]
"""Whether the word that stands in a text from here to there can be translated."""


def names_in(text: str, known: Known) -> Iterator[tuple[int, int]]:
    """Where words stand that have the form of a name, and are not `known`.

    These are words with a capital behind a small letter (AcmeCorp), letters with digits behind them
    (XR500, headway-XR500), versions (3.10.2, but no dates), and names of files (README.md).
    """
    for match in _WORD.finditer(text):
        word = match[0]
        named = _FORMS.fullmatch(word) and not any(p.fullmatch(word) for p in (_DATE, _PLURAL))
        if named and not known(text, *match.span()):
            yield match.span()


class OwnCodes:
    """What is a code besides the codes of every text: unknown names, and patterns of the user."""

    def __init__(self, known: Known, patterns: Sequence[OwnPattern] = ()) -> None:
        """`known`: words that the model can translate; `patterns` come before all other codes."""
        self.known, self.patterns = known, patterns

    def parsed(self, segment: Segment) -> Segment:
        """As `headway.localization.placeholders.codes.parsed`, with these codes found as well."""
        whole = parsed(segment, self.patterns)
        return whole.with_codes(lambda text: names_in(text, self.known))

    def alone(self, segment: Segment) -> Segment:
        """Only these codes, and those that the segment has; all others are text, as before."""
        given = set(segment.codes)
        return Segment.of(
            part if isinstance(part, str) or part in given or is_own(part) else part.text
            for part in self.parsed(segment).parts
        )


def with_codes_of(kind: str, segment: Segment) -> Segment:
    """The same with what is a code in files of this kind (a suffix), and plain text elsewhere."""
    patterns = [pattern for kinds, pattern in OF_FILES.items() if kind in kinds]

    def places(text: str) -> Iterator[tuple[int, int]]:
        others, n = find(text), 0
        for match in re.finditer("|".join(patterns), text):
            start, end = match.span()
            while n < len(others) and others[n].end <= start:
                n += 1
            if n == len(others) or end <= others[n].start:
                yield start, end

    return segment.with_codes(places) if patterns else segment


def is_own(code: Code) -> bool:
    """Whether a code is no code of every text: a name, or one of the user's."""
    return not code.raw and not kind_of(code.text)


def located(output: Segment, source: Segment) -> Segment:
    """An output with its codes found: those of every text, and the names that its source has."""
    names = sorted({code.text for code in source.codes if is_own(code)}, key=len, reverse=True)
    if names:
        whole = "|".join(map(_bounded, names))
        pattern = re.compile(whole, re.ASCII)
        output = output.with_codes(lambda text: _matches(pattern, text))
    return parsed(output)


def _bounded(code: str) -> str:
    """A pattern of it where it is no part of a word."""
    before, behind = (r"\b" * (sign.isalnum() or sign == "_") for sign in (code[0], code[-1]))
    return before + re.escape(code) + behind


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in pattern.finditer(text) if match[0])
