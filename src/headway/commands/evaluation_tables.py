"""What `headway evaluate` prints for people."""

from collections.abc import Sequence
from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.commands.evaluating import SystemScores
from headway.metrics.corpus_scores import Score
from headway.metrics.diagnosis import Note
from headway.metrics.evaluation import METRICS, Difference, TranslationScores
from headway.metrics.rouge import NAMES
from headway.metrics.score_card import ScoreCard

_TITLES = dict(zip(METRICS, ("BLEU", "chrF", "TER (lower is better)"), strict=True))


def print_tables(
    outcomes: Sequence[SystemScores], differences: dict[str, Difference] | None, lengths_of: str
) -> None:
    """Scores, BLEU by length, signatures, score cards if there are any, and what may be wrong.

    `lengths_of` says what was measured for the lengths: sources or references.
    """
    console = Console(highlight=False)
    console.print(_scores(outcomes, differences))
    console.print(_by_length(outcomes, lengths_of))
    first = _figures(outcomes[0].scores)
    for name, title in (_TITLES | NAMES).items():
        if name in first or name in METRICS:
            told = first[name].signature if name in first else "not counted; --ter counts it"
            console.print(Text(f"{title.split()[0]}: {told}"), soft_wrap=True)
    if differences is not None:
        how = "one-sided as in sacreBLEU; below 0.05 chance is a poor explanation"
        console.print(f"p: paired bootstrap, {how}.")
    cards = [(outcome.name, outcome.card) for outcome in outcomes if outcome.card is not None]
    if cards:
        _print_cards(console, cards)
    for outcome in outcomes:
        if outcome.notes:
            _print_notes(console, outcome.name, outcome.notes)


def _scores(outcomes: Sequence[SystemScores], differences: dict[str, Difference] | None) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column("")
    for outcome in outcomes:
        table.add_column(_name(outcome.name), justify="right")
    if differences is not None:
        table.add_column("difference", justify="right")
        table.add_column("p", justify="right")
    each = [_figures(outcome.scores) for outcome in outcomes]
    for name, title in (_TITLES | NAMES).items():
        scores = [figures[name] for figures in each if name in figures]
        if not scores:
            continue
        cells = [f"{s.score:.2f} [{s.low:.2f}, {s.high:.2f}]" for s in scores]
        if differences is not None:
            change = differences[name]
            cells += [f"{change.difference:+.2f}", f"{change.p_value:.3f}"]
        table.add_row(title, *(Text(cell) for cell in cells))
    exact = [f"{outcome.scores.exact_match:.2f}" for outcome in outcomes]
    table.add_row("exactly right, %", *exact)
    return table


def _figures(scores: TranslationScores) -> dict[str, Score]:
    """Those that were asked for, by name."""
    found = {name: getattr(scores, name) for name in METRICS} | scores.rouge
    return {name: score for name, score in found.items() if score}


def _by_length(outcomes: Sequence[SystemScores], lengths_of: str) -> Table:
    table = Table(box=box.SIMPLE, title=f"BLEU by length of the {lengths_of}", title_justify="left")
    for heading in ("tokens", "sentences", *("BLEU (output/reference length)" for _ in outcomes)):
        table.add_column(heading, justify="right")
    for buckets in zip(*(outcome.by_length for outcome in outcomes), strict=True):
        last = "" if buckets[0].longest is None else buckets[0].longest
        table.add_row(
            f"{buckets[0].shortest}-{last}",
            f"{buckets[0].sentences:,}",
            *(f"{bucket.bleu:.2f} ({bucket.length_ratio:.2f})" for bucket in buckets),
        )
    return table


def _print_cards(console: Console, cards: Sequence[tuple[str, ScoreCard]]) -> None:
    console.print(
        "\nScore card: one output, many figures. Conventions differ in what they take for a word, "
        "and in case;\nonly figures under one convention compare.",
        soft_wrap=True,
    )
    table = Table(box=box.SIMPLE)
    table.add_column("", no_wrap=True)
    alone = len(cards) == 1
    for name, _ in cards:
        table.add_column("score" if alone else _name(name), justify="right", no_wrap=alone)
    table.add_column("compares to")
    of_each = [{row.name: row for row in card.rows} for _, card in cards]
    for name in dict.fromkeys(name for rows in of_each for name in rows):
        found = [rows.get(name) for rows in of_each]
        row = next(row for row in found if row is not None)
        interval = f" [{row.low:.2f}, {row.high:.2f}]" if alone else ""
        cells = [Text("-" if row is None else f"{row.score:.2f}{interval}") for row in found]
        table.add_row(f"BLEU {name}" if row.metric == "BLEU" else name, *cells, row.compares_to)
    console.print(table)
    first = cards[0][1]
    for row in first.rows:
        console.print(Text(f"{row.name}: {row.signature}"), soft_wrap=True)
    for reason, group in groupby(first.left_out, key=lambda convention: convention.reason):
        names = ", ".join(convention.name for convention in group)
        console.print(Text(f"Left out: {names} ({reason})"), soft_wrap=True)
    console.print("--tokenize and --lowercase give one of BLEU's rows with lengths and p-values.")


def _print_notes(console: Console, name: str, notes: Sequence[Note]) -> None:
    console.print(Text(f"\nWhat may be wrong with {name}"), soft_wrap=True)
    for note in notes:
        where = ", ".join(f"{line:,}" for line in note.lines)
        seen = f" Look at line{'s' * (len(note.lines) != 1)} {where}." if note.lines else ""
        console.print(Text(f"- {note.finding}{seen}\n  {note.remedy}"), soft_wrap=True)


def _name(system: str) -> Text:
    return Text(system, overflow="fold")
