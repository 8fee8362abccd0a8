"""Is anything lost quietly? Joined sentences, damaged translations, and how honest confidences are.

Three figures of one finished run and a test set that it has not seen:

sentences: units of 2 to 30 sentences joined, each translated as one text and sentence by sentence.
    chrF of both against the references, and how many of the sentences arrive as they do alone.
flags: damage made in good translations (a sentence dropped, a loop, a copy of the source, a wrong
    number), and how much of it is flagged; and how many of the good ones are.
calibration: the expected calibration error of the confidences, flags included.

The run needs checks.json (headway check RUN --measure writes it for one of an earlier version).
Run: python benchmarks/output_checks.py --run RUN --source FILE --reference FILE [--record FILE]
"""

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import record

from headway import Translator
from headway.languages.sentences import sentence_ends, space_between
from headway.localization.checks.calibration import calibration_error
from headway.localization.checks.number_words import small_numbers
from headway.localization.formats.units import Flag
from headway.metrics.corpus_scores import chrf_formula, chrf_statistics
from headway.translator import Translation

UNITS, DAMAGED = 500, 1_000
DIGIT_WORDS = {
    "zh": "两三四五六七八九",
    "en": "two three four five six seven eight nine ten eleven twelve".split(),
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(),
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze".split(),
}


class Example(NamedTuple):
    """A test sentence and what the run made of it alone."""

    source: str
    reference: str
    translation: Translation
    good: bool
    confidence: float | None


def as_reference(one: Example) -> Translation:
    """The reference, of which no model has said anything."""
    best = one.translation.n_best[0]._replace(
        target=one.reference, score=0.0, token_log_probs=[], attended=()
    )
    return one.translation._replace(n_best=[best], parts=())


def chrf_of_each(outputs: Sequence[str], references: Sequence[str]) -> Any:
    """Sentence chrF: [sentences]."""
    return np.asarray(chrf_formula(chrf_statistics(outputs, references).counts))


def join(texts: Sequence[str]) -> str:
    """Sentences as their language writes them one behind the other."""
    whole = ""
    for text in texts:
        whole += (space_between(" ", whole, text) if whole else "") + text
    return whole


def units_of(examples: Sequence[Example], n: int, most: int, seed: int) -> list[list[Example]]:
    """Units of 2 to `most` sentences; each sentence is one by the rules, and ends as one."""
    single = [
        one
        for one in examples
        if re.search(r"[.?!。？！]$", one.source)
        and not sentence_ends(one.source)
        and not one.source[0].islower()
    ]
    draw = random.Random(seed)
    return [draw.choices(single, k=draw.randint(2, most)) for _ in range(n)]


def sentences_figure(
    translator: Translator, examples: Sequence[Example], units: Sequence[list[Example]]
) -> dict[str, Any]:
    """How much of the content of joined sentences arrives."""
    found = translator.translate([join([one.source for one in unit]) for unit in units])
    alone = [join([one.translation.target for one in unit]) for unit in units]
    references = [join([one.reference for one in unit]) for unit in units]
    n_arrived = sum(
        one.translation.target in text
        for unit, text in zip(units, found, strict=True)
        for one in unit
    )
    together, apart = chrf_of_each(found, references), chrf_of_each(alone, references)
    return {
        "units": len(units),
        "sentences": sum(map(len, units)),
        "arrive_word_for_word": n_arrived / sum(map(len, units)),
        "chrf_joined": float(together.mean()),
        "chrf_alone": float(apart.mean()),
        "as_good_as_alone": float(together.mean() / apart.mean()),
        "worst_unit": float((together / np.maximum(apart, 1e-9)).min()),
    }


def dropped(unit: Sequence[Example], draw: random.Random) -> tuple[str, str] | None:
    """A unit of several sentences without the translation of one of them."""
    targets = [one.translation.target for one in unit]
    del targets[draw.randrange(len(targets))]
    return join([one.source for one in unit]), join(targets)


def looped(unit: Sequence[Example], draw: random.Random) -> tuple[str, str] | None:
    """Two to six words (or characters) again and again, two to eight times more."""
    source, target = (join([one.source for one in unit]), unit[0].translation.target)
    target = join([one.translation.target for one in unit])
    space = "" if space_between(" ", target, target) == "" else " "
    words = target.split() if space else list(target)
    n, times = draw.randint(2, 6), draw.randint(2, 8)
    if len(words) < n + 2:
        return None
    end = draw.randint(n, len(words))
    repeated = words[end - n : end] * times
    return source, space.join([*words[:end], *repeated, *words[end:]])


def copied(unit: Sequence[Example], draw: random.Random) -> tuple[str, str] | None:
    """The source, untranslated; sometimes one sentence of it only."""
    sources = [one.source for one in unit]
    targets = [one.translation.target for one in unit]
    if draw.random() < 0.5:
        return join(sources), join(sources)
    place = draw.randrange(len(unit))
    if len(sources[place].split()) < 4 or targets[place] == sources[place]:
        return None
    return join(sources), join([*targets[:place], sources[place], *targets[place + 1 :]])


