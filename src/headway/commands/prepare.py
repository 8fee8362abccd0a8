"""`headway prepare`: the data doctor. What was read, kept, dropped and why."""

import json as json_format
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from cyclopts import Parameter

from headway.commands.settings_flags import Overrides, option_names
from headway.errors import ConfigError, DataError

if TYPE_CHECKING:
    from headway.data.cleaned import CleanedCorpus
    from headway.text.cleaning import Report

Number = int | float
Files = Annotated[list[Path] | None, Parameter(consume_multiple=True)]


def prepare(
    *overrides: Overrides,
    source: Files = None,
    target: Files = None,
    pairs: Files = None,
    valid_source: Files = None,
    valid_target: Files = None,
    valid_pairs: Files = None,
    source_language: str | None = None,
    target_language: str | None = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Read parallel text as `train` would, and say what it found.

    Parameters
    ----------
    source
        Text to translate from, one sentence a line; .gz too. Several files may follow.
    target
        Their translations: line n of one file translates line n of the other.
    pairs
        Files of both sides: .tsv (source TAB target) or .jsonl ({"source": .., "target": ..}, or
        two language codes as keys); .gz too.
    valid_source
        Validation text: training pairs that share a side with it are dropped.
    valid_target
        Its translations.
    valid_pairs
        Validation files of both sides, instead.
    source_language
        Such as en; else from the suffix (train.en), the TSV header or the JSONL keys.
    target_language
        Such as de; likewise.
    out
        Folder to write the clean pairs to, as two text files.
    json
        Print one JSON object on standard output.
    """
    from headway.commands.stages import Stages
    from headway.config import build, parse_overrides
    from headway.data.cleaned import clean_corpus
    from headway.data.files import cache_root
    from headway.data.prepared import DataSettings
    from headway.text.corpora import Corpus, languages

    sections = parse_overrides(overrides, options=option_names(prepare))
    if others := sorted(set(sections) - {"data"}):
        raise ConfigError(f"prepare has settings in [data] only; got [{others[0]}]. Leave it out.")
    settings = build(DataSettings, sections.get("data", {}), section="data")
    codes = source_language, target_language
    corpus = Corpus(tuple(source or ()), tuple(target or ()), tuple(pairs or ()), *codes)
    valid = Corpus(
        tuple(valid_source or ()), tuple(valid_target or ()), tuple(valid_pairs or ()), *codes
    )
    with Stages() as stages:
        cleaned = clean_corpus(
            corpus,
            settings.cleaning(),
            cache_root(),
            valid=valid if valid_source or valid_target or valid_pairs else None,
            hold_out=0,
            say=_say,
            progress=stages,
        )
        found = _findings(cleaned, *languages(corpus))
    if json:
        print(json_format.dumps(found, ensure_ascii=False))
    else:
        _print_report(found)
    if out is not None:
        _write_clean(cleaned, out, found["source_language"], found["target_language"])


def _say(message: str) -> None:
    print(message, file=sys.stderr)


def _findings(cleaned: "CleanedCorpus", source: str | None, target: str | None) -> dict[str, Any]:
    """Everything the doctor says, as plain values; `read`, `kept`, `dropped`, .. of training."""
    report = cleaned.reports["train"]
    valid = cleaned.reports["valid"]
    return {
        **report.as_dict(),
        "problems": _problems(report),
        "source_language": source,
        "target_language": target,
        "lengths": _lengths(cleaned),
        "valid": valid.as_dict() if valid.read else None,
    }


def _problems(report: "Report") -> list[str]:
    """Why `train` would refuse this, if it would."""
    from headway.text.cleaning import refuse_unusable

    try:
        refuse_unusable(report)
    except DataError as error:
        return [str(error)]
    return []


def _lengths(cleaned: "CleanedCorpus") -> dict[str, dict[str, Number]]:
    """Characters of both sides, words of both sides, and target over source characters."""
    counts: dict[str, Counter[Number]] = {
        name: Counter()
        for name in (
            "source_characters",
            "target_characters",
            "source_words",
            "target_words",
            "target_over_source",
        )
    }
    for source, target, *_ in cleaned.pairs("train"):
        counts["source_characters"][len(source)] += 1
        counts["target_characters"][len(target)] += 1
        counts["source_words"][len(source.split())] += 1
        counts["target_words"][len(target.split())] += 1
        counts["target_over_source"][round(len(target) / len(source), 2)] += 1
    return {name: _summary(histogram) for name, histogram in counts.items() if histogram}


def _summary(histogram: "Counter[Number]") -> dict[str, Number]:
    n_values = histogram.total()
    mean = sum(value * n for value, n in histogram.items()) / n_values
    levels = {"low_1": 0.01, "median": 0.5, "high_99": 0.99}
    quantiles = {name: _quantile(histogram, level) for name, level in levels.items()}
    return {"mean": round(mean, 2), **quantiles, "longest": max(histogram)}


def _quantile(histogram: "Counter[Number]", level: float) -> Number:
    passed = 0
    for value in sorted(histogram):
        passed += histogram[value]
        if passed >= level * histogram.total():
            return value
    raise AssertionError("an empty histogram has no quantiles")


def _print_report(found: dict[str, Any]) -> None:
    for line in _report_lines(found):
        print(line)


def _report_lines(found: dict[str, Any]) -> Iterator[str]:
    from headway.text.cleaning import MENDED, NOTICED, REASONS

    read, kept = found["read"], found["kept"]
    yield f"read {read:,} pairs, kept {kept:,} ({kept / max(read, 1):.2%})"
    yield from _counted("dropped", found["dropped"], REASONS, found["examples"])
    yield from _counted("mended", found["mended"], MENDED, {})
    yield from _counted("left as they are", found["noticed"], NOTICED, {})
    yield f"languages: {found['source_language'] or '?'} -> {found['target_language'] or '?'}"
    if found["lengths"]:
        yield "lengths:                 mean   low 1%   median  high 99%   longest"
        for name, row in found["lengths"].items():
            numbers = " ".join(f"{value:>8,.6g}" for value in row.values())
            yield f"  {name.replace('_', ' '):<20} {numbers}"
    if valid := found["valid"]:
        yield f"validation: read {valid['read']:,} pairs, kept {valid['kept']:,}"
        yield from _counted("dropped", valid["dropped"], REASONS, valid["examples"])
    for suspicion in found["suspicions"]:
        yield f"suspicious: {suspicion}"
    for problem in found["problems"]:
        yield f"train would refuse this: {problem}"


def _counted(
    title: str, counts: dict[str, int], meaning: dict[str, str], examples: dict[str, Any]
) -> Iterator[str]:
    if counts:
        yield f"{title}:"
    for name, n in sorted(counts.items(), key=lambda item: -item[1]):
        yield f"  {n:>9,}  {name}: {meaning[name]}"
        for example in examples.get(name, ()):
            yield f"             {example['file']}:{example['line']}  {example['text']}"


def _write_clean(
    cleaned: "CleanedCorpus", folder: Path, source: str | None, target: str | None
) -> None:
    """Write the clean training pairs as two files, complete or not at all."""
    suffixes = (source, target) if source and target and source != target else ("source", "target")
    finals = [folder / f"train.{suffix}" for suffix in suffixes]
    for final in finals:
        if any(final.exists() and final.samefile(read) for read in cleaned.checksums):
            raise ConfigError(f"--out must not overwrite what was read; got {final}. Name another.")
    folder.mkdir(parents=True, exist_ok=True)
    parts = [final.with_name(f".{final.name}.{os.getpid()}.part") for final in finals]
    try:
        with _text(parts[0]) as sources, _text(parts[1]) as targets:
            for pair in cleaned.pairs("train"):
                sources.write(pair.source + "\n")
                targets.write(pair.target + "\n")
        for part, final in zip(parts, finals, strict=True):
            part.replace(final)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
    _say(f"clean pairs: {finals[0]} and {finals[1]}")


def _text(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", newline="\n")
