"""What was measured of a service: as a table, and as a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headway.serving.bench import LoadFigures

HEAD = (
    f"{'clients':>8}{'rate/s':>9}{'sentences/s':>13}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}"
    f"{'max ms':>9}{'client':>8}   others"
)


def line(one: LoadFigures) -> str:
    """A row under `HEAD`."""
    told = one.as_dict()

    def ms(name: str) -> str:
        value = told[name]
        return f"{value:>9,.1f}" if value is not None else f"{'-':>9}"

    others = ", ".join(f"{status}: {n:,}" for status, n in sorted(one.statuses.items()))
    rate = f"{one.rate:>9,.0f}" if one.rate is not None else f"{'-':>9}"
    figures = "".join(ms(name) for name in ("p50_ms", "p95_ms", "p99_ms", "max_ms"))
    share = f"{one.client_share:>8.0%}"
    asked = f"{one.clients:>8}{rate}{one.per_second:>13,.1f}"
    return f"{asked}{figures}{share}   {others}".rstrip()


def draw(figures: Sequence[LoadFigures], title: str, path: Path) -> None:
    """A picture (.png or .svg): throughput, and latency, by the number of clients or the rate."""
    from matplotlib.figure import Figure

    rated = figures[0].rate is not None
    xs = [one.rate if one.rate is not None else one.clients for one in figures]
    figure = Figure((8.0, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(xs, [one.per_second for one in figures], marker="o", color="#2563a8")
    left.set(ylabel="sentences per second", ylim=(0, None))
    for share, style in ((0.5, "-"), (0.95, "--"), (0.99, ":")):
        ys: list[Any] = [one.percentile(share) for one in figures]
        right.plot(xs, ys, style, marker="o", color="#c2600c", label=f"p{round(100 * share)}")
    right.set(ylabel="milliseconds to the answer", ylim=(0, None))
    right.legend(frameon=False)
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_xticks(xs, [f"{x:g}" for x in xs])
        axes.minorticks_off()
        axes.set_xlabel("requests per second" if rated else "clients at once")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#dde2e8")
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, dpi=130)
