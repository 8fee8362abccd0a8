"""Table 1, theory beside measurement, for a terminal."""

from collections.abc import Sequence
from typing import Any

from headway.study.cost_table import amount, size
from headway.study.layer_types import LAYER_TYPES

TIMES = {"cpu_s": "time of the processor", "wall_s": "time on the clock"}
"""By their names in what was measured."""


def lines(found: dict[str, Any]) -> list[str]:
    """All that was measured, from what `--json` prints."""
    passes = "forward and backward" if found["backward"] else "forward"
    clock = found["clock"]
    return [
        f"table 1 at d = {found['d']:,}, k = {found['kernel']}, r = {found['window']}; {passes}, "
        f"one text; {found['machine']}",
        "",
        *aligned(theory(found)),
        *dilation_lines(found),
        "",
        *aligned(exponents(found)),
        "",
        f"time of the processor (ms), d = {found['d']:,}",
        *aligned(grid(found["over_n"], "n", lambda p: f"{1e3 * p['cpu_s']:,.3g}")),
        "",
        "time on the clock (ms)",
        *aligned(grid(found["over_n"], "n", lambda p: f"{1e3 * p['wall_s']:,.3g}")),
        "",
        "memory beyond the input, at most",
        *aligned(grid(found["over_n"], "n", lambda p: size(p["peak_bytes"]))),
        "",
        "operations counted",
        *aligned(grid(found["over_n"], "n", lambda p: amount(p["operations"]))),
        "",
        f"{TIMES[clock]} (ms), n = {found['n']:,}",
        *aligned(grid(found["over_d"], "d", lambda p: f"{1e3 * p[clock]:,.3g}")),
        "",
        f"one more token with a cache, behind n others: {TIMES[clock]} (microseconds)",
        *aligned(grid(found["decoding"], "n", lambda p: f"{1e6 * p[clock]:,.3g}")),
        *crossing_lines(found),
    ]


def theory(found: dict[str, Any]) -> Sequence[Sequence[str]]:
    """The paper's three columns, and paths in numbers."""
    at = f"at n = {found['reached']:,}"
    rows = [("layer", "operations", "sequential", "longest path", at)]
    for row in found["layers"]:
        path = f"{row['longest_path']:,}"
        rows.append((row["title"], f"O({row['cost']})", row["sequential"], row["path"], path))
    return rows


def exponents(found: dict[str, Any]) -> Sequence[Sequence[str]]:
    """What was fitted, beside theory."""
    rows = [("exponents", "n: theory", "time", "operations", "d: theory", "time", "operations")]
    for row in found["layers"]:
        cells = []
        for of in ("in_n", "in_d"):
            cells.append(str(row[of]["theory"]))
            cells += [_number(row[of][value]) for value in ("time", "operations")]
        rows.append((row["title"], *cells))
    return rows


def grid(points: list[dict[str, Any]], of: str, shown: Any) -> Sequence[Sequence[str]]:
    """Layers down, sizes across."""
    sizes = sorted({point[of] for point in points})
    rows = [(of, *(f"{value:,}" for value in sizes))]
    for name in dict.fromkeys(point["layer"] for point in points):
        cells = {point[of]: shown(point) for point in points if point["layer"] == name}
        rows.append((LAYER_TYPES[name].title, *(cells.get(value, "-") for value in sizes)))
    return rows


def dilation_lines(found: dict[str, Any]) -> list[str]:
    """Which of the dilated layers is measured."""
    if all(row["layer"] != "dilated" for row in found["layers"]):
        return []
    return [
        "dilated: the middle one of the layers that reach from end to end, at "
        f"n = {found['reached']:,} of inputs {found['dilation']:,} apart"
    ]


def crossing_lines(found: dict[str, Any]) -> list[str]:
    """From which length on self-attention costs more."""
    said = []
    for name, at in found["crossings"].items():
        operations, time = since(at["operations"]), since(at[found["clock"]])
        said.append(f"  {LAYER_TYPES[name].title}: operations {operations}; time {time}")
    return ["", "self-attention costs more than", *said] if said else []


def since(at: dict[str, Any] | None) -> str:
    """A `Crossing` in words."""
    if at is None:
        return "not known: too short for the clock"
    if at["case"] == "crossing":
        return f"from n = {at['n']:,.0f}"
    return "at all of these lengths" if at["case"] == "above" else "not at the longest of these"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of one width, numbers to the right."""
    if len(rows) < 2:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            f"{cell:{width}}" if column == 0 else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
