"""`headway generate`: let a language model write."""

import sys
from pathlib import Path

from headway.commands.arguments import Unread, print_json, say
from headway.commands.language_models import model_and_given
from headway.core.errors import ConfigError


def generate(
    run: Path,
    /,
    *prompt: Unread,
    n: int = 1,
    max_tokens: int = 200,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 1,
    json: bool = False,
) -> None:
    """Write on behind a text: each next token is drawn by its probability, and shown at once.

    It ends where a text of the corpus would: at the end of a line or, where blank lines part the
    documents there, at such a one.

    Parameters
    ----------
    run
        Folder of a trained language model.
    prompt
        The beginning; without it the model begins. Beside it, any setting as a flag:
        --runtime.threads 1.
    n
        How many texts, each with a seed of its own; a blank line parts them.
    max_tokens
        The longest text.
    temperature
        Below 1 likely tokens are drawn more often still, above 1 less; 0: always the likeliest.
    top_k
        Draw from the so many likeliest tokens only; 0 for all.
    top_p
        Draw from the fewest tokens that together have this probability; 1 for all.
    seed
        The same seed writes the same text.
    json
        Print one JSON object when all is written: {"texts": [..]}.
    """
    from headway.translation.decoding import SamplingSettings

    if n < 1 or max_tokens < 1:
        raise ConfigError(
            f"--n and --max-tokens are at least 1; got {n} and {max_tokens}. Leave them out."
        )
    if temperature == 0:
        temperature, top_k = 1.0, 1
    checked = SamplingSettings(
        method="sampling", temperature=temperature, top_k=top_k, top_p=top_p, seed=seed
    )
    model, given = model_and_given(run, generate, prompt)
    begun = given or ""
    for doubt in model.doubts(begun):
        say(doubt)
    texts = []
    for number in range(n):
        text = begun
        if not json:
            print("\n" * bool(number) + begun, end="", flush=True)
        for piece in model.write(
            begun,
            max_tokens=max_tokens,
            temperature=checked.temperature,
            top_k=checked.top_k,
            top_p=checked.top_p,
            seed=seed + number,
        ):
            text += piece
            if not json:
                sys.stdout.write(piece)
                sys.stdout.flush()
        texts.append(text)
        if not json:
            print()
    if json:
        print_json({"texts": texts})
