"""`headway predict`: what comes next?"""

from itertools import chain
from pathlib import Path

from headway.commands.arguments import Unread, print_json, say
from headway.commands.language_models import model_and_given
from headway.commands.standard_input import typed_lines
from headway.core.errors import ConfigError


def predict(
    run: Path,
    /,
    *text: Unread,
    top: int = 10,
    json: bool = False,
) -> None:
    """The next tokens of a text, with their probabilities.

    Over the whole vocabulary they sum to 1. `▁` is a space in front of a word, </s> the end of the
    line.

    Parameters
    ----------
    run
        Folder of a trained language model.
    text
        What stands before; without it, each line of standard input. Beside it, any setting as a
        flag: --runtime.threads 1.
    top
        How many; 0 for the whole vocabulary.
    json
        Print one JSON object: {"next": [{"token", "prob"}]}; of several lines {"predictions":
        [{"text", "next"}]}.
    """
    if top < 0:
        raise ConfigError(f"--top is a number of tokens, 0 for all; got {top}. Try --top 10.")
    model, given = model_and_given(run, predict, text)
    texts = chain.from_iterable(typed_lines()) if given is None else iter([given])
    found = []
    for one in texts:
        for doubt in model.doubts(one):
            say(doubt)
        likeliest = model.next(one, top)
        if json:
            listed = [{"token": token, "prob": prob} for token, prob in likeliest]
            found.append({"text": one, "next": listed})
            continue
        if given is None:
            print(one)
        for token, prob in likeliest:
            print(f"{prob:.6f}\t{token}", flush=True)
        if given is None:
            print()
    if json:
        whole = {"next": found[0]["next"]} if given is not None else {"predictions": found}
        print_json(whole)
