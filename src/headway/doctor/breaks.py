"""The very line from which the sides are shifted, by the words around it."""

from collections.abc import Iterable, Sequence

from headway.core.cleaning import Pair
from headway.corpora.shifts import Shift
from headway.doctor.belonging import Belonging
from headway.doctor.corpus_fixes import Shifted

_AROUND = 80  # lines
_TO_THE_END = 1 << 60


def stretches(
    shifts: Sequence[Shift], pairs: Iterable[Pair], belonging: Belonging | None
) -> list[Shifted]:
    """Where targets are to be moved; `pairs` are those of the whole corpus."""
    near: list[dict[int, Pair]] = [{} for _ in shifts]
    last_line: dict[str, int] = {}
    for pair in pairs:
        last_line[pair.file] = pair.line
        for found, shift in zip(near, shifts, strict=True):
            place = shift.first, shift.last
            if pair.file == shift.first.file and any(
                abs(pair.line - one.line) <= _AROUND for one in place
            ):
                found[pair.line] = pair
    return [
        _exact(shift, found, last_line[shift.first.file], belonging)
        for found, shift in zip(near, shifts, strict=True)
    ]


def _exact(
    shift: Shift, near: dict[int, Pair], last_line: int, belonging: Belonging | None
) -> Shifted:
    by, (first, last) = shift.lines, (shift.first.line, shift.last.line)
    lines, straight, moved = _told(near, by, belonging)
    if last_line - last <= _AROUND // 2:
        last = _TO_THE_END
    if lines:
        first = _first(by, [n for n in lines if abs(n - first) <= _AROUND], straight, moved)
    if lines and last < _TO_THE_END:
        last = _last(by, [n for n in lines if abs(n - last) <= _AROUND], straight, moved)
    return Shifted(shift.first.file, first, last, by)


def _told(
    near: dict[int, Pair], by: int, belonging: Belonging | None
) -> tuple[list[int], dict[int, float], dict[int, float]]:
    """Lines, and what speaks for each source's own target, and for the one from where it is."""
    lines = sorted(near)
    others = [n for n in lines if n - by in near]
    moved = [near[n]._replace(target=near[n - by].target) for n in others]
    if belonging is None or not moved:
        return [], {}, {}
    of_own, of_moved = belonging.nats([near[n] for n in lines]), belonging.nats(moved)
    if of_own is None or of_moved is None:
        return [], {}, {}
    return (
        lines,
        dict(zip(lines, of_own.tolist(), strict=True)),
        dict(zip(others, of_moved.tolist(), strict=True)),
    )


def _first(by: int, lines: list[int], straight: dict[int, float], moved: dict[int, float]) -> int:
    """The first source whose target is elsewhere; where one has none, `by` of them have none."""

    def gain(first: int) -> float:
        return sum(straight[n] for n in lines if n < first) + sum(
            moved.get(n, 0.0) for n in lines if n >= first + max(by, 0)
        )

    return max(lines, key=gain)


def _last(by: int, lines: list[int], straight: dict[int, float], moved: dict[int, float]) -> int:
    """The last such source, or the last that has no target."""

    def gain(last: int) -> float:
        return sum(straight[n] for n in lines if n > last) + sum(
            moved.get(n, 0.0) for n in lines if n <= last + min(by, 0)
        )

    return max(lines, key=gain)
