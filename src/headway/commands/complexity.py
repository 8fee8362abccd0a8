"""`headway complexity`: table 1 of the paper, theory beside what this machine takes."""

import os
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from headway.commands.arguments import (
    Unread,
    option_names,
    parse_overrides,
    print_json,
    process_settings,
)
from headway.commands.stages import Stages
from headway.core import setting_errors as refused
from headway.core.errors import ConfigError
from headway.pages import refuse_no_place

if TYPE_CHECKING:
    from headway.core.config import Sections
    from headway.study.complexity import Sweep

TAKEN = ("runtime.device", "runtime.threads")
"""All settings that there are here."""
MOST = 1 << 20
"""No length or size beyond this."""
WIDEST = 99
"""No kernel beyond this: so many copies of a text lie side by side."""


def complexity(
    *overrides: Unread,
    d: int = 512,
    n: str = "16..4096",
    k: int = 3,
    r: int = 64,
    layers: str = "",
    backward: bool = False,
    page: Path | None = None,
    json: bool = False,
) -> None:
    """Why self-attention: operations, sequential operations and longest paths of layers (table 1 of
    Vaswani et al. 2017) in theory, beside time, memory and operations as measured here.

    It takes a minute or two, in float32, on the GPU if there is one (--runtime.device cpu for the
    processor). With --runtime.threads 1 times grow as theory says; with more, small sizes are held
    up by the threads.

    Parameters
    ----------
    overrides
        --runtime.device cpu and --runtime.threads 1; no other settings.
    d
        Size of the vectors while the length varies.
    n
        Lengths: a range, doubling (16..4096), or a list (64,512).
    k
        Positions that a convolution sees at once; odd.
    r
        Positions to each side that restricted self-attention sees.
    layers
        Some of them, with commas between: attention, projected, windowed, rnn, lstm, convolution,
        dilated, separable.
    backward
        Measure gradients as well.
    page
        Draw it all as one HTML file.
    json
        Print one JSON object.
    """
    given = parse_overrides(overrides, options=option_names(complexity))
    refuse_others(given)
    lengths = lengths_of(n)
    for option, value in (("d", d), ("k", k), ("r", r)):
        if not 1 <= value <= MOST:
            raise ConfigError(f"--{option} is a number from 1 to {MOST:,}; got {value}.")
    refuse_no_place(page)
    if k < 3 or not k % 2 or k > WIDEST:
        raise ConfigError(f"--k is odd, from 3 to {WIDEST}: as many to each side; got {k}. Try 3.")
    if d > 64 and d % 64:
        raise ConfigError(f"--d is cut into heads of 64; got {d}. Try {-(-d // 64) * 64}.")
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # torch's profiler speaks on stderr
    sweep = sweep_of(d, lengths, k, r, layers, backward=backward)
    process = process_settings(given)
    from headway.core.runtime import chosen_device
    from headway.study.complexity import without_tf32

    without_tf32()
    found = with_bar(sweep._replace(device=chosen_device(process).type))
    if json:
        print_json(found)
    else:
        from headway.study.complexity_report import lines

        print("\n".join(lines(found)), flush=True)
    if page:  # last: what was measured is told even where the page has no room
        from headway.core.disk import write_text
        from headway.study.complexity_report import page as drawn

        write_text(page, drawn(found))


def refuse_others(given: "Sections") -> None:
    """Raise ConfigError for a setting that would change nothing of what is measured."""
    for section, keys in given.items():
        for key in keys:
            if f"{section}.{key}" not in TAKEN:
                raise ConfigError(
                    f"complexity takes --{' and --'.join(TAKEN)}, and measures layers in float32; "
                    f"got --{section}.{key.replace('_', '-')}. Leave it out."
                )


def sweep_of(d: int, lengths: list[int], k: int, r: int, layers: str, *, backward: bool) -> "Sweep":
    """What is to be measured: sizes up to 2 d, at most 2,048, at a length that is no bottleneck."""
    from headway.study.complexity import Sweep
    from headway.study.layer_types import LAYER_TYPES, PathLength

    named = (name.strip() for name in layers.split(","))
    names = list(dict.fromkeys(filter(None, named))) or list(LAYER_TYPES)
    for name in names:
        if name not in LAYER_TYPES:
            raise refused.unknown_name("--layers", name, LAYER_TYPES)
    sizes = [size for size in (64, 128, 256, 512, 1024, 2048) if size <= max(64, 2 * d)]
    middle = min(512, max(lengths))
    return Sweep(lengths, sizes, middle, d, PathLength(k, r), names, backward)


def lengths_of(given: str) -> list[int]:
    """The lengths of `16..4096` or `64,512`; raises ConfigError for what is neither."""
    first, dots, last = given.partition("..")
    try:
        if dots:
            low, high = int(first), int(last)
            found = [low << i for i in range(32) if low and low << i <= high]
        else:
            found = sorted({int(one) for one in given.split(",")})
    except ValueError:
        found = []
    if dots and not found and first.isdecimal() and last.isdecimal() and int(first) > int(last):
        raise ConfigError(
            f"--n is a range from the shortest to the longest; got {given!r}. Try {last}..{first}."
        )
    if not found or found[0] < 2 or found[-1] > MOST:
        raise ConfigError(
            f"--n is a range of lengths from 2 to {MOST:,}, such as 16..4096, or a list; got "
            f"{given!r}. Try 16..1024."
        )
    return found


def with_bar(sweep: "Sweep") -> dict[str, object]:
    """Measure, and say how far that is."""
    from headway.study.complexity import measured

    done = count(1)
    with Stages() as stages:
        return measured(sweep, lambda _what: stages("measuring", next(done), sweep.n_runs))
