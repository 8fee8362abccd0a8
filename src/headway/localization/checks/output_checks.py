"""Signs that something is wrong with a translation: each a number, higher for worse.

They need the texts, what training held and, some of them, what the model said; no other model. A
check of texts is a function of a `CheckedPair`, and a line in `CHECKS`.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from unicodedata import normalize

from headway.languages.detection import other_language
from headway.languages.numbers import odd_numbers
from headway.languages.scripts import script_counts
from headway.languages.sentences import CODE, sentences
from headway.localization.checks.training_stats import TrainingStats
from headway.localization.placeholders.may_hold import may_hold_codes, may_hold_sentences
from headway.localization.placeholders.own_codes import OwnPattern
from headway.localization.placeholders.patterns import hidden

TOO_SHORT, TOO_LONG, UNKNOWN = "too_short", "too_long", "unknown_words"
UNCOVERED, UNSURE, SOURCE_LANGUAGE = "uncovered", "unsure", "source_language"

_HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_HAN}]|[^\W\d_{_HAN}]+(?:['’][^\W\d_{_HAN}]+)*|\d+")
_DIGIT = re.compile(r"\d")
_LETTERS = re.compile(r"[^\W\d_]")
STAMMER = re.compile(
    r"([^\W\d_]{1,6}?)\1{3,}|(?i:([^\W\d_]{3,8}?)\2-?\2)|([A-ZÀ-ÖØ-ÞΑ-ΩА-Я][^\W\d_]{2,7}?)\3"
)
"""A part of a word four times (`Terrerrerrerrer`), a longer one three times (`Goodoodood`), or one
with a capital twice (`IndIndische`): no word of a language has these."""
_BYTE = re.compile("<0x([89A-F][0-9A-F])>")
_BYTES = re.compile(f"(?:{_BYTE.pattern})+")
_COVERED = 0.2
"""Attention that a sub-word gets at least, where one gets 1 for each that is written."""
_LOST = 10
_RARE = 0.005
"""A script with fewer of the letters of training is none of the target's."""
_NGRAM = 4
NOT_WRITTEN = (-20.0,)
"""Log-probabilities of a source that stands where the model wrote nothing but loops."""


class ModelEvidence(NamedTuple):
    source_tokens: Sequence[str]
    """As a reader would write them."""
    log_probs: Sequence[float]
    """Of each sub-word written, and the end marker, in nats."""
    attended: Sequence[float] = ()
    """Attention that each source sub-word got in all; nothing where it is not known."""


def evidence_of(parts: Iterable[Any]) -> list[ModelEvidence]:
    """What the model said of some texts, each a `Translation` that it made at once."""
    both = ((one, best) for one in parts for best in one.n_best[:1])
    return [ModelEvidence(a.source_tokens, b.token_log_probs, b.attended) for a, b in both]


class CheckResult(NamedTuple):
    """How much there is of something, and what was found, in words."""

    strength: float
    """0 for nothing."""
    why: str = ""


NOTHING = CheckResult(0.0)


class CheckedPair:
    """A source and its translation, which is not blank, taken apart once for all checks."""

    def __init__(
        self, source: str, target: str, held: TrainingStats, own: Sequence[OwnPattern]
    ) -> None:
        """`own` are patterns of codes besides those of every text."""
        self.source, self.target, self.held, self.own = source, target, held, own
        self.coded = bool(own) or may_hold_codes(source) or may_hold_codes(target)
        self.bare, self.written = (
            hidden(text, CODE, own) if self.coded else text for text in (source, target)
        )
        """Both with a sign in the place of each code."""
        self.ours, self.theirs = (
            [s for s in _cut(text) if _WORD.search(s)] for text in (self.bare, self.written)
        )

    def signs(self) -> dict[str, CheckResult]:
        """All of `CHECKS` that there are."""
        found = {name: check(self) for name, check in CHECKS.items()}
        return {name: sign for name, sign in found.items() if sign.strength > 0}


def check_texts(
    source: str, target: str, held: TrainingStats, own: Sequence[OwnPattern] = ()
) -> dict[str, CheckResult]:
    """All of `CHECKS` that there are, in a translation that is not blank."""
    return CheckedPair(source, target, held, own).signs()


def check_model(reading: ModelEvidence) -> dict[str, CheckResult]:
    """What there is of signs for which one must know what the model read and where it looked, in
    one text that was translated at once."""
    sure = "less sure than on text like that of training"
    found = {
        UNCOVERED: _uncovered(reading),
        UNKNOWN: _spelled(reading.source_tokens),
        UNSURE: CheckResult(-_mean(reading.log_probs), sure),
    }
    return {name: sign for name, sign in found.items() if sign.strength > 0}


