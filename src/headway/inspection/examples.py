"""What is looked at where no text is given: the notes' sentences, some of the validation set."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from headway.core.cleaning import Report
from headway.core.error_commands import command
from headway.core.errors import ConfigError, DataError
from headway.core.lines import read_lines
from headway.core.run_folder import RunFolder
from headway.corpora.corpus import read_pairs
from headway.demo import EXAMPLES
from headway.inspection.inspected_model import Subject
from headway.runs.own_files import why_not_read

N_TEXTS = 4
_LONGEST = 120
"""Characters of a text that is easy to look at."""
_FAR = 500
"""Lines in which such texts are looked for."""


def texts(subject: Subject) -> list[str]:
    """The notes' sentences where the model translates them as the notes do, then short ones of its
    own validation files; of its corpus, where validation text was held out of that.

    Raises ConfigError where there is none: the run's files are gone.
    """
    own = [text for text, target in EXAMPLES if subject.write(text) == target]
    found = list(dict.fromkeys([*own, *islice(filter(_fits, _of_the_run(subject)), N_TEXTS)]))
    if not found:
        raise ConfigError(
            f"the texts that {subject.run} was made from are gone, or others now. Say what to "
            "look at: "
            f"{command('inspect', subject.run, 'a text of your own')}"
        )
    return found


def _fits(line: str) -> bool:
    return bool(line.strip()) and len(line) <= _LONGEST


def _of_the_run(subject: Subject) -> Iterator[str]:
    try:
        files, lines = _LINES[subject.task](subject.settings.data)
        if not why_not_read(RunFolder(subject.run), files):
            yield from islice(lines, _FAR)
    except (ConfigError, DataError):  # the files are gone, or others, or not named
        return


def _sources(data: Any) -> tuple[Sequence[Path], Iterator[str]]:
    corpus = data.validation() or data.corpus()
    return corpus.files, (pair.source for pair in read_pairs(corpus, Report()))


def _lines(data: Any) -> tuple[Sequence[Path], Iterator[str]]:
    files = data.valid_corpus or data.corpus
    return files, (line for path in files for line in read_lines(path) if line is not None)


_LINES: dict[str, Callable[[Any], tuple[Sequence[Path], Iterator[str]]]] = {
    "translation": _sources,
    "language-model": _lines,
}
