"""`headway predict` and `headway evaluate` of runs that label: texts, words, pictures."""

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from headway.commands.arguments import print_json
from headway.commands.evaluate_options import OF_TRANSLATIONS, EvaluateOptions, given_options
from headway.commands.lines import chunks_of
from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder

if TYPE_CHECKING:
    from headway.labelling.predictions import Predictor
    from headway.labelling.scores import LabelScores


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
    """Score a run that labels on labelled files.

    Raises ConfigError for options that are of translators, without files, and for several runs.
    """
    others, corpus = given_options(told, OF_TRANSLATIONS), [*(told.corpus or ())]
    if len(corpus) > 1 and RunFolder(corpus[-1]).config.exists():
        runs = [*runs, corpus.pop()]  # RUN was written last, behind the names of the files
    if others or not corpus:
        raise ConfigError(
            "--corpus is what runs that label are scored on; got "
            f"{next(iter(others), 'none')}{' as well' if others and corpus else ''}. Try: headway "
            "evaluate RUN --corpus F"
        )
    if len(runs) != 1:
        raise ConfigError(
            f"one run that labels is evaluated at a time; got {len(runs)}. Several are compared "
            f"by: headway compare {' '.join(map(str, runs))} --corpus {corpus[0]}"
        )
    from headway.tasks import brought_by_run

    found: LabelScores = brought_by_run(runs[0], "evaluate labels")(runs[0], corpus)
    if told.json:
        print_json({"run": str(runs[0]), **found.as_dict()})
        return
    from headway.commands.label_tables import print_label_scores

    print_label_scores(found)