def _length(pair: CheckedPair, way: int) -> CheckResult:
    """Characters more (`way` 1) or fewer (-1) than expected, by what one in six strays."""
    if not pair.held.expansion:
        return NOTHING
    source, target = (text.replace(CODE, "") for text in (pair.bare, pair.written))
    expansion, parts, size = pair.held.expansion, [source], len(target) + 1
    if pair.held.at_once.sentences == 1 or len(source) > expansion[-1].characters:
        # as its sentences are together; in some languages no space stands between them
        parts, written = (
            [s for line in text.split("\n") for s in _cut(line) if s.strip()]
            for text in (source, target)
        )
        size = sum(len(one.strip()) + 1 for one in written)
    mean = square = 0.0
    for part in parts:
        one = next((e for e in expansion if len(part) <= e.characters), expansion[-1])
        expected = (len(part) + 1) * one.ratio
        mean += expected
        square += (expected * (one.longer - 1 if way > 0 else 1 - one.shorter)) ** 2
    why = f"{max(size - 1, 0)} characters where training has about {mean:.0f}"
    return CheckResult(way * (size - mean) / max(math.sqrt(square), 1.0), why)


def _cut(text: str) -> list[str]:
    return sentences(text) if may_hold_sentences(text) else [text]


def _sentences(pair: CheckedPair) -> CheckResult:
    # one sentence as two is common in some texts, two as one in far fewer
    ours, theirs = len(pair.ours), len(pair.theirs)
    strength = theirs - ours if theirs >= ours else _LOST + ours - theirs
    return CheckResult(float(strength), f"{theirs} sentences of {ours}")


def words_of(text: str) -> list[str]:
    """Its words in lower case; a character of Chinese or Japanese is one."""
    return [word.lower() for word in _WORD.findall(text)]


def _loop(pair: CheckedPair) -> CheckResult:
    """Words, or parts of them, again and again, or sentences in a text, beyond the source's."""
    source, target = (
        [tuple(words_of(STAMMER.sub(_apart, text))) for text in side]
        for side in (pair.ours, pair.theirs)
    )
    n, what = max(map(repeated, target), default=(0, ""))
    n = 0 if n == 1 else n  # one word twice is usual: 妹妹, "that that"
    n -= max((repeated(sentence)[0] for sentence in source), default=0)
    again, n_source = Counter(target), Counter(source)
    more = again.total() - len(again) - (n_source.total() - len(n_source))
    if more > 0 and (often := max(again, key=lambda words: (again[words] - 1) * len(words))):
        n, what = max((n, what), (more * len(often), " ".join(often)))
    return CheckResult(float(max(0, n)), f"again and again: {what}")


