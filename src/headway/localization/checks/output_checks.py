"""Signs that something is wrong with a translation: each a number, higher for worse.

They need the texts, what training held and, some of them, what the model said; no other model.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from headway.languages.detection import LEAST_BYTES, other_language
from headway.languages.numbers import odd_numbers
from headway.languages.sentences import CODE, sentences
from headway.localization.checks.number_words import small_numbers
from headway.localization.checks.training_stats import TrainingStats, script_counts
from headway.localization.placeholders.may_hold import may_hold_codes
from headway.localization.placeholders.own_codes import OwnPattern
from headway.localization.placeholders.patterns import hidden

TOO_SHORT, TOO_LONG, SENTENCES = "too_short", "too_long", "sentences"
LOOP, COPY, UNCOVERED = "loop", "copy", "uncovered"
NUMBER, CODES, SCRIPT, UNKNOWN = "number", "code", "script", "unknown_words"
NUMBER_WORD, UNSURE, TAG_IN_WORD = "number_word", "unsure", "tag_in_word"
LANGUAGE = "language"
OF_TEXTS = (
    *(TOO_SHORT, TOO_LONG, SENTENCES, LOOP, COPY, NUMBER, NUMBER_WORD),
    *(CODES, TAG_IN_WORD, SCRIPT, LANGUAGE),
)
"""Signs that the two texts show."""
OF_MODEL = (UNCOVERED, UNKNOWN, UNSURE)
"""Signs that need to know what the model read and where it looked."""

_HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_HAN}]|[^\W\d_{_HAN}]+(?:['’][^\W\d_{_HAN}]+)*|\d+")
_DIGIT = re.compile(r"\d")
_LETTERS = re.compile(r"[^\W\d_]")
_COVERED = 0.2
"""Attention that a sub-word gets at least, where one gets 1 for each that is written."""
_LOST = 10
_RARE = 0.005
"""A script with fewer of the letters of training is none of the target's."""
_NGRAM = 4


class ModelEvidence(NamedTuple):
    source_tokens: Sequence[str]
    """As a reader would write them."""
    log_probs: Sequence[float]
    """Of each sub-word written, and the end marker, in nats."""
    attended: Sequence[float] = ()
    """Attention that each source sub-word got in all; nothing where it is not known."""


class CheckResult(NamedTuple):
    """How much there is of something, and what was found, in words."""

    strength: float
    """0 for nothing."""
    why: str = ""


def check_texts(
    source: str, target: str, held: TrainingStats, own: Sequence[OwnPattern] = ()
) -> dict[str, CheckResult]:
    """All of `OF_TEXTS` that there are, in a translation that is not blank.

    `own` are patterns of codes, as in `headway.localization.placeholders.patterns.find`.
    """
    found = {}
    coded = bool(own) or may_hold_codes(source) or may_hold_codes(target)
    bare, written = (hidden(text, CODE, own) if coded else text for text in (source, target))
    found.update(_of_length(bare.replace(CODE, ""), written.replace(CODE, ""), held))
    ours, theirs = ([s for s in sentences(text) if _has_word(s)] for text in (bare, written))
    found[SENTENCES] = _of_sentences(len(ours), len(theirs))
    found[LOOP] = _loop(*([words_of(s) for s in side] for side in (ours, theirs)))
    found[COPY] = _copy(ours if len(ours) == len(theirs) else [bare] * len(theirs), theirs)
    found[NUMBER] = _number(bare, written)
    found[NUMBER_WORD] = _number_word(bare, written, held)
    if coded:
        from headway.localization.checks.code_signs import odd_codes, tags_in_words  # a side room

        found[CODES] = CheckResult(*odd_codes(source, target, own))
        found[TAG_IN_WORD] = CheckResult(*tags_in_words(source, target))
    found[UNKNOWN] = _new(bare, held)
    found[SCRIPT] = _script(written, set(words_of(bare)), held)
    found[LANGUAGE] = _language(written.replace(CODE, ""), held.languages[1])
    return {name: sign for name, sign in found.items() if sign.strength > 0}


def check_model(reading: ModelEvidence) -> dict[str, CheckResult]:
    """All of `OF_MODEL` that there are in one text that was translated at once."""
    found = {
        UNCOVERED: _uncovered(reading),
        UNKNOWN: _unknown(reading.source_tokens),
        UNSURE: CheckResult(
            -_mean(reading.log_probs), "less sure than on text like that of training"
        ),
    }
    return {name: sign for name, sign in found.items() if sign.strength > 0}


