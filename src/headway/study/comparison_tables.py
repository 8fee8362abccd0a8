"""A comparison in words: rows of tables and sentences, for the terminal and the page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

NOTHING = "-"
"""Where a run has no such figure."""
_TOO_LONG = 1e7
"""A number that no column has room for with all its digits."""


class TableRow(NamedTuple):
    """A row of a table: what it is, and its value for each run."""

    name: str
    cells: list[str]


def heading(found: Mapping[str, Any]) -> str:
    """What was compared, and on what."""
    test = found["test"]
    on = ""
    if test.get("examples"):
        on = f" on the same {test['examples']:,} {test['of']}"
    elif test:
        on = f", each on its own {test['of']}"
    return f"{len(found['runs'])} runs of the task {found['task']}{on}"


def quality(found: Mapping[str, Any]) -> list[TableRow]:
    """Figures with their 95 % intervals, and what nobody is ranked by."""
    return [
        *_by_name(found, "figures", _interval),
        *_by_name(found, "others", _number),
    ]


def costs(found: Mapping[str, Any]) -> list[TableRow]:
    """Size, training, speed and memory."""
    runs, row = found["runs"], found["test"].get("row", "example")
    lines = [
        TableRow("model", [run["model"] for run in runs]),
        _of(runs, "parameters", "parameters", lambda n: f"{n:,}"),
        _of(runs, "  without embeddings", "parameters_without_embeddings", lambda n: f"{n:,}"),
        _of(runs, "training time", "time_s", duration),
        _of(runs, "  updates", "updates", lambda n: f"{n:,}"),
        *_by_name(found, "counts", lambda n: f"{n:,}", "  {} seen"),
        _of(runs, f"one {row} alone", "latency_s", lambda s: f"{1000 * s:,.1f} ms"),
        _of(runs, f"{row}s a second", "examples_per_s", lambda n: f"{n:,.1f}"),
        _of(runs, "memory of weights", "bytes", megabytes),
        _of(runs, "  more at work", "peak_bytes", megabytes),
    ]
    return [line for line in lines if set(line.cells) != {NOTHING}]


def rankings(found: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each: the order with differences and p-values, or why there is none."""
    for ranking in found["rankings"]:
        if ranking["refused"]:
            yield f"no ranking by {ranking['by']}: {'. '.join(ranking['refused'])}."
            continue
        decimals = found["runs"][0]["figures"][ranking["by"]]["decimals"]
        told = [f"{ranking['places'][0]['run']}"]
        for place in ranking["places"][1:]:
            p = ""
            if place["p_value"] is not None:
                chance = "" if place["p_value"] < 0.05 else ": may be chance"
                p = f", p = {place['p_value']:.3f}{chance}"
            behind = "" if place["behind"] is None else f"{place['behind']:+.{decimals}f}"
            told.append(f"{place['run']} ({behind}{p})")
        yield f"by {ranking['by']}: {', then '.join(told)}"


def sides(found: Mapping[str, Any]) -> str:
    """What to say of p where it is sacreBLEU's."""
    one_sided = {"BLEU", "chrF"} & {ranking["by"] for ranking in found["rankings"]}
    return " (of BLEU and chrF one-sided, as in sacreBLEU)" if one_sided else ""


def notes(found: Mapping[str, Any]) -> Iterator[str]:
    """What is to be known of the figures."""
    yield from found["notes"]
    if "machine" in found:
        machine = found["machine"]
        threads = f"{machine['threads']} thread{'s' * (machine['threads'] != 1)}"
        yield f"speed and memory were measured now, on {machine['name']} with {threads}."


def duration(seconds: float) -> str:
    """In the two largest units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def megabytes(n: int) -> str:
    return f"{n / 1e6:,.1f} MB"


def _interval(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "infinite"
    value, low, high = (
        _number(figure[key], figure["decimals"]) for key in ("value", "low", "high")
    )
    known = low != high and None not in (figure["low"], figure["high"])
    return f"{value} [{low}, {high}]" if known else value


def _number(value: float | None, decimals: int = 2) -> str:
    if value is None:
        return "infinite"
    return f"{value:,.{decimals}f}" if abs(value) < _TOO_LONG else f"{value:.2e}"


def _of(runs: Sequence[Mapping[str, Any]], name: str, key: str, told: Any) -> TableRow:
    return TableRow(name, [NOTHING if run.get(key) is None else told(run[key]) for run in runs])


def _by_name(found: Mapping[str, Any], key: str, told: Any, name: str = "{}") -> Iterator[TableRow]:
    """A line for each name that any run has under a key."""
    of_each = [run.get(key, {}) for run in found["runs"]]
    for one in dict.fromkeys(one for named in of_each for one in named):
        cells = [told(named[one]) if one in named else NOTHING for named in of_each]
        yield TableRow(name.format(one.replace("_", " ")), cells)
