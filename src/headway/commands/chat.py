"""`headway chat`: a run that was trained on pairs of text and answer, talked with."""

import sys
from collections import deque
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from headway.commands.arguments import Unread, apart, option_names, print_json, ready, say
from headway.commands.lines import chunks_of
from headway.core.errors import ConfigError

PARTED = " ¶ "
"""What stands between turns that are read together, in the pairs as in the talk."""


def chat(
    run: Path,
    /,
    *flags: Unread,
    turns: int = 1,
    method: Literal["sampling", "beam", "greedy"] = "sampling",
    temperature: float = 0.8,
    top_p: float = 0.9,
    seed: int = 1,
    json: bool = False,
) -> None:
    """Talk with a run that was trained on pairs of text and answer.

    Each line of standard input is a turn; its answer is printed. An empty line begins a new talk.

    Parameters
    ----------
    run
        Folder of a run that was trained on such pairs (docs/uses/text-to-text.md).
    flags
        Settings of [decoding] and [runtime]: --runtime.threads 1.
    turns
        How many of the last turns the model reads, yours and its own, with ¶ between them: as many
        as in its pairs.
    method
        How answers are found: sampling, so that they are not always the same few; beam or greedy.
    temperature
        Of sampling: below 1 likely words are drawn more often still.
    top_p
        Of sampling: only from the fewest words that together have this probability.
    seed
        The same seed and the same turns give the same answers.
    json
        Print one JSON object at the end: {"turns": [{"text", "answer", "read"}]}.
    """
    if turns < 1:
        raise ConfigError(f"--turns is a number of turns; got {turns}. Try --turns 1.")
    named, given = apart(flags)
    if named:
        raise ConfigError(f"chat reads standard input; got {named[0]!r}. Pipe it: echo TEXT | ..")
    import torch

    drawn: dict[str, Any] = {"temperature": temperature, "top_p": top_p, "seed": seed}
    drawn = drawn if method == "sampling" else {}
    names = option_names(chat, ("decoding", "runtime"))
    translator, how = ready(run, None, {"method": method, **drawn}, given, names)
    generator = torch.Generator(translator.device).manual_seed(how["seed"])
    talk, found = deque[str](maxlen=turns), list[dict[str, Any]]()
    if sys.stdin.isatty():
        say("headway: a line is a turn; an empty line begins anew")
    for line in chain.from_iterable(chunks_of(None)):
        if not (text := line.strip()):
            talk.clear()
            continue
        talk.append(text)
        read = PARTED.join(talk)
        answer = translator.translate_fully(read, generator=generator, **how).target
        talk.append(answer)
        found.append({"text": text, "answer": answer, "read": read})
        if not json:
            print(answer, flush=True)
    if json:
        print_json({"turns": found})