def expected_length(source: str, held: TrainingStats) -> tuple[float, float, float]:
    """Characters of its translation, and how much fewer and more one in six has.

    A text is as its sentences are together, if training held single sentences, or none as long.
    """
    expansion = held.expansion
    parts = [source]
    if held.at_once.sentences == 1 or len(source) > expansion[-1].characters:
        parts = [part for line in source.split("\n") for part in sentences(line) if part.strip()]
    mean = fewer = more = 0.0
    for part in parts:
        one = next((e for e in expansion if len(part) <= e.characters), expansion[-1])
        size = (len(part) + 1) * one.ratio
        mean += size
        fewer += (size * (1 - one.shorter)) ** 2
        more += (size * (one.longer - 1)) ** 2
    return mean, math.sqrt(fewer), math.sqrt(more)


def _of_length(source: str, target: str, held: TrainingStats) -> dict[str, CheckResult]:
    if not held.expansion:
        return {}
    mean, fewer, more = expected_length(source, held)
    odd = len(target) + 1 - mean
    why = f"{len(target)} characters where training has about {mean:.0f}"
    if odd < 0:
        return {TOO_SHORT: CheckResult(-odd / max(fewer, 1.0), why)}
    return {TOO_LONG: CheckResult(odd / max(more, 1.0), why)}


def _of_sentences(ours: int, theirs: int) -> CheckResult:
    # one sentence as two is common in some texts, two as one in far fewer
    strength = theirs - ours if theirs >= ours else _LOST + ours - theirs
    return CheckResult(float(strength), f"{theirs} sentences of {ours}")


def _has_word(text: str) -> bool:
    return bool(_WORD.search(text))


def n_sentences(text: str) -> int:
    """How many sentences a text has that have a word."""
    return sum(map(_has_word, sentences(text)))


def words_of(text: str) -> list[str]:
    """Its words in lower case; a character of Chinese or Japanese is one."""
    return [word.lower() for word in _WORD.findall(text)]


def _loop(source: Sequence[Sequence[str]], target: Sequence[Sequence[str]]) -> CheckResult:
    """Words again and again in a sentence, or sentences, each its words, in a text."""
    n, what = max(map(repeated, target), default=(0, ""))
    n = 0 if n == 1 else n  # one word twice is usual: 妹妹, "that that"
    n -= max((repeated(sentence)[0] for sentence in source), default=0)
    again, n_source = (Counter(map(tuple, side)) for side in (target, source))
    more = again.total() - len(again) - (n_source.total() - len(n_source))
    if more > 0 and (often := max(again, key=lambda words: (again[words] - 1) * len(words))):
        n, what = max((n, what), (more * len(often), " ".join(often)))
    return CheckResult(float(max(0, n)), f"again and again: {what}")


