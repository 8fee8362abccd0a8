"""`headway predict` and `headway evaluate` of runs that label: texts, words, pictures."""

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from headway.commands.arguments import print_json
from headway.commands.evaluate_options import EvaluateOptions
from headway.commands.lines import chunks_of

if TYPE_CHECKING:
    from headway.labelling.predictions import Predictor


def print_answers(predictor: "Predictor", given: str | None, top: int, json: bool) -> None:
    """What a run says of a text, of each line of a file, or of standard input."""
    from headway.labelling.predictions import Asked

    asked = Asked(given, top, colored=sys.stdout.isatty() and not json)
    answers = predictor.answers(asked, _lines(asked.file, given))
    if json:
        told = [answer.told for answer in answers]
        print_json({"predictions": told})
        return
    for answer in answers:
        print(answer.shown, flush=True)


def _lines(file: Path | None, given: str | None) -> Iterator[str]:
    if given is not None and file is None:
        return iter([given])
    if file is not None and file.is_dir():
        return iter(())
    return chain.from_iterable(chunks_of(file))


def evaluate_labelled(runs: Sequence[Path], told: EvaluateOptions) -> None:
    """Score runs that label on labelled files."""
    raise NotImplementedError