def _apart(found: re.Match[str]) -> str:
    part = next(filter(None, found.groups()))
    least = 5 if len(part) > 2 else 0  # "Roooaaaarrrr" may be, "Goodoodood" not
    return f" {part}" * max(least, len(found[0]) // len(part)) + " "


def repeated(words: Sequence[str]) -> tuple[int, str]:
    """How many words only repeat what stands before them, and what they repeat.

    Either at once ("the dog the dog the dog": 4), or groups of four for the third time or more.
    """
    if len(set(words)) == len(words):
        return 0, ""
    most, what = 0, ""
    for period in range(1, min(len(words) // 2, 60) + 1):
        same = (words[i] == words[i - period] for i in range(period, len(words)))
        end = period
        for alike, run in groupby(same):
            n = len(list(run))
            end += n
            if alike and n >= period and n > most:
                most, what = n, " ".join(words[end - period : end])
    groups = Counter(tuple(words[i : i + _NGRAM]) for i in range(len(words) - _NGRAM + 1))
    for group, n in groups.items():
        if n > 2 and (n - 1) * _NGRAM > most:
            most, what = (n - 1) * _NGRAM, " ".join(group)
    return most, what


def _copy(pair: CheckedPair) -> CheckResult:
    """The share of words that are the source's, beyond names and figures; in any sentence, beside
    its own source where both texts have as many."""
    found, ours = [NOTHING], pair.ours
    if len(ours) != len(pair.theirs):
        ours = [pair.bare] * len(pair.theirs)
    for source, sentence in zip(ours, pair.theirs, strict=True):
        known = set(words_of(source))
        # words with a capital that no sentence begins with
        inner = (word for part in _cut(source) for word in _WORD.findall(part)[1:])
        names = {word.lower() for word in inner if word[:1].isupper()}
        words = [word for word in words_of(sentence) if not word.isdigit() and word not in names]
        copied = [word for word in words if word in known]
        if len(copied) > 1 or (copied and len(words) == 1):
            # one word may be the same in both languages; of many, few are
            strength = (1 - 0.5 ** len(copied)) * len(copied) / len(words)
            found.append(CheckResult(strength, f"as in the source: {' '.join(copied[:8])}"))
    return max(found, key=lambda sign: sign.strength)


def _number(pair: CheckedPair) -> CheckResult:
    if not (_DIGIT.search(pair.bare) or _DIGIT.search(pair.written)):
        return NOTHING
    odd = odd_numbers(pair.bare, pair.written)
    return CheckResult(2.0 if odd.both else float(bool(odd.source or odd.target)), str(odd))


def _number_word(pair: CheckedPair) -> CheckResult:
    from headway.localization.checks.number_words import odd_small_numbers  # a side room

    return CheckResult(*odd_small_numbers(pair.bare, pair.written, pair.held.languages))


def _code(pair: CheckedPair) -> CheckResult:
    if not pair.coded:
        return NOTHING
    from headway.localization.checks.code_signs import odd_codes  # a side room

    return CheckResult(*odd_codes(pair.source, pair.target, pair.own))


def _new(pair: CheckedPair) -> CheckResult:
    """Words that training did not have, where it is known by name what it had."""
    known = pair.held.words
    words = words_of(pair.bare) if known else []
    new = [word for word in words if not {word, normalize("NFKC", word).replace("’", "'")} & known]
    return CheckResult(2.0 * len(new), f"not among the words that it learned: {', '.join(new)}")


def _script(pair: CheckedPair) -> CheckResult:
    """The share of letters that no target of training has, beyond words of the source."""
    known = {name for name, share in pair.held.scripts.items() if share >= _RARE}
    letters = script_counts(pair.written)
    if not known or set(letters) <= known:
        return NOTHING
    ours = {word for word in words_of(pair.bare) if word < "\u2e80"}  # no name in Chinese stays
    own = " ".join(word for word in _WORD.findall(pair.written) if word.lower() not in ours)
    odd = {name: n for name, n in script_counts(own).items() if name not in known}
    why = f"letters of another script: {', '.join(odd)}".lower()
    return CheckResult(sum(odd.values()) / letters.total(), why)


def _language(pair: CheckedPair) -> CheckResult:
    """How surely a text that is long enough is in another language than it should be."""
    return _heard("it", pair.written, pair.held.languages[1])


def _heard(what: str, text: str, wanted: str | None) -> CheckResult:
    if found := other_language(text.replace(CODE, ""), wanted):
        return CheckResult(round(found[1], 4), f"{what} seems to be {found[0]}, not {wanted}")
    return NOTHING


CHECKS: dict[str, Callable[[CheckedPair], CheckResult]] = {
    TOO_SHORT: lambda pair: _length(pair, -1),
    TOO_LONG: lambda pair: _length(pair, 1),
    "sentences": _sentences,
    "loop": _loop,
    "copy": _copy,
    "number": _number,
    "number_word": _number_word,
    "code": _code,
    UNKNOWN: _new,
    "script": _script,
    "language": _language,
    SOURCE_LANGUAGE: lambda pair: _heard("the source", pair.bare, pair.held.languages[0]),
}
OF_TEXTS = tuple(name for name in CHECKS if name != UNKNOWN)
"""Signs that the two texts show."""


def _uncovered(reading: ModelEvidence) -> CheckResult:
    """Sub-words in a row that next to nothing was written for."""
    looked_at = [weight >= _COVERED for weight in reading.attended]
    pairs = zip(reading.source_tokens, looked_at, strict=False)
    runs = [[t for t, _ in run] for seen, run in groupby(pairs, itemgetter(1)) if not seen]
    sized = [(sum(1 for token in run if _LETTERS.search(token)), run) for run in runs]
    n, longest = max(sized, key=itemgetter(0), default=(0, []))
    return CheckResult(float(n), f"nothing looked at: {''.join(longest).strip()}")


def _spelled(tokens: Sequence[str]) -> CheckResult:
    """The share of sub-words that are a letter or part of one: words that training did not have.

    One more where characters are spelled in bytes: training did not have these."""
    in_bytes = "".join(token for token in tokens if _BYTES.fullmatch(token.strip(" ▁")))
    if unread := bytes.fromhex("".join(_BYTE.findall(in_bytes))).decode("utf-8", "ignore"):
        share = in_bytes.count("<") / len(tokens)
        return CheckResult(1 + share, f"characters that it has not learned: {' '.join(unread)}")
    spelled = [token.strip() for token in tokens if len(token.strip(" Ġ▁")) <= 1]
    letters = [token for token in spelled if token and (not token.isascii() or token.isalpha())]
    if len(tokens) < 2:
        return NOTHING
    return CheckResult(len(letters) / len(tokens), f"letters spelled one by one: {len(letters)}")


FEATURES = (
    "mean log-probability", "its exponential", "lowest log-probability", "share below -1",
    "log of the length", "share uncovered", "share spelled", "too short", "too long",
)  # fmt: skip


def features(reading: ModelEvidence, signs: Mapping[str, CheckResult]) -> list[float]:
    """The `FEATURES` that a confidence is computed from, for one text translated at once."""
    log_probs, attended = reading.log_probs or [0.0], reading.attended
    mean = _mean(log_probs)
    unknown, short, long = (
        signs.get(name, NOTHING).strength for name in (UNKNOWN, TOO_SHORT, TOO_LONG)
    )
    below = sum(value < -1.0 for value in log_probs) / len(log_probs)
    uncovered = sum(weight < _COVERED for weight in attended) / max(len(attended), 1)
    lowest, length = max(min(log_probs), -20.0), math.log(len(log_probs))
    ends = min(short, 5.0), min(long, 5.0)
    return [mean, math.exp(mean), lowest, below, length, uncovered, unknown, *ends]


def _mean(log_probs: Sequence[float]) -> float:
    return sum(max(value, -20.0) for value in log_probs) / max(len(log_probs), 1)
