"""`headway score`: how likely is each line under a language model?"""

import heapq
import math
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.commands.arguments import Unread, in_chunks, print_json, say
from headway.commands.language_models import model_and_given
from headway.commands.standard_input import typed_lines
from headway.core.errors import ConfigError

if TYPE_CHECKING:
    from headway.language_models.trained import LineScore


def score(
    run: Path,
    /,
    *file: Unread,
    tokens: bool = False,
    rank: bool = False,
    worst: int = 0,
    json: bool = False,
) -> None:
    """Log-probability of each line: natural logarithm, the end of the line (</s>) included.

    The likelier of two sentences has the larger one, the one nearer to 0. Lines are scored one by
    one: none is context for the next. A blank line stays blank.

    Parameters
    ----------
    run
        Folder of a trained language model.
    file
        Text, one sentence a line; without it, standard input. Beside it, any setting as a flag:
        --runtime.threads 1.
    tokens
        Show what each token costs.
    rank
        Sort each group of lines, which blank lines part, the likeliest first: n-best lists.
    worst
        Only the so many lines with the lowest log-probability per token, with their numbers: what
        is odd in a corpus.
    json
        Print one JSON object: {"scores": [{"text", "log_prob", "tokens": [{"token",
        "log_prob"}]}]}. What is impossible under the model has null.
    """
    if sum((tokens, rank, bool(worst), json)) > 1 and not (json and rank):
        raise ConfigError(
            "--tokens, --worst and --json or --rank are ways to show scores: got more than one. "
            "Leave all but one out (--json goes with --rank)."
        )
    if worst < 0:
        raise ConfigError(f"--worst is a number of lines; got {worst}. Try --worst 20.")
    model, named = model_and_given(run, score, file)
    text = Path(named) if named else None

    def scored() -> "Iterator[LineScore | None]":
        for lines in _chunks(text):
            found = iter(model.score([line for line in lines if line.strip()]))
            for line in lines:
                yield next(found) if line.strip() else None

    unknown = 0
    if worst:
        unknown = print_worst(scored(), worst)
    elif json:
        found = [one for group in groups(scored(), ranked=rank) for one in group]
        unknown = sum(one.n_unknown for one in found)
        print_json({"scores": list(map(as_dict, found))})
    elif rank:
        for number, group in enumerate(groups(scored(), ranked=True)):
            print("\n" * bool(number), end="")
            unknown += print_lines(group, tokens=False)
    else:
        for one in scored():
            if one is None:
                print(flush=True)
            else:
                unknown += print_lines([one], tokens=tokens)
    if unknown:
        say(f"{unknown:,} tokens are unknown to the model, and scored as its one unknown word")


def _chunks(file: Path | None) -> Iterator[list[str]]:
    if file is None:
        return typed_lines()
    from headway.core.lines import read_lines

    return in_chunks(read_lines(file))


def groups(scored: "Iterator[LineScore | None]", *, ranked: bool) -> "Iterator[list[LineScore]]":
    """The lines between blank ones; the likeliest first, if `ranked`."""
    group: list[LineScore] = []
    for one in chain(scored, [None]):
        if one is not None:
            group.append(one)
        elif group:
            yield sorted(group, key=lambda one: -one.log_prob) if ranked else group
            group = []


def print_lines(lines: "list[LineScore]", *, tokens: bool) -> int:
    """A line each on stdout; returns how many tokens were unknown."""
    for one in lines:
        if tokens:
            parts = " ".join(f"{token} {log_prob:.3f}" for token, log_prob in one.tokens)
            print(f"{one.log_prob:.4f}\t{parts}", flush=True)
        else:
            print(f"{one.log_prob:.4f}\t{one.text}", flush=True)
    return sum(one.n_unknown for one in lines)


def print_worst(scored: "Iterator[LineScore | None]", n: int) -> int:
    """The `n` oddest lines, the oddest first; returns how many tokens were unknown."""
    unknown = 0

    def ranked() -> Iterator[tuple[float, int, str]]:
        nonlocal unknown
        for number, one in enumerate(scored, start=1):
            if one is not None:
                unknown += one.n_unknown
                yield one.log_prob / len(one.tokens), number, one.text

    for per_token, number, text in heapq.nsmallest(n, ranked()):
        print(f"{per_token:.4f}\tline {number}\t{text}")
    return unknown


def as_dict(one: "LineScore") -> dict[str, Any]:
    """Ready for JSON."""
    tokens = [{"token": token, "log_prob": finite(log_prob)} for token, log_prob in one.tokens]
    return {"text": one.text, "log_prob": finite(one.log_prob), "tokens": tokens}


def finite(value: float) -> float | None:
    """None in the place of what JSON cannot say."""
    return value if math.isfinite(value) else None