def misnumbered(
    unit: Sequence[Example], draw: random.Random, languages: Sequence[str | None]
) -> tuple[str, str] | None:
    """Another number in the place of one, as digits or as a word."""
    one = draw.choice(unit)
    source, target = one.source, one.translation.target
    digits = list(re.finditer(r"\d+", target))
    if digits and re.search(r"\d", source):
        spot = draw.choice(digits)
        other = str(int(spot[0]) + draw.randint(1, 8)) if len(spot[0]) < 15 else "7"
        return source, target[: spot.start()] + other + target[spot.end() :]
    words = DIGIT_WORDS.get((languages[1] or "").split("-")[0])
    ours, theirs = (
        small_numbers(t, code) for t, code in zip((source, target), languages, strict=True)
    )
    if not words or not ours or ours != theirs:
        return None
    there = [word for word in words if re.search(rf"(?<!\w){word}(?!\w)", target)]
    if languages[1] and languages[1].startswith("zh"):
        there = [word for word in words if word in target]
    if not there:
        return None
    old = draw.choice(there)
    new = draw.choice([word for word in words if word != old])
    changed = target.replace(old, new, 1)
    return (source, changed) if small_numbers(changed, languages[1]) != theirs else None


def flags_figure(
    translator: Translator, examples: Sequence[Example], units: list[list[Example]], seed: int
) -> dict[str, Any]:
    """What is flagged: of each damage, and of good translations."""
    draw = random.Random(seed)
    good = [one for one in examples if one.good]
    data = translator.settings.data
    languages = data.source_language, data.target_language
    singles = [[one] for one in good]
    kinds = {
        "dropped sentence": lambda: dropped(draw.choice(units), draw),
        "loop": lambda: looped(draw.choice(singles + units), draw),
        "copy": lambda: copied(draw.choice(singles + units), draw),
        "wrong number": lambda: misnumbered(draw.choice(singles), draw, languages),
    }
    figures: dict[str, Any] = {}
    for name, make in kinds.items():
        made: list[tuple[str, str]] = []
        for _ in range(200 * DAMAGED):
            if len(made) == DAMAGED:
                break
            if one := make():
                made.append(one)
        flagged = [bool(translator.checker.look(*one).flags) for one in made]
        missed = [one for one, found in zip(made, flagged, strict=True) if not found]
        figures[name] = {
            "n": len(made),
            "different": len(set(made)),
            "recall": sum(flagged) / max(len(made), 1),
            "missed": missed[:5],
        }
    alarms = [one for one in good if flags_of(translator, one)]
    of_units = [
        translator.checker.look(
            join([one.source for one in unit]), join([one.translation.target for one in unit])
        ).flags
        for unit in units
    ]
    names = [flag.name for flags in of_units for flag in flags]
    figures["good"] = {
        "n": len(good),
        "false_alarms": len(alarms) / max(len(good), 1),
        "by_flag": tally(translator, alarms),
        "examples": [
            (one.source, one.translation.target, flags_of(translator, one)[0]) for one in alarms[:8]
        ],
    }
    figures["good units"] = {
        "n": len(units),
        "false_alarms": sum(map(bool, of_units)) / max(len(units), 1),
        "by_flag": {name: names.count(name) for name in dict.fromkeys(names)},
    }
    return figures


def flags_of(translator: Translator, one: Example) -> Sequence[Flag]:
    """With what the model said, where it said something."""
    if one.translation.n_best[0].token_log_probs:
        return translator.judged(one.translation).flags
    return translator.checker.look(one.source, one.translation.target).flags


def tally(translator: Translator, examples: Sequence[Example]) -> dict[str, int]:
    """How often each flag was raised."""
    names = [flag.name for one in examples for flag in flags_of(translator, one)]
    return {name: names.count(name) for name in dict.fromkeys(names)}


def main() -> int:
    """Translate, damage, count, print, record."""
    parser = record.parser(__doc__)
    parser.add_argument("--run", type=Path, metavar="RUN", required=True, help="a finished run")
    parser.add_argument("--source", type=Path, metavar="FILE", required=True)
    parser.add_argument("--reference", type=Path, metavar="FILE", required=True)
    parser.add_argument("--most", type=int, default=30, help="sentences of a joined unit")
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--limit", type=int, help="test sentences that are looked at")
    parser.add_argument(
        "--good",
        choices=("outputs", "references"),
        default="outputs",
        help="what is damaged: the run's own translations where they are good, or the references",
    )
    parser.add_argument("--seed", type=int, default=1)
    record.add_record_option(parser)
    asked = parser.parse_args()
    translator = Translator.load(asked.run)
    sources, references = (
        file.read_text(encoding="utf-8").split("\n")[:-1][: asked.limit]
        for file in (asked.source, asked.reference)
    )
    translations = translator.translate_fully(sources, want_alignment=True)
    chrf = chrf_of_each([one.target for one in translations], references)
    good = chrf >= translator.checker.trust.least_chrf
    examples = [
        Example(*each, bool(ok), translator.judged(each[2]).confidence)
        for each, ok in zip(zip(sources, references, translations, strict=True), good, strict=True)
    ]
    known = [(one.confidence, one.good) for one in examples if one.confidence is not None]
    confidences, truth = (np.array(values) for values in zip(*known, strict=True))
    figures: dict[str, Any] = {
        "calibration": {
            "sentences": len(known),
            "good": float(truth.mean()),
            "mean_confidence": float(confidences.mean()),
            "calibration_error": calibration_error(confidences, truth),
        }
    }
    units = units_of(examples, asked.units, asked.most, asked.seed)
    figures["sentences"] = sentences_figure(translator, examples, units)
    if asked.good == "references":
        examples = [
            one._replace(translation=as_reference(one), good=True, confidence=None)
            for one in examples
        ]
    good_ones = [one for one in examples if one.good]
    few = units_of(good_ones, asked.units, 5, asked.seed)
    figures["flags"] = flags_figure(translator, examples, few, asked.seed)
    for name, values in figures.items():
        print(f"\n{name}")
        for key, value in values.items():
            print(f"  {key}: {value}")
    record.write(
        asked.record,
        "output_checks",
        seeds=[asked.seed],
        figures={"run": str(asked.run), **figures},
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
