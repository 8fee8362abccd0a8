"""A question: what is trained for it, what the notes say, and how its verdict follows from figures.

Nothing here knows a result. A claim holds where a difference is larger than a margin that is said
beside it and than twice its standard error; one seed has no such error, and leaves it open.
Whatever else is said is computed, too.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev, variance
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from headway.core.config import merge
from whys.cells import Cell, Figures
from whys.training import MODEL, TRAINING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEEDS = (1, 2, 3)
FEWEST_SEEDS = 2
"""One has no standard error."""
USUAL_MEASURES = ("own words", "deletion", "heads", "diagonal")
"""Of the usual Transformer on single sentences, which several questions share."""
TRANSFORMERS = ("transformer", "ablated")
Outcome = Literal["holds", "fails", "open", "missing"]


class Text(NamedTuple):
    """The same in both languages."""

    en: str
    zh: str


def both(words: str) -> Text:
    """What is the same in both languages: names, numbers."""
    return Text(words, words)


NOT_MEASURED = Text("not measured", "未测")


class Claim(NamedTuple):
    """A statement that figures speak for or against."""

    says: Text
    outcome: Outcome
    figures: Text


class Table(NamedTuple):
    """Rows of a question's table."""

    header: Sequence[Text]
    rows: Sequence[Sequence[Text]]


Found = Mapping[str, Sequence[Figures]]
"""The figures of the cells that are done, by the label of their setting; one for each seed."""


@dataclass(frozen=True)
class Question:
    """One section of the page."""

    name: str
    """For --only, and the name of its picture."""
    title: Text
    notes: Text
    """What the notes say, in our own words, with their number."""
    experiment: Text
    cells: Mapping[str, Sequence[Cell]]
    """Those of each seed, by the label of the setting."""
    claims: Callable[[Found], list[Claim]]
    tables: Callable[[Found], list[Table]]
    draw: Callable[[Found, "Figure"], None]
    """A legend that every picture needs is said in `caption`, as it cannot be in Chinese."""
    caption: Text
    size: tuple[float, float] = field(default=(9.0, 3.6))
    """Of the picture, in inches."""


def trainings(
    lesson: str,
    *,
    model: Mapping[str, Any] | None = None,
    training: Mapping[str, Any] | None = None,
    measures: Sequence[str] = (),
    seeds: Sequence[int] = SEEDS,
) -> list[Cell]:
    """A cell for each seed: the usual model and training but for what is given.

    A model that is no Transformer is given whole: `{"type": "recurrent", ..}`.
    """
    model = model or {}
    usual_model = MODEL if model.get("type", MODEL["type"]) in TRANSFORMERS else {}
    merged = merge(
        {"model": usual_model, "training": TRAINING}, {"model": model, "training": training or {}}
    )
    shared = {"lesson": lesson, **merged, "measures": sorted(measures)}
    return [Cell("train", {**shared, "seed": seed}) for seed in seeds]


def usual() -> list[Cell]:
    """The usual Transformer on single sentences, with all that any question measures of it."""
    return trainings("sentences", measures=USUAL_MEASURES)


def probed(work: str, *, seeds: Sequence[int] = SEEDS, **settings: Any) -> list[Cell]:
    """A cell for each seed of what needs no training through the trainer."""
    return [Cell(work, {**settings, "seed": seed}) for seed in seeds]


def values(found: Found, label: str, *path: str | int) -> list[float]:
    """A figure of every seed, such as `values(found, "heads 4", "written", "test", "bleu")`.

    Seeds that do not have it (a training that did not stay finite has no BLEU) are left out.
    """
    some = [at(figures, path) for figures in found.get(label, ())]
    return [number for number in some if number is not None]


def at(figures: Any, path: Sequence[str | int]) -> float | None:
    """What stands at the end of a path of keys; None where it ends early."""
    for key in path:
        if isinstance(figures, Mapping):
            figures = figures.get(key)
        elif isinstance(figures, Sequence) and isinstance(key, int) and key < len(figures):
            figures = figures[key]
        else:
            return None
    return figures


def shown(some: Sequence[float], digits: int = 1) -> str:
    """Mean and standard deviation over the seeds."""
    if not some:
        return "-"
    spread = f" ± {stdev(some):,.{digits}f}" if len({*some}) > 1 else ""
    return f"{mean(some):,.{digits}f}{spread}"


def standard_error(a: Sequence[float], b: Sequence[float]) -> float:
    """Of the difference of two means."""
    return math.sqrt(sum(variance(some) / len(some) for some in (a, b) if len(some) > 1))


def above(
    says: Text,
    a: Sequence[float],
    b: Sequence[float],
    *,
    margin: float,
    of: Text,
    digits: int = 1,
) -> Claim:
    """The claim that `a` is above `b`: by more than `margin` and than twice the standard error.

    It fails where `b` is above `a` by as much, or where the two lie so close that a difference of
    `margin` is excluded; between these it stays open, and so it does with too few seeds.
    """
    if not a or not b:
        return Claim(says, "missing", NOT_MEASURED)
    gap, error = mean(a) - mean(b), standard_error(a, b)
    enough = min(len(a), len(b)) >= FEWEST_SEEDS
    outcome: Outcome = "open"
    if enough and gap > margin and gap > 2 * error:
        outcome = "holds"
    elif enough and gap + 2 * error < margin:
        outcome = "fails"
    numbers = f"{shown(a, digits)}", f"{shown(b, digits)}"
    needed = f"{margin:g}"
    return Claim(
        says,
        outcome,
        Text(
            f"{of.en} {numbers[0]} against {numbers[1]}; more than {needed} apart were asked for",
            f"{of.zh} {numbers[0]}，对 {numbers[1]}；要求相差超过 {needed}",
        ),
    )


