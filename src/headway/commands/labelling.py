"""`headway predict` and `headway evaluate` of runs that label: texts, words, pictures."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from headway.commands.arguments import print_json, say
from headway.commands.evaluate_options import (
    OF_LABELS,
    EvaluateOptions,
    given_options,
    run_and_corpus,
)
from headway.commands.lines import chunks_of
from headway.core.errors import ConfigError
from headway.core.lines import check_file
from headway.pages import refuse_no_place

if TYPE_CHECKING:
    from headway.labelling.predictions import Predictor
    from headway.labelling.scores import LabelScores

FILES = (".txt", ".csv", ".tsv", ".jsonl", ".ndjson", ".conll", ".gz")
"""A word that ends so is the name of a file, and no text."""


def brings(run: str | Path, verb: str) -> bool:
    """Whether the task of a run brings something to a verb."""
    from headway.operations.shipped import open_folder
    from headway.runs.settings import task_of
    from headway.tasks import verbs

    return verb in verbs(task_of(open_folder(run).settings()))


def print_answers(predictor: "Predictor", given: str | None, top: int, json: bool) -> None:
    """What a run says of a text, of each line of a file, or of standard input."""
    from headway.labelling.predictions import Asked

    asked = Asked(given, top, colored=sys.stdout.isatty() and not json)
    if given and not asked.file and given.lower().endswith(FILES) and len(given.split()) == 1:
        check_file(Path(given))
    parts = _lines(asked.file, given)
    answers = chain.from_iterable(predictor.answers(asked, some) for some in parts)
    if json:
        told = [answer.told for answer in answers]
        print_json({"predictions": told})
        return
    for answer in answers:
        print(answer.shown, flush=True)


def _lines(file: Path | None, given: str | None) -> Iterable[Iterator[str]]:
    """Those that are answered together: of standard input all that are there by now."""
    if given is None:
        return map(iter, chunks_of(None))
    if file is None:
        return [iter([given])]
    return [iter(()) if file.is_dir() else chain.from_iterable(chunks_of(file))]


def evaluate_labelled(runs: Sequence[Path], told: EvaluateOptions) -> None:
    """Score a run that labels on labelled files. Raises what `run_and_corpus` does."""
    from headway.tasks import brought_by_run

    run, corpus = run_and_corpus(runs, told, scored="runs that label are scored on")
    refuse_no_picture(told)
    found: LabelScores = brought_by_run(run, "evaluate labels")(run, corpus)
    if told.json:
        print_json({"run": str(run), **found.as_dict()})
    else:
        from headway.commands.label_tables import print_label_scores

        print_label_scores(found)
    _draw(found, told)


def refuse_no_picture(told: EvaluateOptions) -> None:
    """Raise ConfigError for pictures that could not be written, before anything is measured."""
    for option, path in given_options(told, OF_LABELS).items():
        refuse_no_place(path, option)
        if path.suffix.lower() not in (".png", ".svg"):
            raise ConfigError(
                f"a picture is a .png or a .svg; got {option} {path}. Try {path.stem}.png."
            )


def _draw(found: "LabelScores", told: EvaluateOptions) -> None:
    """The pictures that are asked for, where there is something to draw."""
    for option, path in given_options(told, OF_LABELS).items():
        from headway.core.disk import disk_errors
        from headway.inspection.attention_picture import EVERYDAY_GLYPHS, quiet_matplotlib
        from headway.labelling.pictures import save_calibration, save_confusion

        with disk_errors(path), quiet_matplotlib():
            if option == "--calibration" and found.calibration:
                save_calibration(found.calibration, path)
            elif option == "--confusion" and found.confusion:
                if lacking := save_confusion(found.confusion, path, EVERYDAY_GLYPHS):
                    say(f"no font of this machine has {lacking} of the letters of {path}")
            else:
                say(f"{path} is not drawn: {option} is of runs with one label for each example")
                continue
        say(f"headway: the picture is {path}")