def repeated(words: Sequence[str]) -> tuple[int, str]:
    """How many words only repeat what stands before them, and what they repeat.

    Either at once ("the dog the dog the dog": 4), or groups of four that are there for the third
    time or more.
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


def _copy(sources: Sequence[str], targets: Sequence[str]) -> CheckResult:
    """The share of words that are the source's, beyond names and figures; in any sentence, each
    beside what it translates."""
    found = [CheckResult(0.0)]
    for source, sentence in zip(sources, targets, strict=True):
        known, names = set(words_of(source)), _names(source)
        words = [word for word in words_of(sentence) if not word.isdigit()]
        counted = [word for word in words if word not in names]
        copied = [word for word in counted if word in known]
        if len(copied) > 1 or (copied and len(counted) == 1):
            # one word may be the same in both languages; of many, few are
            strength = (1 - 0.5 ** len(copied)) * len(copied) / len(counted)
            found.append(CheckResult(strength, f"as in the source: {' '.join(copied[:8])}"))
    return max(found, key=lambda sign: sign.strength)


def _names(source: str) -> set[str]:
    """Words with a capital that no sentence begins with, in lower case."""
    inner = (word for part in sentences(source) for word in _WORD.findall(part)[1:])
    return {word.lower() for word in inner if word[:1].isupper()}


def _number(source: str, target: str) -> CheckResult:
    if not (_DIGIT.search(source) or _DIGIT.search(target)):
        return CheckResult(0.0)
    odd = odd_numbers(source, target)
    strength = 2.0 if odd.both else float(bool(odd.source or odd.target))
    return CheckResult(strength, str(odd))


def _number_word(source: str, target: str, held: TrainingStats) -> CheckResult:
    """Small numbers of either side that the other lacks, as words or digits."""
    ours, theirs = map(small_numbers, (source, target), held.languages)
    if ours is None or theirs is None or ours == theirs:
        return CheckResult(0.0)
    both = (sorted((ours - theirs).elements()), sorted((theirs - ours).elements()))
    why = " against ".join(", ".join(map(str, side)) or "none" for side in both)
    return CheckResult(2.0 if all(both) else 1.0, why)


def _script(target: str, ours: set[str], held: TrainingStats) -> CheckResult:
    """The share of letters that no target of training has, beyond words of the source."""
    if not held.scripts:
        return CheckResult(0.0)
    letters = script_counts(target)
    known = {name for name, share in held.scripts.items() if share >= _RARE}
    if not letters or set(letters) <= known:
        return CheckResult(0.0)
    own = " ".join(word for word in _WORD.findall(target) if word.lower() not in ours)
    odd = {name: n for name, n in script_counts(own).items() if name not in known}
    share = sum(odd.values()) / letters.total()
    return CheckResult(share, f"letters of another script: {', '.join(odd)}".lower())


def _language(target: str, wanted: str | None) -> CheckResult:
    """How surely a text that is long enough is in another language than it should be."""
    long = len(target.encode()) >= LEAST_BYTES
    if long and (found := other_language(target, wanted)):
        return CheckResult(round(found[1], 4), f"it seems to be {found[0]}, not {wanted}")
    return CheckResult(0.0)


def _uncovered(reading: ModelEvidence) -> CheckResult:
    """Sub-words in a row that next to nothing was written for."""
    tokens, attended = reading.source_tokens, reading.attended
    if not attended or not tokens:
        return CheckResult(0.0)
    looked_at = zip(tokens, (weight >= _COVERED for weight in attended), strict=False)
    runs = [[t for t, _ in run] for seen, run in groupby(looked_at, itemgetter(1)) if not seen]
    longest = max(runs, key=lambda run: sum(map(_has_letter, run)), default=[])
    n = sum(map(_has_letter, longest))
    return CheckResult(float(n), f"nothing looked at: {''.join(longest).strip()}")


def _has_letter(token: str) -> bool:
    return bool(_LETTERS.search(token))


def _new(source: str, held: TrainingStats) -> CheckResult:
    """Words that training did not have, where it is known by name what it had."""
    new = [word for word in words_of(source) if word not in held.words] if held.words else []
    return CheckResult(2.0 * len(new), f"not among the words that it learned: {', '.join(new)}")


def _unknown(tokens: Sequence[str]) -> CheckResult:
    """The share of sub-words that are a letter or part of one: words that training did not have."""
    spelled = [token.strip() for token in tokens if len(token.strip(" Ġ▁")) <= 1]
    letters = [token for token in spelled if token and (not token.isascii() or token.isalpha())]
    if len(tokens) < 2:
        return CheckResult(0.0)
    return CheckResult(len(letters) / len(tokens), f"{len(letters)} letters spelled one by one")


def features(reading: ModelEvidence, signs: Mapping[str, CheckResult]) -> list[float]:
    """What a confidence is computed from, for one text that was translated at once."""
    log_probs = reading.log_probs or [0.0]
    mean = _mean(log_probs)
    attended = reading.attended
    uncovered = sum(weight < _COVERED for weight in attended) / max(len(attended), 1)
    strength = {name: sign.strength for name, sign in signs.items()}
    return [
        mean,
        math.exp(mean),
        max(min(log_probs), -20.0),
        sum(value < -1.0 for value in log_probs) / len(log_probs),
        math.log(len(log_probs)),
        uncovered,
        strength.get(UNKNOWN, 0.0),
        min(strength.get(TOO_SHORT, 0.0), 5.0),
        min(strength.get(TOO_LONG, 0.0), 5.0),
    ]


def _mean(log_probs: Sequence[float]) -> float:
    return sum(max(value, -20.0) for value in log_probs) / max(len(log_probs), 1)


FEATURES = (
    "mean log-probability", "its exponential", "lowest log-probability", "share below -1",
    "log of the length", "share uncovered", "share spelled", "too short", "too long",
)  # fmt: skip


MOST_WORDS, TEXTS_A_WORD = 2_000, 20
"""So few words, and so many texts for each of them, are known by name."""


def few_words(texts: Iterable[str], n_texts: int) -> frozenset[str]:
    """Every word of the texts, in lower case; none where they are many, or few texts have each."""
    most, found = min(MOST_WORDS, n_texts // TEXTS_A_WORD), set[str]()
    for text in texts:
        found.update(words_of(text))
        if len(found) > most:
            return frozenset()
    return frozenset(found)