def as_good(
    says: Text,
    a: Sequence[float],
    b: Sequence[float],
    *,
    margin: float,
    of: Text,
    digits: int = 1,
) -> Claim:
    """The claim that `a` is not below `b` by `margin` or more."""
    other = above(says, b, a, margin=margin, of=of, digits=digits)
    turned: dict[Outcome, Outcome] = {"holds": "fails", "fails": "holds"}
    if other.outcome == "missing":
        return other
    needed = f"{margin:g}"
    numbers = f"{shown(a, digits)}", f"{shown(b, digits)}"
    return Claim(
        says,
        turned.get(other.outcome, other.outcome),
        Text(
            f"{of.en} {numbers[0]} against {numbers[1]}; at most {needed} less were allowed",
            f"{of.zh} {numbers[0]}，对 {numbers[1]}；最多可低 {needed}",
        ),
    )


def within(
    says: Text,
    some: Sequence[float],
    *,
    low: float = -math.inf,
    high: float = math.inf,
    of: Text,
    digits: int = 1,
) -> Claim:
    """The claim that a mean lies within a range, and so it does with twice its standard error.

    It fails where both lie outside, on one side; else it stays open, as with too few seeds.
    """
    if not some:
        return Claim(says, "missing", NOT_MEASURED)
    margin = 2 * standard_error(some, ())
    lowest, highest = mean(some) - margin, mean(some) + margin
    enough = len(some) >= FEWEST_SEEDS
    outcome: Outcome = "open"
    if enough and low <= lowest and highest <= high:
        outcome = "holds"
    elif enough and (highest < low or high < lowest):
        outcome = "fails"
    wanted, number = asked_for(low, high), shown(some, digits)
    return Claim(
        says,
        outcome,
        Text(f"{of.en} {number}; {wanted.en}", f"{of.zh} {number}；{wanted.zh}"),
    )


def all_within(
    says: Text, counted: Sequence[float], *, low: float, high: float, of: Text, digits: int = 1
) -> Claim:
    """The claim that numbers which no seed changes all lie within a range."""
    if not counted:
        return Claim(says, "missing", NOT_MEASURED)
    least, most = (f"{end(counted):,.{digits}f}" for end in (min, max))
    wanted = asked_for(low, high)
    return Claim(
        says,
        "holds" if all(low <= number <= high for number in counted) else "fails",
        Text(
            f"{of.en} {least} to {most}; {wanted.en}",
            f"{of.zh} {least} 到 {most}；{wanted.zh}",
        ),
    )


def asked_for(low: float, high: float) -> Text:
    """A range in words."""
    if high == math.inf:
        return Text(f"at least {low:g} was asked for", f"要求不低于 {low:g}")
    if low == -math.inf:
        return Text(f"at most {high:g} was asked for", f"要求不高于 {high:g}")
    return Text(f"between {low:g} and {high:g} was asked for", f"要求在 {low:g} 与 {high:g} 之间")


def verdict(claims: Sequence[Claim]) -> Text:
    """In one line, from the claims alone."""
    judged = [claim.outcome for claim in claims if claim.outcome != "missing"]
    n, n_held = len(judged), judged.count("holds")
    n_failed, n_open = judged.count("fails"), judged.count("open")
    if not judged:
        return Text("not measured yet", "尚未测完")
    if n_held == n:
        return Text(f"holds ({n} of {n})", f"成立（{n}/{n}）")
    if n_failed == n:
        return Text(f"does not hold (0 of {n})", f"不成立（0/{n}）")
    if not n_held:
        return Text(
            f"not confirmed (0 of {n}; {n_open} left open)",
            f"未能证实（0/{n}；{n_open} 项尚无定论）",
        )
    return Text(
        f"half right ({n_held} of {n} hold, {n_failed} do not, {n_open} left open)",
        f"只对一半（{n_held}/{n} 成立，{n_failed} 不成立，{n_open} 尚无定论）",
    )


class Column(NamedTuple):
    """A column of a table: what of the figures, with how many digits."""

    name: Text
    path: Sequence[str | int]
    digits: int = 1


BLEU = Column(Text("BLEU", "BLEU"), ("written", "test", "bleu"))
EXACT = Column(Text("exactly right (%)", "完全正确（%）"), ("written", "test", "exact"))
VALID = Column(Text("validation loss", "验证损失"), ("valid_loss",), 3)
PARAMETERS = Column(Text("parameters", "参数量"), ("parameters",), 0)
SECONDS = Column(Text("seconds", "秒"), ("training_s",), 0)


def table(found: Found, first: Text, names: Mapping[str, Text], columns: Sequence[Column]) -> Table:
    """A row for each setting, by its label; a setting that is not measured has dashes."""
    rows = []
    for label, name in names.items():
        cells = [shown(values(found, label, *one.path), one.digits) for one in columns]
        rows.append([name, *map(both, cells)])
    return Table([first, *(one.name for one in columns)], rows)
