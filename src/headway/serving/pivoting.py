"""The way of a text: by the run of its pair, or by two runs through a third language."""

from typing import NamedTuple

from headway.serving.requests import AUTO, RefusedError, ServedPair
from headway.serving.runs import ServedRun, ServedRuns

FIRST = "en"
"""Where several languages lead from one to the other, this one."""


class Route(NamedTuple):
    """The run of a pair, or the two through which the text goes, one behind the other."""

    runs: tuple[ServedRun, ...]

    @property
    def pair(self) -> ServedPair:
        """Its two ends, as the runs name them."""
        return ServedPair(self.runs[0].pair.source, self.runs[-1].pair.target)

    @property
    def origin(self) -> str:
        """What is said of a translation that came this way."""
        return "model" if len(self.runs) == 1 else f"pivot:{self.runs[0].pair.target}"


def route(runs: ServedRuns, source: str, target: str, pivot: str) -> Route:
    """How a text gets from one language into another.

    `pivot` is a language to go through where no run knows the pair, "auto" for any, empty for none.
    Raises RefusedError where there is no way.
    """
    if (direct := runs.known(source, target)) is not None:
        return Route((direct,))
    if not pivot:
        raise RefusedError("language", runs.missing(source, target))
    through = [pivot]
    if pivot == AUTO:
        codes = dict.fromkeys(run.pair.source for run in runs.into(target))
        through = sorted(codes, key=lambda code: code != FIRST)  # stable
    for code in through:
        first, second = runs.known(source, code), runs.known(code, target)
        if first and second and first is not second:
            return Route((first, second))
    raise RefusedError(
        "language",
        f"{runs.missing(source, target)} Through {'another' if pivot == AUTO else repr(pivot[:40])}"
        " there is no way either.",
    )


def sources_into(runs: ServedRuns, target: str, pivot: str) -> list[str]:
    """Languages that can be translated into a target, in the order of the runs.

    Raises RefusedError where there are none.
    """
    last = runs.into(target)
    found = dict.fromkeys(run.pair.source for run in last)
    if pivot:
        for run in last:
            if pivot == AUTO or runs.known(pivot, target) is run:
                found |= dict.fromkeys(
                    one.pair.source
                    for one in runs.into(run.pair.source)
                    if not any(other.pair == (one.pair.source, run.pair.target) for other in last)
                )
    sources = [code for code in found if code != (last[0].pair.target if last else "")]
    if not sources:
        raise RefusedError("language", runs.missing("any language", target))
    return sources
