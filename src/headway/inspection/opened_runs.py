"""Runs of each task opened to be looked into, and what they are looked at with where no text is
given: the notes' sentences, some of the validation set."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from headway.core.cleaning import Report
from headway.core.errors import ConfigError, DataError, command
from headway.core.lines import read_lines
from headway.core.run_folder import RunFolder
from headway.core.runtime import Device
from headway.corpora.corpus import read_pairs
from headway.demo import EXAMPLES
from headway.inspection.inspected_model import Examples, InspectedModel, Passage
from headway.language_models.trained import TrainedLanguageModel
from headway.runs.resuming import why_not_read
from headway.translation.attention import as_fed, refuse_further_positions
from headway.translator import Translator


def opened_translator(run: Path, device: Device, tag: str | None) -> InspectedModel:
    """A run of translation; `tag` is one of its tags."""
    translator = Translator.load(run, device=device)
    refuse_further_positions(translator.model)
    tag = translator.chosen_tag(tag)
    codes = translator.processors.codes(tag)

    def write(text: str) -> str:
        return translator.translate([text], tag=tag or None)[0]

    def passage(text: str, target: str) -> Passage:
        return Passage(text, target, *as_fed(codes, text, target))

    settings, longest = translator.settings, translator.longest
    return InspectedModel(
        run, settings.task, settings, translator.model, translator.subwords, translator.device,
        write, passage, None if longest is None else longest + 1, translator,
        partial(_pairs, settings.data), reads_source=True,
    )  # fmt: skip


def _pairs(data: Any) -> Examples:
    corpus = data.validation() or data.corpus()
    return Examples(corpus.files, (pair.source for pair in read_pairs(corpus, Report())))


def opened_language_model(run: Path, device: Device, _tag: str | None) -> InspectedModel:
    """A run of language modelling; it reads no tags."""
    used = TrainedLanguageModel.load(run, device=device)

    def passage(text: str, target: str) -> Passage:
        ids = used.vocabulary.encode(used.cut(target))
        return Passage(text, target, [], [used.vocabulary.special.decoder_begin, *ids])

    settings = used.settings
    return InspectedModel(
        run, settings.task, settings, used.decoder, used.vocabulary, used.device,
        lambda text: text, passage, None, used, partial(_lines, settings.data),
        whole_words=settings.text.unit == "words",
    )  # fmt: skip


def _lines(data: Any) -> Examples:
    files = data.valid_corpus or data.corpus
    return Examples(
        files, (line for path in files for line in read_lines(path) if line is not None)
    )


N_TEXTS = 4
_LONGEST = 120
"""Characters of a text that is easy to look at."""
_FAR = 500
"""Lines in which such texts are looked for."""


def texts(inspected: InspectedModel) -> list[str]:
    """The notes' sentences where the model translates them as the notes do, then short ones of its
    own validation files; of its corpus, where validation text was held out of that.

    Raises ConfigError where there is none: the run's files are gone.
    """
    own = [text for text, target in EXAMPLES if inspected.write(text) == target]
    found = list(dict.fromkeys([*own, *islice(filter(_fits, _of_the_run(inspected)), N_TEXTS)]))
    if not found:
        raise ConfigError(
            f"the texts that {inspected.run} was made from are gone, or others now. Say what to "
            "look at: "
            f"{command('inspect', inspected.run, 'a text of your own')}"
        )
    return found


def _fits(line: str) -> bool:
    return bool(line.strip()) and len(line) <= _LONGEST


def _of_the_run(inspected: InspectedModel) -> Iterator[str]:
    try:
        files, lines = inspected.examples()
        if not why_not_read(RunFolder(inspected.run), files):
            yield from islice(lines, _FAR)
    except (ConfigError, DataError):  # the files are gone, or others, or not named
        return
